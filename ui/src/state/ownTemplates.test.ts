import { expect, test } from "vitest";
import { readDraft } from "./taskSource.ts";
import { readTemplates, templateTitle, withoutTemplate, withTemplate } from "./ownTemplates.ts";

const letter = { title: "Letter", source: "goal: Write" };

test("what was kept is read, and anything else is left out", () => {
  expect(readTemplates([letter, { title: 1 }, null, "x"])).toEqual([letter]);
  expect(readTemplates({ templates: [] })).toEqual([]);
});

test("a template takes the place of one with the same title", () => {
  const newer = { ...letter, source: "goal: Write more" };
  expect(withTemplate([letter, { title: "Other", source: "" }], newer)).toEqual([{ title: "Other", source: "" }, newer]);
  expect(withoutTemplate([letter], "Letter")).toEqual([]);
});

test.each([
  ["name: Three birds\ngoal: Write", "Three birds"],
  ["goal: Write a letter", "Write a letter"],
  [`goal: ${"word ".repeat(40)}`, `${"word ".repeat(12).slice(0, 59).trimEnd()}…`],
  ['goal: ""', null],
  ["- not a task", null],
])("%s is called %o", (source, title) => {
  expect(templateTitle(readDraft(source))).toBe(title);
});
