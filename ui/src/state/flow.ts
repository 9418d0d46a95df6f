// A flow's run as a list: each visit of a step in the order in which it began, inside the group that it belongs to.

import type { Key, PhaseState, RunState, WaitingFor } from "../contract/index.ts";

/** One visit of a step. */
export interface FlowVisit {
  key: Key;
  phase: PhaseState;
  /** The step's own name, without the groups around it. */
  name: string;
  /** How many groups are around it. */
  depth: number;
  /** What a person is asked here. */
  question: WaitingFor | null;
}

/** The visits of a run. */
export function flowVisits(state: RunState, questions: readonly WaitingFor[]): FlowVisit[] {
  return Object.entries(state.phases).map(([key, phase]) => {
    const path = phase.phase.split("/");
    const question = questions.find((one) => one.ask.kind === "gate" && one.key.startsWith(`${key}/`)) ?? null;
    const group = phase.kind === "group" || phase.kind === "ref";
    return { key, phase, name: path.at(-1) ?? phase.phase, depth: path.length - 1, question: group ? null : question };
  });
}
