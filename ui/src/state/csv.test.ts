import { expect, test } from "vitest";
import { numericColumns, parseCsv } from "./csv.ts";

test("quotes, commas and line breaks in fields are read", () => {
  expect(parseCsv('id,name,note\r\n1,"Müller, Ana","said ""hi""\nand left"\n2,Bo,\n')).toEqual([
    ["id", "name", "note"],
    ["1", "Müller, Ana", 'said "hi"\nand left'],
    ["2", "Bo", ""],
  ]);
});

test("a semicolon separates where it does in the heading", () => {
  expect(parseCsv("a;b\n1,5;2")).toEqual([
    ["a", "b"],
    ["1,5", "2"],
  ]);
});

test("columns of numbers are found", () => {
  expect(numericColumns(parseCsv("id,name,amount\n1,Ana,12.50\n2,Bo,\n"))).toEqual([true, false, true]);
});
