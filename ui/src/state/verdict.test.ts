import { expect, test } from "vitest";
import type { CriterionResult, CriterionVerdict, CycleState, RunState, StopReason } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { emptyRun } from "./runState.ts";
import { missing, verdictGrid, verdictSentence } from "./verdict.ts";

const task = {
  goal: "g",
  context: {},
  expectedOutput: [{ path: "r.md", description: "d", criteria: ["clear", { text: "pretty", required: false }] }],
};
const ids = ["r.md/exists", "r.md/0", "r.md/1", "goal"];

function cycle(number: number, verdicts: CriterionVerdict[]): CycleState {
  const criteria = verdicts.map((verdict, index): CriterionResult => ({ id: ids[index] ?? "", verdict, evidence: "e", by: "app", observed: null }));
  const pass = verdicts.every((verdict) => verdict === "pass");
  return {
    number,
    phase: "ended",
    feedback: null,
    planProblems: [],
    plan: null,
    planHash: null,
    approvedBy: null,
    steps: {},
    checks: [],
    evaluation: { verdict: pass ? "pass" : "fail", confidence: 1, feedback: null, summary: null, criteria, score: 1, tokensUsed: 0 },
    changedVerdict: null,
  };
}

function ended(stopReason: StopReason, ...cycles: CycleState[]): RunState {
  const status = stopReason === "passed" ? "pass" : stopReason === "budget" ? "terminated" : "fail";
  const envelope = { folder: "/f", write: true, maxTokens: 1, maxCycles: 5 };
  const roles = { planner: "", judge: "", executorLow: "", executorHigh: "" };
  return {
    ...emptyRun,
    header: { task, title: "t", envelope, roles, hooks: [], recording: null, appVersion: "" },
    cycles,
    result: { status, stopReason, cycles: cycles.length, tokensUsed: 0, cost: null, feedback: "", outputs: [] },
  };
}

test.each([
  ["passed", [cycle(1, ["pass", "pass", "pass", "pass"])], "Passed in the first cycle. All four criteria hold."],
  [
    "passed",
    [cycle(1, ["pass", "fail", "pass", "fail"]), cycle(2, ["pass", "pass", "fail", "pass"])],
    "Passed in the second cycle. All required criteria hold, 3 of 4 in all.",
  ],
  ["max_cycles", [cycle(1, ["pass", "fail", "fail", "unknown"])], "Two things are missing. The one cycle is used up."],
  ["budget", [cycle(1, ["pass", "fail", "fail", "pass"])], "One thing is missing. The tokens for this run are used up."],
  ["rejected", [], "You rejected the plan. Nothing further was done."],
] as const)("%s is said as a sentence", (reason, cycles, expected) => {
  expect(verdictSentence(ended(reason, ...cycles), text)).toBe(expected);
});

test("money that ran out is not called tokens", () => {
  const state = ended("budget");
  const header = state.header && { ...state.header, task: { ...task, limits: { maxCycles: 5, maxTokens: 9, toolTimeout: 1, maxParallel: 1, retryAttempts: 1, maxCost: 0.03 } } };
  const spent = (amount: number) => ({ ...state, header, cost: { ...state.cost, amount } });
  expect(verdictSentence(spent(0.04), text)).toBe("The money for this run is used up.");
  expect(verdictSentence(spent(0.02), text)).toBe("The tokens for this run are used up.");
});

test("what is only nice to have is not missing", () => {
  const state = ended("max_cycles", cycle(1, ["pass", "fail", "fail", "unknown"]));
  expect(missing(state).map(({ criterion }) => criterion.id)).toEqual(["r.md/0", "goal"]);
});

test("the grid has a row for every criterion and a cell for every cycle", () => {
  const { rows } = verdictGrid(ended("passed", cycle(1, ["fail"]), cycle(2, ["pass", "pass", "pass", "pass"])));
  expect(rows.map(({ criterion, cells }) => [criterion.id, ...cells.map((cell) => cell?.verdict ?? null)])).toEqual([
    ["r.md/exists", "fail", "pass"],
    ["r.md/0", null, "pass"],
    ["r.md/1", null, "pass"],
    ["goal", null, "pass"],
  ]);
});

test.each([
  [["person"], "Accepted by you."],
  [["rule-1"], "Accepted by one of your rules."],
])("a verdict that %o changed says who did", (by, expected) => {
  const failed = cycle(1, ["pass", "fail", "fail", "pass"]);
  const { evaluation } = failed;
  if (!evaluation) throw new Error("not judged");
  expect(verdictSentence(ended("accepted", { ...failed, changedVerdict: { by, evaluation } }), text)).toBe(expected);
});

test.each([
  ["person" as const, null, "You rejected a step, and the run ended there."],
  ["person" as const, "judged", "One of your rules ended the run."],
  [null, null, "You rejected the plan. Nothing further was done."],
])("a rejected run says at what it was rejected (approved by %o, %o)", (approvedBy, judged, expected) => {
  const last = cycle(1, ["pass", "pass", "pass", "pass"]);
  expect(verdictSentence(ended("rejected", { ...last, approvedBy, evaluation: judged ? last.evaluation : null }), text)).toBe(expected);
});

test("a run that stopped because a check was not allowed says so", () => {
  const last = cycle(1, ["pass", "pass", "pass", "pass"]);
  const { evaluation } = last;
  if (!evaluation) throw new Error("not judged");
  const refused = (by: "app" | "model") => evaluation.criteria.map((result, place) => (place === 0 ? { ...result, by, verdict: "unknown" as const } : result));
  const sentence = (by: "app" | "model") => verdictSentence(ended("no_progress", { ...last, evaluation: { ...evaluation, verdict: "fail", criteria: refused(by) } }), text);
  expect(sentence("app")).toContain("You did not allow it to be checked");
  expect(sentence("model")).toContain("failed in the same way twice");
});
