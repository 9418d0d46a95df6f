import { expect, test } from "vitest";
import type { Settings } from "../contract/index.ts";
import { knownModels, modelOf, usedModel, usingModel } from "./connection.ts";

const endpoint = { baseUrl: "http://localhost:11434", model: "qwen3:8b" };

function settings(change: Partial<Settings>): Settings {
  return { endpoint: null, models: {}, ...change } as Settings;
}

test("nothing is connected at first", () => {
  expect(usedModel(settings({}))).toBeNull();
});

test("an account's model comes before the server's", () => {
  expect(usedModel(settings({ endpoint }))).toBe("openai_compatible:qwen3:8b");
  expect(usedModel(settings({ endpoint, models: { planner: "anthropic:m" } }))).toBe("anthropic:m");
});

test("a model belongs to the account whose whole name stands before it", () => {
  const one = settings({ models: { planner: "openai-work:gpt:1" } });
  expect(modelOf(one, "openai-work")).toBe("gpt:1");
  expect(modelOf(one, "openai")).toBeNull();
});

test("a model that is chosen is asked for everything", () => {
  expect(usingModel("gemini:m")).toEqual({ planner: "gemini:m" });
  expect(usingModel(null)).toEqual({});
});

test("every model that was named somewhere is known once", () => {
  const named = settings({ endpoint, models: { planner: "anthropic:m", executor: { low: "anthropic:s" } } });
  expect(knownModels(named, ["anthropic:m", "gemini:g"])).toEqual(["anthropic:m", "anthropic:s", "gemini:g", "openai_compatible:qwen3:8b"]);
});
