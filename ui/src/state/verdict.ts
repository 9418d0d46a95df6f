// What a run came to, in one sentence, and the grid of criteria and cycles behind it.

import type { CriterionResult, CycleState, RunState } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { criteriaOf, type TaskCriterion } from "./criteria.ts";

/** A row of the grid: a criterion and what each cycle found, in the cycles' order. */
export interface VerdictRow {
  criterion: TaskCriterion;
  cells: (CriterionResult | null)[];
}

/** The grid. */
export interface VerdictGrid {
  cycles: CycleState[];
  rows: VerdictRow[];
}

/** Builds the grid of all cycles in which something was looked at, or that may still come to it. */
export function verdictGrid(state: RunState): VerdictGrid {
  const cycles = state.cycles.filter((cycle) => cycle.evaluation !== null || cycle.checks.length > 0 || cycle.phase !== "ended");
  const criteria = state.header ? criteriaOf(state.header.task) : [];
  const found = cycles.map((cycle) => new Map(results(cycle).map((result) => [result.id, result])));
  return {
    cycles,
    rows: criteria.map((criterion) => ({ criterion, cells: found.map((cycle) => cycle.get(criterion.id) ?? null) })),
  };
}

function results(cycle: CycleState): CriterionResult[] {
  return cycle.evaluation?.criteria ?? cycle.checks;
}

/** What does not hold in the last cycle that was judged. */
export function missing(state: RunState): { criterion: TaskCriterion; result: CriterionResult }[] {
  const last = state.cycles.findLast((cycle) => cycle.evaluation !== null);
  if (!last || !state.header) return [];
  const byId = new Map(results(last).map((result) => [result.id, result]));
  return criteriaOf(state.header.task).flatMap((criterion) => {
    const result = byId.get(criterion.id);
    return result && criterion.required && (result.verdict === "fail" || result.verdict === "unknown") ? [{ criterion, result }] : [];
  });
}

/** The sentence at the top. */
export function verdictSentence(state: RunState, t: Text): string {
  const { result } = state;
  if (!result) return t("verdict.running");
  if (result.stopReason === "accepted") {
    const by = state.cycles.findLast((cycle) => cycle.changedVerdict !== null)?.changedVerdict?.by ?? ["person"];
    return by.includes("person") ? t("verdict.accepted") : t("verdict.acceptedByRule");
  }
  if (result.status === "pass") return `${passedIn(result.cycles, t)} ${howManyHold(state, t)}`.trim();
  const lacking = missing(state).length;
  const reason =
    result.stopReason === "rejected"
      ? rejectedBy(state, t)
      : t(`verdict.reason.${isMoneyGone(state) ? "money" : isNotAllowed(state) ? "notAllowed" : result.stopReason}`, { count: result.cycles, number: numberWord(result.cycles, t) });
  if (lacking === 0) return reason;
  return `${t("verdict.missing", { count: lacking, number: capital(numberWord(lacking, t)) })} ${reason}`;
}

/** Whether it was the money, and not the tokens, of which there was no more. */
function isMoneyGone(state: RunState): boolean {
  const most = state.header?.task.limits?.maxCost;
  return state.result?.stopReason === "budget" && typeof most === "number" && state.cost.amount >= most;
}

/** Whether all that is missing is what a person did not allow to be checked: only such a check is undecided by the app. */
function isNotAllowed(state: RunState): boolean {
  const lacking = missing(state);
  return state.result?.stopReason === "no_progress" && lacking.length > 0 && lacking.every(({ result }) => result.by === "app" && result.verdict === "unknown");
}

/** Who ended it, and at what: a plan that was never approved, a judged cycle that a rule did not like, or a step. */
function rejectedBy(state: RunState, t: Text): string {
  const last = state.cycles.at(-1);
  if (!last || last.approvedBy === null) return t("verdict.reason.rejected");
  return last.evaluation === null ? t("verdict.reason.rejectedStep") : t("verdict.reason.rejectedByRule");
}

function passedIn(cycles: number, t: Text): string {
  return cycles <= 1 ? t("verdict.passedFirst") : t("verdict.passedLater", { nth: ordinal(cycles, t) });
}

function howManyHold(state: RunState, t: Text): string {
  const last = state.cycles.findLast((cycle) => cycle.evaluation !== null);
  if (!last) return "";
  const all = results(last);
  const passed = all.filter((result) => result.verdict === "pass").length;
  if (passed === all.length) return t("verdict.allHold", { count: all.length, number: numberWord(all.length, t) });
  return t("verdict.requiredHold", { passed, total: all.length });
}

const words = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"] as const;

/** `six`, or `13` where the word would be long. In the middle of a sentence. */
export function numberWord(value: number, t: Text): string {
  const word = words[value];
  return word ? t(`verdict.numbers.${word}`) : String(value);
}

function capital(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"] as const;

/** `second`, or `12th`. */
export function ordinal(value: number, t: Text): string {
  const word = ordinals[value - 1];
  return word ? t(`verdict.ordinal.${word}`) : t("verdict.ordinalOther", { number: value });
}
