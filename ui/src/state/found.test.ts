import { expect, test } from "vitest";
import { foundPieces } from "./found.ts";

const check = (text: string, marks: [number, number][], expected: string) =>
  expect(
    foundPieces({ text, marks: marks.map(([from, to]) => ({ from, to })) })
      .map((piece) => (piece.marked ? `[${piece.text}]` : piece.text))
      .join("|"),
  ).toBe(expected);

test("what is marked stands apart", () => check("two flights match", [[4, 11]], "two |[flights]| match"));
test("marks at the ends leave no empty pieces", () => check("two flights", [[0, 3], [4, 11]], "[two]| |[flights]"));
test("tags are text", () => check("<b>bold</b>", [[3, 7]], "<b>|[bold]|</b>"));
test("marks that are not in the text are passed over", () => check("short", [[3, 9], [2, 1], [0, 2], [1, 3]], "[sh]|ort"));
