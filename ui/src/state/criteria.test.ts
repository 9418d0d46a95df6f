import i18next from "i18next";
import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { criteriaOf, criterionWords, readCheck } from "./criteria.ts";

test("a sentence is one judged criterion beside the goal", () => {
  expect(criteriaOf({ goal: "g", context: {}, expectedOutput: "A summary" }).map(({ id, by }) => [id, by])).toEqual([
    ["answer/0", "model"],
    ["goal", "model"],
  ]);
});

test("a file always has to exist, an answer does not", () => {
  const task = {
    goal: "g",
    context: {},
    expectedOutput: [
      { path: "report.md", description: "d", criteria: ["plain", { text: "short", check: { words: { max: 3 } }, required: false }] },
      { description: "said", criteria: ["kind"] },
    ],
  };
  expect(criteriaOf(task).map(({ id, by, required }) => [id, by, required])).toEqual([
    ["report.md/exists", "app", true],
    ["report.md/0", "model", true],
    ["report.md/1", "app", false],
    ["answer_2/0", "model", true],
    ["goal", "model", true],
  ]);
});

test("a check is read from both its forms", () => {
  expect(readCheck("exists")).toEqual({ name: "exists", args: null });
  expect(readCheck({ words: { max: 3 } })).toEqual({ name: "words", args: { max: 3 } });
  expect(readCheck({ words: {}, exists: null })).toBeNull();
});

test("what always has to hold is said in the language of the window, and what a task says in its own words", () => {
  const task = { goal: "g", context: {}, expectedOutput: [{ path: "report.md", description: "d", criteria: ["At most 3 words"] }] };
  const german = i18next.getFixedT("de");
  const words = (t: typeof text) => criteriaOf(task).map((criterion) => criterionWords(criterion, t));
  expect(words(text)).toEqual(["report.md exists and is not empty", "At most 3 words", "The goal is achieved and every result matches its description"]);
  expect(words(german)).toEqual(["report.md ist da und nicht leer", "At most 3 words", "Das Ziel ist erreicht, und jedes Ergebnis entspricht seiner Beschreibung"]);
});
