import { expect, test } from "vitest";
import type { Plan, PlanStep } from "../contract/index.ts";
import { diffPlans } from "./diff.ts";

function step(id: string, more: Partial<PlanStep> = {}): PlanStep {
  return { id, description: `do ${id}`, tools: [], expectedOutcome: "it is done", dependencies: [], ...more };
}

function plan(...steps: PlanStep[]): Plan {
  return { steps, estimatedTokens: 0, reasoning: "because" };
}

/** `a same`, `b changed: args`, `- c`, `~ d` (carried). */
function summary(before: Plan, after: Plan): string[] {
  const diff = diffPlans(before, after, 1);
  return [
    ...diff.steps.map(({ step: { id }, change, parts }) => (parts.length ? `${id} ${change}: ${parts.join(", ")}` : `${id} ${change}`)),
    ...diff.removed.map(({ id }) => `- ${id}`),
    ...diff.carried.map(({ id }) => `~ ${id}`),
  ];
}

test("an equal plan has only equal steps", () => {
  const one = plan(step("a"), step("b", { dependencies: ["a"], args: { t: { x: 1, y: 2 } } }));
  const two = plan(step("a"), step("b", { dependencies: ["a"], args: { t: { y: 2, x: 1 } } }));
  expect(summary(one, two)).toEqual(["a same", "b same"]);
});

test("other arguments are a change and are named", () => {
  const one = plan(step("a", { args: { data_query: { sql: "SELECT 1" } } }));
  const two = plan(step("a", { args: { data_query: { sql: "SELECT 2" } } }));
  expect(summary(one, two)).toEqual(["a changed: args"]);
});

test("steps that come and go are told apart", () => {
  expect(summary(plan(step("a"), step("b")), plan(step("a"), step("c")))).toEqual(["a same", "c added", "- b"]);
});

test("a step that only got another number is the same step", () => {
  const one = plan(step("step_1", { description: "read" }), step("step_2", { description: "sum", dependencies: ["step_1"] }));
  const two = plan(step("step_2", { description: "read" }), step("step_3", { description: "sum", dependencies: ["step_2"] }));
  expect(summary(one, two)).toEqual(["step_2 same", "step_3 same"]);
});

test("a step whose result is read again is carried over, not removed", () => {
  const one = plan(step("read"), step("sum", { dependencies: ["read"] }));
  const two = plan(step("sum", { inputs: ["cycle_1.read"] }));
  expect(summary(one, two)).toEqual(["sum same", "~ read"]);
});

test("waiting for another step is a change of order", () => {
  const one = plan(step("a"), step("b"), step("c", { dependencies: ["a"] }));
  const two = plan(step("a"), step("b"), step("c", { dependencies: ["a", "b"] }));
  expect(summary(one, two)).toEqual(["a same", "b same", "c changed: order"]);
});
