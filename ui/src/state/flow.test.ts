import { expect, test } from "vitest";
import type { PhaseState, RunState, WaitingFor } from "../contract/index.ts";
import { flowVisits } from "./flow.ts";
import { emptyRun } from "./runState.ts";

function phase(path: string, kind: string): PhaseState {
  return { phase: path, kind, visit: 1, status: "running", startedAtMs: 0, durationMs: null, inputs: null, output: null, error: null, routedTo: null, leaves: [] };
}

test("a question stands at the step that asks it, not at the group around it", () => {
  const state: RunState = { ...emptyRun, phases: { "flow/loop#1": phase("loop", "group"), "flow/loop#1/review#1": phase("loop/review", "gate") } };
  const question: WaitingFor = { key: "flow/loop#1/review#1/gate", ask: { kind: "gate", phase: "loop/review", text: "Good?", question: null }, sinceMs: 0 };
  expect(flowVisits(state, [question]).map(({ name, depth, question: asked }) => [name, depth, asked !== null])).toEqual([
    ["loop", 0, false],
    ["review", 1, true],
  ]);
});
