// The questions that a run waits with: which there are, where each stands, and what it is called in a few words.

import type { Ask, RunState, WaitingFor } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { stepName } from "./run.ts";

/** Every question that waits, in the order in which they were asked. */
export function questionsOf(state: RunState): readonly WaitingFor[] {
  return state.waiting === null ? [] : [state.waiting, ...(state.waitingAlso ?? [])];
}

/** The cycle that a question belongs to; none for a flow's, and for what the task brings by itself. */
export function cycleOf(ask: Ask): number | null {
  if (ask.kind === "allowEffect") return null;
  return ask.kind === "gate" ? (ask.cycle ?? null) : ask.cycle;
}

/** The step of a plan that a question is about; none where it is about something else. */
export function stepOf(ask: Ask): string | null {
  if (ask.kind === "gate") return ask.cycle ? ask.phase : null;
  return ask.kind === "runStep" || ask.kind === "uncertainEffect" || ask.kind === "permission" ? ask.step : null;
}

/** What a question is about, for a list of several. */
export function questionName({ ask }: WaitingFor, state: RunState, t: Text): string {
  switch (ask.kind) {
    case "approvePlan":
      return t("run.questions.plan", { number: ask.cycle });
    case "uncertainEffect":
      return ask.path;
    case "runStep":
    case "permission":
      return stepName(state, ask.cycle, ask.step);
    case "allowEffect":
      return t("run.questions.effect");
    case "gate":
      return ask.cycle ? stepName(state, ask.cycle, ask.phase) : ask.phase;
  }
}

/** The steps of a cycle that are asked about, each with its question. */
export function askedSteps(questions: readonly WaitingFor[], cycle: number): ReadonlyMap<string, WaitingFor> {
  return new Map(
    questions.flatMap((question) => {
      const step = stepOf(question.ask);
      return step !== null && cycleOf(question.ask) === cycle ? [[step, question] as const] : [];
    }),
  );
}

/** A question as it is read out. */
export function questionWords(ask: Ask, t: Text): string {
  switch (ask.kind) {
    case "approvePlan":
      return t("run.questions.aloud.plan");
    case "uncertainEffect":
      return t("run.uncertain.file.title", { path: ask.path });
    case "runStep":
      return t("run.questions.aloud.step", { step: ask.title });
    case "permission":
      return t("run.questions.aloud.permission", { wants: ask.wants });
    case "allowEffect":
      return t("run.questions.aloud.effect");
    case "gate":
      return ask.text;
  }
}
