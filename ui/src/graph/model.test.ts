import { expect, test } from "vitest";
import type { CycleState, PlanStep } from "../contract/index.ts";
import { graphModel, readInput } from "./model.ts";

function step(id: string, more: Partial<PlanStep> = {}): PlanStep {
  return { id, description: `do ${id}`, tools: [], expectedOutcome: "", dependencies: [], ...more };
}

function cycle(number: number, steps: PlanStep[]): CycleState {
  return {
    number,
    phase: "proposed",
    feedback: null,
    planProblems: [],
    plan: { steps, estimatedTokens: 0, reasoning: "" },
    planHash: "sha256:0",
    approvedBy: null,
    steps: {},
    checks: [],
    evaluation: null,
  };
}

/** `id mark <- after`. */
function drawn(cycles: CycleState[], number: number): string[] {
  const shown = cycles.find((one) => one.number === number);
  if (!shown) return [];
  return graphModel(cycles, shown).nodes.map(({ id, mark, after }) => `${id} ${mark ?? "-"} <- ${after.join(" ")}`.trim());
}

test("a first plan is just its steps", () => {
  expect(drawn([cycle(1, [step("a"), step("b", { dependencies: ["a"] })])], 1)).toEqual([
    "step:a - <-",
    "step:b - <- step:a",
  ]);
});

test("a second plan shows what is kept, changed, added and removed", () => {
  const one = cycle(1, [step("read"), step("sum", { dependencies: ["read"] }), step("note", { dependencies: ["sum"] })]);
  const two = cycle(2, [step("sum", { description: "sum again", inputs: ["cycle_1.read"] }), step("mail", { dependencies: ["sum"] })]);
  expect(drawn([one, two], 2)).toEqual([
    "step:sum changed <- carried:cycle_1.read",
    "step:mail added <- step:sum",
    "carried:cycle_1.read carried <-",
    "removed:note removed <- step:sum",
  ]);
});

test.each([
  ["cycle_1.step_3", { cycle: 1, step: "step_3" }],
  ["cycle_12.a.b", { cycle: 12, step: "a.b" }],
  ["step_3", null],
])("%s is read", (input, expected) => {
  expect(readInput(input)).toEqual(expected);
});
