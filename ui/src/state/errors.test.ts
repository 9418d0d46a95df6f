import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { sentence, shownError } from "./errors.ts";

test("an error that the table knows has its sentence and its button", () => {
  const shown = shownError({ code: "authentication", message: "401", hint: null, retryable: false }, text);
  expect([shown.remedy, shown.sentence]).toEqual([
    "settings",
    "The model's server refused the key. Put the right one into Settings and continue the run.",
  ]);
});

test("the app's own hint is more exact than the table", () => {
  const shown = shownError(
    { code: "folder_missing", message: "there is no folder at Expenses", hint: "choose another one", retryable: false },
    text,
  );
  expect(shown.sentence).toBe("There is no folder at Expenses. Choose another one.");
});

test("an unknown error speaks for itself and can be tried again when that may help", () => {
  const shown = shownError({ code: "surprise", message: "the disk is full", hint: null, retryable: true }, text);
  expect([shown.sentence, shown.remedy]).toEqual(["The disk is full.", "retry"]);
});

test("what has to be put right is listed", () => {
  const problems = [{ path: "limits.maxCycles", message: "write a number from 1 to 50", warning: false }];
  const shown = shownError({ code: "settings_invalid", message: "one setting is wrong", hint: null, retryable: false, problems }, text);
  expect(shown.sentence).toBe("One setting is wrong. Write a number from 1 to 50.");
});

test("sentences end once", () => {
  expect(sentence("It is done.", "go on")).toBe("It is done. Go on.");
});

test("an address at the beginning stays as it is", () => {
  expect(sentence("http://localhost:11434 answered with a web page", null)).toBe("http://localhost:11434 answered with a web page.");
});
