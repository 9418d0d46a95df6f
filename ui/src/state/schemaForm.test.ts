import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { CheckInfo } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { checkSummary, type Field, formFields, groupValue, longArgs, readValue, tidyArgs, writeCheck } from "./schemaForm.ts";

const checks = JSON.parse(readFileSync(join(import.meta.dirname, "../../dev/checks.json"), "utf8")) as CheckInfo[];

function check(name: string): CheckInfo {
  const found = checks.find((one) => one.name === name);
  if (!found) throw new Error(`there is no check ${name}`);
  return found;
}

/** `min: number, rows: group(min: number)`. */
function drawn(fields: readonly Field[]): string {
  return fields
    .map((field) => {
      if (field.kind === "group") return `${field.name}: group(${drawn(field.fields)})`;
      if (field.kind === "map") return `${field.name}: map of ${field.value.kind}`;
      if (field.kind === "either") return `${field.name}: ${field.options.map((option) => option.value.kind).join(" or ")}`;
      return `${field.name}: ${field.kind}`;
    })
    .join(", ");
}

describe("every check's schema draws a form without a raw field", () => {
  test.each([
    ["exists", ""],
    ["contains", "text: text, ignore_case: yesNo"],
    ["words", "min: number, max: number"],
    [
      "csv",
      "columns: names, rows: group(min: number, max: number), unique: names, not_null: names, types: map of choice, range: map of group, sorted: group(column: text, descending: yesNo), sum: group(column: text, equals: number, equals_sum_of: group(path: names, column: text, where: text))",
    ],
    ["query", "files: map of text, sql: text, equals: value or group"],
  ])("%s", (name, expected) => {
    expect(drawn(formFields(check(name).schema))).toBe(expected);
  });
});

test("arguments that are written short are read", () => {
  expect(longArgs(check("contains").schema, "Total")).toEqual({ text: "Total" });
  expect(longArgs(check("words").schema, { max: 3 })).toEqual({ max: 3 });
  expect(longArgs(check("exists").schema, null)).toEqual({});
  const sorted = formFields(check("csv").schema).find((field) => field.name === "sorted");
  expect(sorted?.kind === "group" && groupValue(sorted.fields, "date")).toEqual({ column: "date" });
});

test("what is empty is not written", () => {
  expect(tidyArgs({ columns: ["id", ""], unique: [], rows: { min: undefined }, ignore_case: false })).toEqual({ columns: ["id"] });
  expect(writeCheck("exists", {})).toBe("exists");
  expect(writeCheck("words", { max: 600, min: undefined })).toEqual({ words: { max: 600 } });
  expect(writeCheck("words", { min: 0 })).toEqual({ words: { min: 0 } });
});

test.each([
  ["words", { max: 600 }, "words: at most 600"],
  ["csv", { unique: ["id"] }, "csv: no value twice in id"],
  ["csv", { rows: { min: 1 } }, "csv: number of rows at least 1"],
  ["contains", "Total", "contains: “Total”"],
  ["not_empty", null, "Has content"],
  ["matches", "^Total", "Matches a pattern"],
  ["query", { files: { a: "a.csv" }, sql: "SELECT 1", equals: 1 }, "Numbers agree"],
])("%s is said in a few words", (name, args, expected) => {
  expect(checkSummary(check(name), args, text)).toBe(expected);
});

test("a typed value is what it looks like", () => {
  expect([readValue("17.5"), readValue("true"), readValue("17 apples")]).toEqual([17.5, true, "17 apples"]);
});
