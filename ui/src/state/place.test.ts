import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { placeWords } from "./place.ts";
import { freshSource, parsePath, readDraft, setAt } from "./taskSource.ts";

test.each([
  ["goal", "Goal"],
  ["expectedOutput[0].path", "Result 1, file name"],
  ["expectedOutput[0].criteria[1].check.words", "Result 1, line 2"],
  ["context.limit", "What it should know, limit"],
  ["hooks[0]", "Rule 1"],
  ["servers[0]", "servers, 0"],
  ["", ""],
])("%s is called %s", (path, expected) => {
  const draft = readDraft(freshSource);
  expect(draft && placeWords(parsePath(path), draft, text)).toBe(expected);
});

test("a result is called by its file's name once it has one", () => {
  const draft = readDraft(setAt(freshSource, ["expectedOutput", 0, "path"], "report.md"));
  expect(draft && placeWords(parsePath("expectedOutput[0].description"), draft, text)).toBe("report.md, what it is");
});
