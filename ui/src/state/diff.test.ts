import { expect, test } from "vitest";
import { compareTexts } from "./diff.ts";

test("what went and what came stands with its number and what is around it", () => {
  const before = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join("\n");
  const [only, ...more] = compareTexts(before, before.replace("line 10", "LINE 10").concat("\n")) ?? [];
  expect(more).toHaveLength(1);
  expect(only?.map(({ kind, number }) => `${kind} ${number}`)).toEqual([
    "same 7",
    "same 8",
    "same 9",
    "removed 10",
    "added 10",
    "same 11",
    "same 12",
    "same 13",
  ]);
});

test("equal texts differ nowhere", () => expect(compareTexts("a\nb", "a\nb")).toEqual([]));

test("texts with nothing in common are not compared for ever", () => {
  const lines = (word: string) => Array.from({ length: 6000 }, (_, index) => `${word} ${index}`).join("\n");
  expect(compareTexts(lines("old"), lines("new"))).toBeNull();
});
