// Small questions about a run that several parts of the screen ask.

import type { CycleState, Plan, RunState, StepState, StepStatus } from "../contract/index.ts";
import type { MarkKind } from "../components/Mark.tsx";
import type { Standing } from "./standing.ts";

/** The mark of a step's status. */
export const stepMark: Record<StepStatus, MarkKind> = {
  waiting: "idle",
  running: "running",
  done: "done",
  kept: "kept",
  failed: "failed",
  skipped: "skipped",
  waiting_for_person: "person",
  uncertain: "uncertain",
};

/** Why nothing moves although a step was at work: the run ended, was interrupted or was paused, or one looks back at it. */
export type Halted = "stopped" | "interrupted" | "paused" | "past" | null;

const haltMark: Record<Exclude<Halted, null>, MarkKind> = { stopped: "stopped", interrupted: "interrupted", paused: "interrupted", past: "running" };

/** Why a run stands still, from how it stands. */
export function haltedBy(stands: Standing, ended: boolean): Halted {
  if (ended) return "stopped";
  return stands === "interrupted" || stands === "paused" ? stands : null;
}

/** The mark of a step in a run that may have come to a halt. */
export function markOfStep(status: StepStatus, halted: Halted): MarkKind {
  return status === "running" && halted !== null ? haltMark[halted] : stepMark[status];
}

/** How many steps have come to an end. */
export function finishedSteps(cycle: CycleState): number {
  return Object.values(cycle.steps).filter((step) => isFinished(step)).length;
}

/** Whether nothing more happens in this step. */
export function isFinished(step: StepState): boolean {
  switch (step.status) {
    case "done":
    case "kept":
    case "failed":
    case "skipped":
      return true;
    case "waiting":
    case "running":
    case "waiting_for_person":
    case "uncertain":
      return false;
  }
}

/** The mark of a whole cycle. `asks` says that it is this cycle that waits for a person. */
export function cycleMark(cycle: CycleState, asks: boolean, halted: Halted): MarkKind {
  if (asks) return "person";
  if (cycle.evaluation) return cycle.evaluation.verdict === "pass" ? "done" : "failed";
  if (cycle.phase === "ended") return "stopped";
  return halted === null ? "running" : haltMark[halted];
}

/** How many criteria hold, of how many that were found. */
export function holding(cycle: CycleState): { passed: number; total: number } {
  const results = cycle.evaluation?.criteria ?? cycle.checks;
  return { passed: results.filter((result) => result.verdict === "pass").length, total: results.length };
}

/** The name of a step of a cycle, or its id where the plan does not know it. */
export function stepName(state: RunState, cycle: number, id: string): string {
  const plan = state.cycles.find((other) => other.number === cycle)?.plan;
  return (plan && namesOf(plan).get(id)) ?? id;
}

const names = new WeakMap<Plan, ReadonlyMap<string, string>>();

/** The names of a plan's steps by id; a long journal asks for them at every line. */
function namesOf(plan: Plan): ReadonlyMap<string, string> {
  const known = names.get(plan) ?? new Map(plan.steps.map((step) => [step.id, step.name ?? step.description]));
  names.set(plan, known);
  return known;
}

/** The files that the run changed, each once, the latest change last. */
export function changedFiles(state: RunState) {
  const byPath = new Map<string, { path: string; isNew: boolean; first: string | null; last: RunState["files"][number]; times: number }>();
  for (const change of state.files) {
    const known = byPath.get(change.path);
    if (known) {
      known.last = change;
      known.times += 1;
    } else {
      byPath.set(change.path, { path: change.path, isNew: change.before === null, first: change.before, last: change, times: 1 });
    }
  }
  return [...byPath.values()];
}

/** `fast-model` of `provider:fast-model`. */
export function modelName(model: string): string {
  const colon = model.indexOf(":");
  return colon === -1 ? model : model.slice(colon + 1);
}
