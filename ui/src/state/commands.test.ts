import { expect, test } from "vitest";
import { type Command, matching } from "./commands.ts";

const commands = ["New task", "Go to Home", "Stop this run", "Use the dark theme"].map((title): Command => ({ id: title, title, group: "go", run: () => undefined }));

test.each([
  ["", ["New task", "Go to Home", "Stop this run", "Use the dark theme"]],
  ["th", ["Stop this run", "Use the dark theme"]],
  ["dark use", ["Use the dark theme"]],
  ["HOME", ["Go to Home"]],
  ["zebra", []],
])("“%s” finds %o", (query, titles) => {
  expect(matching(commands, query).map(({ title }) => title)).toEqual(titles);
});
