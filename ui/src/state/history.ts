// What the list of runs adds up to: how many passed, what they used, task by task and day by day.

import type { RunSummary } from "../contract/index.ts";
import { money } from "./format.ts";
import { hasEnded, standingOf } from "./standing.ts";

/** How far back one looks. */
export type Period = "any" | "today" | "week" | "month";

/** Every period, in the order in which they are offered. */
export const periods: readonly Period[] = ["any", "today", "week", "month"];

const day = 86_400_000;

/** The moment from which on runs count; 0 for all of them. */
export function since(period: Period, now: number): number {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  switch (period) {
    case "any":
      return 0;
    case "today":
      return midnight;
    case "week":
      return midnight - 6 * day;
    case "month":
      return midnight - 29 * day;
  }
}

/** Amounts of money: from this on, and less than that. */
export interface CostRange {
  from?: number;
  below?: number;
}

/** What runs can be narrowed to by their cost: the steps in which the store keeps them. */
export const costRanges: readonly CostRange[] = [
  { from: Number.MIN_VALUE, below: 0.01 },
  { from: 0.01, below: 0.1 },
  { from: 0.1, below: 1 },
  { from: 1, below: 10 },
  { from: 10 },
];

/** Money in as many currencies as it was paid in. */
export interface Money {
  amounts: Readonly<Record<string, number>>;
  /** Something was used whose price is not known. */
  partial: boolean;
}

const noMoney: Money = { amounts: {}, partial: false };

/** What a run cost. */
export function moneyOf({ cost }: Pick<RunSummary, "cost">): Money {
  if (!cost) return noMoney;
  return { amounts: cost.currency === "" ? {} : { [cost.currency]: cost.amount }, partial: cost.unpriced.length > 0 };
}

function plusMoney(a: Money, b: Money): Money {
  const amounts = { ...a.amounts };
  for (const [currency, amount] of Object.entries(b.amounts)) amounts[currency] = (amounts[currency] ?? 0) + amount;
  return { amounts, partial: a.partial || b.partial };
}

/** An amount in words: `$0.06`, `≥ $0.06` where a price is missing, and a dash where none is known. */
export function moneyWords({ amounts, partial }: Money): string {
  const words = Object.entries(amounts).map(([currency, amount]) => money(amount, currency));
  if (words.length === 0) return "–";
  return `${partial ? "≥ " : ""}${words.join(" + ")}`;
}

/** The sum of some runs. */
export interface Sum {
  runs: number;
  /** Those that are at their end. */
  ended: number;
  passed: number;
  tokens: number;
  cycles: number;
  money: Money;
  /** The time at work of a task's runs; of a model, the time in which it answered. */
  timeMs: number;
}

/** The runs of one task, or of one model. */
export interface GroupSum extends Sum {
  title: string;
}

/** The runs that began on one day. */
export interface DaySum {
  /** Its midnight. */
  at: number;
  passed: number;
  failed: number;
  /** Ended by a person or their rules. */
  stopped: number;
  /** Not at their end. */
  open: number;
}

const nothing: Sum = { runs: 0, ended: 0, passed: 0, tokens: 0, cycles: 0, money: noMoney, timeMs: 0 };

function plus(sum: Sum, run: RunSummary): Sum {
  return {
    runs: sum.runs + 1,
    ended: sum.ended + (hasEnded(run.status) ? 1 : 0),
    passed: sum.passed + (run.status === "pass" ? 1 : 0),
    tokens: sum.tokens + run.tokensUsed,
    cycles: sum.cycles + run.cycles,
    money: plusMoney(sum.money, moneyOf(run)),
    timeMs: sum.timeMs + run.workedMs,
  };
}

/** All runs together. */
export function sumOf(runs: readonly RunSummary[]): Sum {
  return runs.reduce(plus, nothing);
}

/** The tasks with most runs first; tasks are told apart by their names. */
export function byTask(runs: readonly RunSummary[]): GroupSum[] {
  const tasks = new Map<string, GroupSum>();
  for (const run of runs) tasks.set(run.title, { title: run.title, ...plus(tasks.get(run.title) ?? nothing, run) });
  return mostFirst(tasks);
}

/** The models with most runs first. What a run used of a model counts for that model alone; that it passed counts for
 * each that it asked. */
export function byModel(runs: readonly RunSummary[]): GroupSum[] {
  const models = new Map<string, GroupSum>();
  for (const run of runs) {
    for (const { model, tokens, cost, timeMs } of run.models) {
      const own: RunSummary = { ...run, tokensUsed: tokens, workedMs: timeMs, cost: { amount: cost ?? 0, currency: cost === null ? "" : (run.cost?.currency ?? ""), unpriced: cost === null && tokens > 0 ? [model] : [] } };
      models.set(model, { title: model, ...plus(models.get(model) ?? nothing, own) });
    }
  }
  return mostFirst(models);
}

function mostFirst(groups: ReadonlyMap<string, GroupSum>): GroupSum[] {
  return [...groups.values()].toSorted((a, b) => b.runs - a.runs || a.title.localeCompare(b.title));
}

/** What a day's column is made of, from below. */
export const dayKinds = ["passed", "failed", "stopped", "open"] as const;

function kindOf(run: RunSummary): (typeof dayKinds)[number] {
  switch (standingOf(run)) {
    case "passed":
      return "passed";
    case "failed":
      return "failed";
    case "rejected":
    case "stopped":
      return "stopped";
    case "running":
    case "waiting":
    case "paused":
    case "interrupted":
      return "open";
  }
}

/** The last days, oldest first, also those on which nothing ran. */
export function byDay(runs: readonly RunSummary[], now: number, days: number): DaySum[] {
  const midnight = (at: number) => new Date(at).setHours(0, 0, 0, 0);
  const today = new Date(midnight(now));
  const sums = Array.from({ length: days }, (_, index): DaySum => {
    const at = new Date(today).setDate(today.getDate() - (days - 1 - index));
    return { at, passed: 0, failed: 0, stopped: 0, open: 0 };
  });
  const found = new Map(sums.map((sum) => [sum.at, sum]));
  for (const run of runs) {
    const sum = found.get(midnight(run.startedAtMs));
    if (!sum) continue;
    sum[kindOf(run)] += 1;
  }
  return sums;
}
