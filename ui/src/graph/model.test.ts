import { expect, test } from "vitest";
import type { CycleState, Plan, PlanStep, RunEvent, RunEventRecord } from "../contract/index.ts";
import { graphModel, readInput, refusedPlan } from "./model.ts";

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
    changedVerdict: null,
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

function journal(...events: RunEvent[]): RunEventRecord[] {
  return events.map((event, index) => ({ runId: "r", seq: index + 1, atMs: 0, key: `k${index}`, event }));
}

test("a plan that answers to a person's words is drawn as a difference to the one that was sent back", () => {
  const plan = (...steps: PlanStep[]): Plan => ({ steps, estimatedTokens: 0, reasoning: "" });
  const first = plan(step("a"), step("b"));
  const second = plan(step("a"), step("c"));
  const proposed = (value: Plan): RunEvent => ({ type: "planProposed", cycle: 1, plan: value, planHash: "sha256:0" });
  const back: RunEvent = { type: "personAnswered", answer: { kind: "askForChanges", words: "no b" } };
  const records = journal({ type: "cycleStarted", cycle: 1 }, proposed(first), back, proposed(second));
  const refused = refusedPlan(records, records.length, 1);
  expect(refused).toBe(first);
  const shown = cycle(1, second.steps);
  expect(graphModel([shown], shown, refused).nodes.map(({ id, mark }) => `${id} ${mark}`)).toEqual(["step:a null", "step:c added", "removed:b removed"]);
  expect(refusedPlan(records, 2, 1)).toBeNull();
  const later = [...records, ...journal({ type: "cycleStarted", cycle: 2 }, back)];
  expect(refusedPlan(later, later.length, 1)).toBe(first);
});
