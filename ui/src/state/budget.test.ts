import { expect, test } from "vitest";
import type { RunState } from "../contract/index.ts";
import { budgetOf, crossed, limitsOf } from "./budget.ts";
import { emptyRun } from "./runState.ts";

function run(tokensUsed: number, amount: number, maxCost?: number): RunState {
  const limits = { maxCycles: 5, maxTokens: 1000, toolTimeout: 1, maxParallel: 1, retryAttempts: 1, ...(maxCost === undefined ? {} : { maxCost }) };
  const envelope = { folder: "/f", write: true, maxTokens: 1000, maxCycles: 5 };
  const roles = { planner: "", judge: "", executorLow: "", executorHigh: "" };
  const task = { goal: "g", context: {}, expectedOutput: "e", limits };
  return { ...emptyRun, tokensUsed, cost: { amount, currency: amount > 0 ? "USD" : "", unpriced: [] }, header: { task, title: "t", envelope, roles, hooks: [], recording: null, appVersion: "" } };
}

test.each([
  [run(250, 0), 0.25, null],
  [run(250, 0.4, 0.5), 0.8, 0.4],
  [run(900, 0.1, 0.5), 0.9, 0.1],
  [run(4000, 0), 1, null],
  [run(500, 0.1), 0.5, 0.1],
])("tokens or money, whichever is nearer to its end", (state, part, cost) => {
  expect(budgetOf(state)).toMatchObject({ part, cost });
});

test.each([
  [0, 0.4, null],
  [0.4, 0.5, 0.5],
  [0.4, 0.9, 0.8],
  [0.81, 0.9, null],
  [0.2, 1, 1],
])("from %d to %d the notice is %o", (before, after, mark) => {
  expect(crossed(before, after)).toBe(mark);
});

test("a task without limits has those that were granted", () => {
  const { header, ...rest } = run(0, 0);
  if (!header) throw new Error("no header");
  const { limits: _, ...task } = header.task;
  expect(limitsOf({ ...rest, header: { ...header, task } })).toEqual({ maxTokens: 1000, maxCycles: 5 });
});
