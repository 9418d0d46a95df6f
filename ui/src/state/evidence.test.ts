import { expect, test } from "vitest";
import { findQuote, folded, placeOf, rangeInText } from "./evidence.ts";

test.each([
  ["id 1 twice (rows 2, 4); row 3: amount is empty", "app", { kind: "rows", rows: [2, 4, 3] }],
  ["\"TODO\" in line 12", "app", { kind: "lines", lines: [12] }],
  ["412 words", "app", null],
  ["“Travel rose because of May”", "model", { kind: "quote", text: "Travel rose because of May" }],
  ["", "model", null],
] as const)("%s", (evidence, by, place) => {
  expect(placeOf({ evidence, by })).toEqual(place);
});

test("a quotation is found across line breaks, and characters of patterns mean themselves", () => {
  expect(findQuote("So:\ncosts (all)\n rose.", "costs (all) rose.")).toEqual([4, 22]);
  expect(findQuote("nothing", "anything at all")).toBeNull();
});

test("a line is found by its number", () => {
  const text = "one\ntwo\nthree";
  expect(rangeInText(text, { kind: "lines", lines: [2] })).toEqual([4, 7]);
  expect(rangeInText(text, { kind: "lines", lines: [9] })).toBeNull();
});

test("what Markdown adds does not keep words apart", () => {
  expect(folded("**Travel**  rose\n> in _May_")).toBe(folded("travel rose in May"));
});
