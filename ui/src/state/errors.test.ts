import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { sentence, shownError } from "./errors.ts";

test("an error that the table knows has its sentence and its button", () => {
  const shown = shownError({ code: "authentication", message: "401", hint: null, retryable: false }, text);
  expect([shown.remedy, shown.sentence]).toEqual([
    "settings",
    "The model's server refused the key. Put the right one in and continue the run.",
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

test("sentences end once", () => {
  expect(sentence("It is done.", "go on")).toBe("It is done. Go on.");
});
