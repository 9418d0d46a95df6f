import { expect, test } from "vitest";
import { suggestCheck } from "./suggestCheck.ts";

const all = ["not_empty", "contains", "words", "csv", "json"];

test.each([
  ["At most 600 words", { name: "words", args: { max: 600 } }],
  ["It has at least 1,200 words.", { name: "words", args: { min: 1200 } }],
  ["Columns are id, date, amount and reason", { name: "csv", args: { columns: ["id", "date", "amount", "reason"] } }],
  ["Every id appears once", { name: "csv", args: { unique: ["id"] } }],
  ["At least 5 rows", { name: "csv", args: { rows: { min: 5 } } }],
  ["Mentions “flagged.csv”", { name: "contains", args: { text: "flagged.csv" } }],
  ["Is valid JSON", { name: "json", args: {} }],
])("%s", (sentence, expected) => {
  expect(suggestCheck(sentence, all)).toEqual(expected);
});

test.each(["Explains the largest change in plain words", "The columns are easy to understand for everybody", "Urgency matches the policy"])(
  "%s is for a model",
  (sentence) => {
    expect(suggestCheck(sentence, all)).toBeNull();
  },
);

test("a check that the app does not have is not offered", () => {
  expect(suggestCheck("Is valid JSON", ["words"])).toBeNull();
});
