// What changed from one plan to the next, so that a second plan can be read as a difference to the first.

import type { Plan, PlanStep } from "../contract/index.ts";

/** How a step of the new plan stands to the old plan. */
export type StepChange = "same" | "changed" | "added";
/** Which part of a step is different. */
export type ChangedPart = "name" | "description" | "tools" | "args" | "outcome" | "order" | "model";

/** A step of the new plan beside its counterpart in the old one. */
export interface StepDiff {
  step: PlanStep;
  before: PlanStep | null;
  change: StepChange;
  parts: ChangedPart[];
}

/** A whole plan beside its predecessor. */
export interface PlanDiff {
  steps: StepDiff[];
  /** Steps of the old plan that have no counterpart and whose results are not used any more. */
  removed: PlanStep[];
  /** Steps of the old plan that are not planned again because their results are read: `cycle_1.step_3`. */
  carried: PlanStep[];
}

/** Compares two plans; `cycle` is the old plan's, for `inputs` that name it. */
export function diffPlans(before: Plan, after: Plan, cycle: number): PlanDiff {
  const partners = match(before.steps, after.steps);
  const newName = new Map([...partners].map(([next, previous]) => [previous.id, next.id]));
  const steps = after.steps.map((step): StepDiff => {
    const previous = partners.get(step);
    if (!previous) return { step, before: null, change: "added", parts: [] };
    const parts = changedParts(previous, step, newName, cycle);
    return { step, before: previous, change: parts.length === 0 ? "same" : "changed", parts };
  });
  const matched = new Set(partners.values());
  const read = new Set(after.steps.flatMap((step) => step.inputs ?? []));
  const left = before.steps.filter((step) => !matched.has(step));
  return {
    steps,
    removed: left.filter((step) => !read.has(`cycle_${cycle}.${step.id}`)),
    carried: left.filter((step) => read.has(`cycle_${cycle}.${step.id}`)),
  };
}

/** Pairs equal steps first, then steps of the same id, then of the same name. */
function match(before: readonly PlanStep[], after: readonly PlanStep[]): Map<PlanStep, PlanStep> {
  const pairs = new Map<PlanStep, PlanStep>();
  const free = new Set(before);
  const pass = (same: (previous: PlanStep, next: PlanStep) => boolean) => {
    for (const next of after) {
      if (pairs.has(next)) continue;
      const previous = [...free].find((candidate) => same(candidate, next));
      if (!previous) continue;
      pairs.set(next, previous);
      free.delete(previous);
    }
  };
  pass((previous, next) => previous.id === next.id && definition(previous) === definition(next));
  pass((previous, next) => definition(previous) === definition(next));
  pass((previous, next) => previous.id === next.id);
  pass((previous, next) => previous.name !== undefined && previous.name === next.name);
  return pairs;
}

function definition(step: PlanStep): string {
  return canonical([step.description, step.tools, step.args ?? {}, step.model ?? null, step.tier ?? "low"]);
}

function changedParts(
  before: PlanStep,
  after: PlanStep,
  newName: ReadonlyMap<string, string>,
  cycle: number,
): ChangedPart[] {
  const parts: ChangedPart[] = [];
  if ((before.name ?? "") !== (after.name ?? "")) parts.push("name");
  if (before.description !== after.description) parts.push("description");
  if (canonical(before.tools) !== canonical(after.tools)) parts.push("tools");
  if (canonical(before.args ?? {}) !== canonical(after.args ?? {})) parts.push("args");
  if (before.expectedOutcome !== after.expectedOutcome) parts.push("outcome");
  if ((before.model ?? "") !== (after.model ?? "") || (before.tier ?? "low") !== (after.tier ?? "low")) {
    parts.push("model");
  }
  const earlier = `cycle_${cycle}.`;
  const reads = (after.inputs ?? []).map((input) => (input.startsWith(earlier) ? input.slice(earlier.length) : input));
  const expected = before.dependencies.map((id) => newName.get(id) ?? id);
  if (sorted([...after.dependencies, ...reads]) !== sorted([...expected, ...(before.inputs ?? [])])) parts.push("order");
  return parts;
}

function sorted(ids: readonly string[]): string {
  return canonical([...new Set(ids)].toSorted());
}

/** Text that is equal for equal values, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
