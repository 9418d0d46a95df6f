import { expect, test } from "vitest";
import type { Settings } from "../contract/index.ts";
import { modelsInUse, placeOfField, rolesOf, sameRoles, settingsOf } from "./roles.ts";

const none = { models: {}, fallbacks: {} } as Pick<Settings, "models" | "fallbacks">;
const set: Pick<Settings, "models" | "fallbacks"> = {
  models: { judge: "anthropic:a", executor: { low: "openai:b" }, reasoning: { planner: "high", executorLow: "low" } },
  fallbacks: { roles: { executorHigh: "gemini:c" }, accounts: { anthropic: "openai:d" } },
};

test("an empty field is a role that the usual model does", () => {
  expect(settingsOf(rolesOf(none), none)).toEqual({ models: {}, fallbacks: { roles: {} } });
  expect(settingsOf(rolesOf(set), set)).toEqual(set);
  const form = rolesOf(none);
  const typed = { ...form, judge: { model: " x:y ", effort: "low" as const, fallback: "  " }, planner: { ...form.planner, model: "  " } };
  expect(settingsOf(typed, set)).toEqual({
    models: { judge: "x:y", reasoning: { judge: "low" } },
    fallbacks: { roles: {}, accounts: { anthropic: "openai:d" } },
  });
});

test("spaces are no change, and another effort is one", () => {
  const form = rolesOf(set);
  expect(sameRoles(form, { ...form, judge: { ...form.judge, model: " anthropic:a " } })).toBe(true);
  expect(sameRoles(form, { ...form, judge: { ...form.judge, effort: "high" } })).toBe(false);
});

test("a fallback is a model that may have to be paid", () => {
  const settings = { endpoint: { baseUrl: "http://localhost", model: "small" }, ...set } as unknown as Settings;
  expect(modelsInUse(settings)).toEqual(["openai_compatible:small", "anthropic:a", "openai:b", "gemini:c", "openai:d"]);
});

test.each([
  ["low", "model", "models.executor.low"],
  ["judge", "model", "models.judge"],
  ["high", "fallback", "fallbacks.roles.executorHigh"],
] as const)("the app says beside %s's %s what is wrong with it", (role, field, place) => {
  expect(placeOfField(role, field)).toBe(place);
});
