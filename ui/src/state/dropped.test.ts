import { expect, test } from "vitest";
import { factName, isTaskFile, parentOf } from "./dropped.ts";

test.each([
  ["price list.txt", "price_list"],
  ["Übersicht 2026.md", "übersicht_2026"],
  ["....", "file"],
  ["v1.2 notes.txt", "v1_2_notes"],
  ["📄.txt", "file"],
])("%s becomes the fact %s", (file, expected) => expect(factName(file)).toBe(expected));

test.each([
  ["/home/ada/notes.txt", "/home/ada"],
  ["C:\\Users\\Ada\\notes.txt", "C:\\Users\\Ada"],
  ["/notes.txt", "/"],
])("%s lies in %s", (path, expected) => expect(parentOf(path)).toBe(expected));

test("tasks are known by their names", () => {
  expect(["a.yaml", "A.YML", "a.json", "yaml"].map(isTaskFile)).toEqual([true, true, false, false]);
});
