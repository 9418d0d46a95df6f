import { expect, test } from "vitest";
import { pastedLines } from "./pasted.ts";

test.each([
  ["one line stays in its line", "Names the birds", null],
  ["one line with its end stays in its line", "Names the birds\n", null],
  ["each line becomes one of its own", "Names the birds\r\n\r\nCounts them\n", ["Names the birds", "Counts them"]],
  ["bullets and numbers go", "- a\n• b\n  3) c\n12. d", ["a", "b", "c", "d"]],
  ["a number that is part of the sentence stays", "12 rows\n1.5 euros", ["12 rows", "1.5 euros"]],
] as const)("%s", (_, text, expected) => {
  expect(pastedLines(text)).toEqual(expected);
});
