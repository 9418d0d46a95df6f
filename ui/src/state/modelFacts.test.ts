import { expect, test } from "vitest";
import type { ModelInfo, ProviderModels } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { allModels, modelFacts, recommendedModels } from "./modelFacts.ts";

const model = (id: string, more: Partial<ModelInfo> = {}): ModelInfo => ({ id, description: null, contextWindow: null, ...more });

const account = (recommended: string[]): ProviderModels => ({
  provider: "work",
  kind: "anthropic",
  title: "Anthropic",
  baseUrl: null,
  key: null,
  chosen: null,
  models: [model("small")],
  recommended,
  problem: null,
});

test("a model says what is known of it and nothing else", () => {
  expect(modelFacts(model("m"), text)).toBe("");
  const known = model("m", {
    tier: "fast",
    contextWindow: 200_000,
    price: { input: 0.1, output: 0.5, currency: "USD" },
    capabilities: { tools: false },
  });
  expect(modelFacts(known, text)).toBe("fast · reads 200,000 tokens · 0.10 in, 0.50 out (USD for a million tokens) · calls no tools");
});

test("what is recommended is cheap for simple steps, and is nothing where the account lacks it", () => {
  expect(recommendedModels(account(["f", "b", "a"]))).toEqual({
    planner: "work:b",
    judge: "work:b",
    executor: { low: "work:f", high: "work:b" },
  });
  expect(recommendedModels(account(["f"]))).toBeNull();
});

test("models are named with their account", () => {
  expect(allModels([account([])]).map((one) => one.id)).toEqual(["work:small"]);
});
