import { expect, test } from "vitest";
import { asTable } from "./value.ts";

test("a list of records is a table", () => {
  expect(asTable([{ category: "Travel", total: 12.5 }, { category: "Food", note: null }])).toEqual([
    ["category", "total", "note"],
    ["Travel", "12.5", ""],
    ["Food", "", ""],
  ]);
});

test("columns and rows are a table, whichever way the rows are written", () => {
  expect(asTable({ columns: ["a", "b"], rows: [[1, 2]] })).toEqual([["a", "b"], ["1", "2"]]);
  expect(asTable({ columns: [{ name: "a" }], rows: [{ a: 1 }] })).toEqual([["a"], ["1"]]);
});

test("anything else is not", () => {
  expect([asTable([]), asTable([1, 2]), asTable({ rows: [] }), asTable("x")]).toEqual([null, null, null, null]);
});
