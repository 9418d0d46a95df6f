import { expect, test } from "vitest";
import type { CheckInfo } from "../contract/index.ts";
import { formFields } from "../state/schemaForm.ts";
import { checkIn } from "./named.ts";

const amount = { type: "object", properties: { min: { type: "number", title: "At least", description: "…" }, column: { type: "string", title: "Column", description: "…" } } };
const csv: CheckInfo = {
  name: "csv",
  title: "Is a table with",
  description: "It is a table.",
  needsFile: true,
  schema: {
    type: "object",
    properties: {
      rows: { title: "Number of rows", description: "…", anyOf: [{ type: "integer", title: "Exactly" }, amount] },
      sorted: { title: "Sorted by", description: "…", anyOf: [amount, { type: "string", title: "Column" }] },
      range: { title: "Values between", description: "…", type: "object", additionalProperties: amount },
      made_later: { title: "Made later", description: "…", type: "string" },
    },
  },
};

test("a check is said in English as the app says it", () => {
  expect(checkIn("en", csv)).toBe(csv);
});

test("a check and the fields of its form have words of their own by their names, and the app's where there are none", () => {
  const { title, schema } = checkIn("de", csv);
  expect(title).toBe("Ist eine Tabelle mit");
  const fields = formFields(schema);
  expect(fields.map((field) => field.title)).toEqual(["Zahl der Zeilen", "Sortiert nach", "Werte zwischen", "Made later"]);
  const [, sorted] = fields;
  // The short way of writing it is known by the same name as the field that it stands for.
  expect(sorted).toMatchObject({ kind: "group", fields: [{ title: "Mindestens" }, { title: "Spalte" }] });
});

test("a check that was made later is said as the app says it", () => {
  const later = { ...csv, name: "made_later", schema: null };
  expect(checkIn("de", later)).toEqual(later);
});
