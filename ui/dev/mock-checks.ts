// The checks as the app would list them, enough to draw every kind of form.

import type { CheckInfo } from "../src/contract/index.ts";

/** Made-up check descriptions. */
export const checks: CheckInfo[] = [
  { name: "exists", title: "The file exists", description: "The file is there.", schema: { type: "null" }, needsFile: true },
  { name: "not_empty", title: "The file has content", description: "The file is there and not empty.", schema: { type: "null" }, needsFile: true },
  { name: "contains", title: "Contains a text", description: "The text stands somewhere in the result.", schema: { type: "object", required: ["text"], properties: { text: { type: "string", title: "Text" }, ignore_case: { type: "boolean", title: "Upper and lower case are the same", default: false } } }, needsFile: false },
  { name: "words", title: "Number of words", description: "How many words the result has.", schema: { type: "object", properties: { min: { type: "integer", minimum: 0, title: "At least" }, max: { type: "integer", minimum: 0, title: "At most" } } }, needsFile: false },
  { name: "csv", title: "A table (CSV)", description: "Columns, rows and values of a table.", schema: { type: "object", properties: { columns: { type: "array", items: { type: "string" }, title: "Columns" }, unique: { type: "array", items: { type: "string" }, title: "No value twice in" }, rows: { type: "object", title: "Rows", properties: { min: { type: "integer", title: "At least" }, max: { type: "integer", title: "At most" } } } } }, needsFile: true },
];
