// A plan that a person is changing before they approve it. Every change makes another plan; the one before is kept for
// undo. Whether a plan may run is for the app to say, not for this page.

import { create } from "zustand";
import { createJSONStorage, persist, type StateStorage } from "zustand/middleware";
import type { Key, Plan, PlanStep } from "../contract/index.ts";

/** A plan with what it was before and what was taken back. */
export interface PlanEdit {
  /** The question that the change answers. */
  key: Key;
  original: Plan;
  now: Plan;
  past: readonly Plan[];
  future: readonly Plan[];
  /** What the last change was about: typing on in one field is one change. */
  about: string | null;
}

const mostKept = 200;

/** The beginning of a change. */
export function beginEdit(key: Key, original: Plan): PlanEdit {
  return { key, original, now: original, past: [], future: [], about: null };
}

/** Another plan in the place of the present one. */
export function changePlan(edit: PlanEdit, now: Plan, about: string | null = null): PlanEdit {
  if (now === edit.now) return edit;
  const goesOn = about !== null && about === edit.about;
  const past = goesOn ? edit.past : [...edit.past, edit.now].slice(-mostKept);
  return { ...edit, now, past, future: [], about };
}

/** One change back. */
export function undoEdit(edit: PlanEdit): PlanEdit {
  const before = edit.past.at(-1);
  if (!before) return edit;
  return { ...edit, now: before, past: edit.past.slice(0, -1), future: [edit.now, ...edit.future], about: null };
}

/** One change forward again. */
export function redoEdit(edit: PlanEdit): PlanEdit {
  const [next, ...future] = edit.future;
  if (!next) return edit;
  return { ...edit, now: next, past: [...edit.past, edit.now], future, about: null };
}

function withStep(plan: Plan, id: string, change: (step: PlanStep) => PlanStep): Plan {
  return { ...plan, steps: plan.steps.map((step) => (step.id === id ? change(step) : step)) };
}

function without<K extends keyof PlanStep>(step: PlanStep, key: K): Omit<PlanStep, K> {
  const { [key]: _left, ...rest } = step;
  return rest;
}

/** Gives a step another name; without one its description is shown. */
export function renameStep(plan: Plan, id: string, name: string): Plan {
  return withStep(plan, id, (step) => (name.trim() === "" ? without(step, "name") : { ...step, name }));
}

/** Says anew what a step does, or what it should give. */
export function describeStep(plan: Plan, id: string, part: "description" | "expectedOutcome", words: string): Plan {
  return withStep(plan, id, (step) => ({ ...step, [part]: words }));
}

/** Gives a step other tools; details of tools that it does not have any more go with them. */
export function retool(plan: Plan, id: string, tools: string[]): Plan {
  return withStep(plan, id, (step) => {
    const kept = Object.entries(step.args ?? {}).filter(([tool]) => tools.includes(tool));
    return withArgs({ ...step, tools }, Object.fromEntries(kept));
  });
}

function withArgs(step: PlanStep, args: { [tool: string]: unknown }): PlanStep {
  return Object.keys(args).length === 0 ? without(step, "args") : { ...step, args };
}

/** Gives a tool of a step other details; none lets the model fill them in. */
export function giveDetails(plan: Plan, id: string, tool: string, details: unknown): Plan {
  return withStep(plan, id, (step) => {
    const { [tool]: _before, ...others } = step.args ?? {};
    return withArgs(step, details === undefined ? others : { ...step.args, [tool]: details });
  });
}

/** Who does a step: one of the two usual models, or one by its name. */
export type Doer = { tier: "low" | "high" } | { model: string };

/** Who does this step as it is. */
export function doerOf(step: PlanStep): Doer {
  return step.model === undefined ? { tier: step.tier ?? "low" } : { model: step.model };
}

/** Gives a step to another model. */
export function assign(plan: Plan, id: string, doer: Doer): Plan {
  return withStep(plan, id, (step) => {
    if ("model" in doer) return { ...step, model: doer.model };
    const rest = without(without(step, "model") as PlanStep, "tier") as PlanStep;
    return doer.tier === "high" ? { ...rest, tier: "high" } : rest;
  });
}

/** Adds a step, after another one when there is one; the new plan and the step's id. */
export function addStep(plan: Plan, name: string, after: string | null): { plan: Plan; id: string } {
  const taken = new Set(plan.steps.map((step) => step.id));
  let number = plan.steps.length + 1;
  while (taken.has(`step_${number}`)) number += 1;
  const id = `step_${number}`;
  const step: PlanStep = { id, name, description: "", tools: [], expectedOutcome: "", dependencies: after === null ? [] : [after] };
  return { plan: { ...plan, steps: [...plan.steps, step] }, id };
}

/** Takes a step out, and out of what others wait for. */
export function deleteStep(plan: Plan, id: string): Plan {
  const left = plan.steps.filter((step) => step.id !== id);
  return {
    ...plan,
    steps: left.map((step) => (step.dependencies.includes(id) ? { ...step, dependencies: step.dependencies.filter((other) => other !== id) } : step)),
  };
}

/** Lets a step have the result of another one. */
export function connect(plan: Plan, from: string, to: string): Plan {
  return withStep(plan, to, (step) => (from === to || step.dependencies.includes(from) ? step : { ...step, dependencies: [...step.dependencies, from] }));
}

/** Lets a step do without the result of another one. */
export function disconnect(plan: Plan, from: string, to: string): Plan {
  return withStep(plan, to, (step) => ({ ...step, dependencies: step.dependencies.filter((id) => id !== from) }));
}

/** Gives a step the results of exactly these. */
export function reconnect(plan: Plan, id: string, dependencies: string[]): Plan {
  return withStep(plan, id, (step) => ({ ...step, dependencies }));
}

/** Something that is wrong with a plan, as the app says it. */
export interface PlanProblem {
  steps: readonly number[];
  message: string;
}

/** What is wrong, by step; under `null` what is about the plan as a whole. Ids of steps are said as their names. */
export function problemsByStep(plan: Plan, problems: readonly PlanProblem[]): Map<string | null, string[]> {
  const found = new Map<string | null, string[]>();
  const names = new Map(plan.steps.map((step) => [`"${step.id}"`, `“${step.name ?? step.id}”`]));
  const words = (message: string) => message.replace(/"[^"\s]+"/g, (quoted) => names.get(quoted) ?? quoted);
  for (const { steps, message } of problems) {
    const ids = steps.flatMap((index) => plan.steps[index]?.id ?? []);
    for (const id of ids.length === 0 ? [null] : ids) found.set(id, [...(found.get(id) ?? []), words(message)]);
  }
  return found;
}

/** The steps that still read the result of one that was taken out, with the names of those. To the app such a reference
 * is text like any other. */
export function missedSteps({ original, now }: PlanEdit): Map<string, string[]> {
  const left = new Set(now.steps.map((step) => step.id));
  const gone = original.steps.filter((step) => !left.has(step.id));
  const found = new Map<string, string[]>();
  if (gone.length === 0) return found;
  for (const step of now.steps) {
    const said = JSON.stringify(step.args ?? {});
    const names = gone.filter(({ id }) => said.includes(`{{${id}}}`) || said.includes(`{{${id}.`)).map(({ id, name }) => name ?? id);
    if (names.length > 0) found.set(step.id, names);
  }
  return found;
}

interface PlanEdits {
  /** The change that is under way; there is one at a time. */
  edit: PlanEdit | null;
  begin: (key: Key, original: Plan) => void;
  change: (key: Key, change: (plan: Plan) => Plan, about?: string) => void;
  undo: (key: Key) => void;
  redo: (key: Key) => void;
  end: () => void;
}

// A plan that is too large to be remembered by the page is still there until the window closes.
const careful: StateStorage = {
  getItem: (name) => localStorage.getItem(name),
  setItem: (name, value) => {
    try {
      localStorage.setItem(name, value);
    } catch {
      localStorage.removeItem(name);
    }
  },
  removeItem: (name) => localStorage.removeItem(name),
};

/** The change that is under way. It is kept while other screens are looked at, and when the window is closed. */
export const usePlanEdits = create<PlanEdits>()(
  persist(
    (set) => {
      const on = (key: Key, change: (edit: PlanEdit) => PlanEdit) => set(({ edit }) => (edit?.key === key ? { edit: change(edit) } : {}));
      return {
        edit: null,
        begin: (key, original) => set({ edit: beginEdit(key, original) }),
        change: (key, change, about) => on(key, (edit) => changePlan(edit, change(edit.now), about ?? null)),
        undo: (key) => on(key, undoEdit),
        redo: (key) => on(key, redoEdit),
        end: () => set({ edit: null }),
      };
    },
    {
      name: "tepa.planEdit",
      storage: createJSONStorage(() => careful),
      partialize: ({ edit }) => ({ edit: edit && { ...edit, past: [], future: [], about: null } }),
    },
  ),
);
