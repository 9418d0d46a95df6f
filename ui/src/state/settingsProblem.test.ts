import { expect, test } from "vitest";
import { text } from "../text/index.ts";
import { settingsSentence } from "./settingsProblem.ts";

test.each([
  ["accounts[0].name", "must be letters, digits, - and _", "“Name” must be letters, digits, - and _."],
  ["prices.models.x:y", "must be numbers that are not negative", "The prices of x:y must be numbers that are not negative."],
  ["models.planner", "must be written provider:model", "The model must be written provider:model."],
  ["endpoint.model", "name the model that the server should answer with", "Name the model that the server should answer with."],
  ["limits.other", "must be 1", "Must be 1."],
])("what is wrong at %s is a sentence", (path, message, expected) => {
  expect(settingsSentence({ path, message }, text)).toBe(expected);
});
