import { expect, test } from "vitest";
import { readDraft } from "../state/taskSource.ts";
import { templates } from "./templates.ts";

test.each(templates)("$title is a task with a name, a goal and results that must hold", ({ source }) => {
  const draft = readDraft(source);
  expect(draft?.name).not.toBe("");
  expect(draft?.goal).not.toBe("");
  expect(Array.isArray(draft?.expected) && draft.expected.every(({ path, criteria }) => path && criteria.length > 0)).toBe(true);
});

test("every template has an id of its own", () => {
  expect(new Set(templates.map(({ id }) => id)).size).toBe(templates.length);
});
