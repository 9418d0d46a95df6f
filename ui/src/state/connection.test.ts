import { expect, test } from "vitest";
import type { Settings } from "../contract/index.ts";
import { isPlain, knownModels, modelOf, usedModel, usingModel, withoutAccount } from "./connection.ts";

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

test("a model that is chosen is asked for everything but what other models of its account do", () => {
  const before = settings({ models: { planner: "anthropic:m", judge: "anthropic:j", executor: { low: "gemini:l", high: "openai_compatible:h" }, reasoning: { judge: "high" } } });
  expect(usingModel("gemini:m", settings({}))).toEqual({ planner: "gemini:m" });
  expect(usingModel("gemini:m", before)).toEqual({ planner: "gemini:m", executor: { low: "gemini:l" }, reasoning: { judge: "high" } });
  expect(usingModel("anthropic:m:2", before)).toEqual({ planner: "anthropic:m:2", judge: "anthropic:j", reasoning: { judge: "high" } });
  expect(usingModel(null, before)).toEqual({ executor: { high: "openai_compatible:h" }, reasoning: { judge: "high" } });
});

test("every model that was named somewhere is known once", () => {
  const named = settings({ endpoint, models: { planner: "anthropic:m", executor: { low: "anthropic:s" } } });
  expect(knownModels(named, ["anthropic:m", "gemini:g"])).toEqual(["anthropic:m", "anthropic:s", "gemini:g", "openai_compatible:qwen3:8b"]);
});

test("an account goes with everything that names it, and nothing else goes", () => {
  const account = (name: string) => ({ name, kind: "openai" });
  const before = settings({
    accounts: [account("work"), account("work-2")],
    models: { planner: "anthropic:m", judge: "work:j", executor: { low: "work:l", high: "work-2:h" }, reasoning: { judge: "high" } },
    fallbacks: { roles: { planner: "work:p", judge: "anthropic:m" }, accounts: { work: "anthropic:m", anthropic: "work:p", gemini: "work-2:p" } },
    overrides: { "work:l": { tools: true }, "work-2:l": { tools: true } },
    prices: { currency: "USD", models: { "work:l": { input: 1, output: 1 }, small: { input: 1, output: 1 } } },
  });
  expect(withoutAccount(before, "work")).toEqual({
    accounts: [account("work-2")],
    models: { planner: "anthropic:m", executor: { high: "work-2:h" }, reasoning: { judge: "high" } },
    fallbacks: { roles: { judge: "anthropic:m" }, accounts: { gemini: "work-2:p" } },
    overrides: { "work-2:l": { tools: true } },
    prices: { currency: "USD", models: { small: { input: 1, output: 1 } } },
  });
});

test.each([
  ["http://192.168.0.7:11434/v1", true],
  ["http://models.example/v1", true],
  ["HTTP://models.example", true],
  ["https://models.example/v1", false],
  ["http://localhost:1234", false],
  ["http://127.0.0.1:1234", false],
  ["http://[::1]:1234", false],
  ["", false],
  [null, false],
])("whether others can read what goes to %s: %s", (address, expected) => {
  expect(isPlain(address)).toBe(expected);
});
