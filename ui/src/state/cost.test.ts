import { expect, test } from "vitest";
import type { CallState, LlmAttempt, RunState } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { costAtLeast, costWords, standIns } from "./cost.ts";

const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
const attempt = (more: Partial<LlmAttempt>): LlmAttempt => ({ attempt: 0, status: "success", durationMs: 1, usage, error: null, waitMs: null, ...more });
const call = (...attempts: LlmAttempt[]) => ({ model: "a:small", attempts }) as unknown as CallState;
const price = (input: number) => ({ input, output: 0 });
const state = (recording: string | null = null) =>
  ({ header: { recording, prices: { currency: "USD", models: { "a:small": price(2), "b:spare": price(5) } } } }) as unknown as RunState;
const instead = (model: string) => ({ instead: { model, code: "server" as const, because: "down" } });

test.each([
  [[call(attempt({})), call(attempt({}))], "$4.00"],
  [[call(attempt({ usage: null }), attempt(instead("b:spare")))], "$5.00"],
  [[call(attempt({})), call(attempt(instead("c:unknown")))], ""],
  [[call(attempt({ usage: null }))], ""],
  [[], ""],
])("calls cost what each of their attempts cost at the price of the model that it asked", (calls, words) => {
  expect(costWords(state(), calls)).toBe(words);
});

test("where a price is missing, the rest is what it cost at least", () => {
  expect(costAtLeast(state(), [call(attempt({})), call(attempt(instead("c:unknown")))], text)).toBe("at least $2.00");
  expect(costAtLeast(state(), [call(attempt({})), call(attempt({}))], text)).toBe("$4.00");
  expect(costAtLeast(state(), [call(attempt(instead("c:unknown")))], text)).toBe("");
});

test("what stood in for a model is named once", () => {
  expect(standIns([call(attempt({}), attempt(instead("b:spare"))), call(attempt(instead("b:spare"))), call(attempt({}))])).toEqual([{ before: "a:small", model: "b:spare" }]);
});

test("a recording costs nothing", () => {
  expect(costWords(state("The sample"), [call(attempt({}))])).toBe("");
});
