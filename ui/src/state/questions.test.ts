import { expect, test } from "vitest";
import type { Ask, RunState, WaitingFor } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { askedSteps, cycleOf, questionName, questionsOf, questionWords, stepOf } from "./questions.ts";
import { emptyRun } from "./runState.ts";

const envelope = { folder: "/f", write: true, maxTokens: 1, maxCycles: 5 };
const plan: Ask = { kind: "approvePlan", cycle: 2, planHash: "sha256:0", envelope };
const first: Ask = { kind: "runStep", cycle: 2, step: "step_1", title: "Read", tools: ["file_read"], rule: "Ask me before every step" };
const second: Ask = { ...first, step: "step_2" };
const lost: Ask = { kind: "uncertainEffect", cycle: 2, step: "step_3", tool: "file_write", path: "r.md" };
const gate: Ask = { kind: "gate", phase: "review", text: "Is it good?", question: null };
const asked = (ask: Ask): WaitingFor => ({ key: JSON.stringify(ask), ask, sinceMs: 0 });

test("every question that waits is listed, in the order of asking", () => {
  const state: RunState = { ...emptyRun, waiting: asked(first), waitingAlso: [asked(second), asked(lost)] };
  expect(questionsOf(state).map(({ ask }) => ask)).toEqual([first, second, lost]);
  expect(questionsOf(emptyRun)).toEqual([]);
});

test.each([
  [plan, 2, null, "Plan of cycle 2"],
  [first, 2, "step_1", "step_1"],
  [lost, 2, "step_3", "r.md"],
  [gate, null, null, "review"],
] as const)("a question knows where it stands and what it is called: %o", (ask, cycle, step, name) => {
  expect([cycleOf(ask), stepOf(ask), questionName(asked(ask), emptyRun, text)]).toEqual([cycle, step, name]);
});

test("steps that are asked about are found by their cycle", () => {
  const questions = [asked(plan), asked(first), asked({ ...second, cycle: 1 }), asked(lost), asked(gate)];
  expect([...askedSteps(questions, 2).keys()]).toEqual(["step_1", "step_3"]);
});

test("each question is read out in its own words", () => {
  expect([plan, first, lost, gate].map((ask) => questionWords(ask, text))).toEqual([
    "may the plan run?",
    "may “Read” run?",
    "Did “r.md” get written?",
    "Is it good?",
  ]);
});
