// What the list of runs adds up to: how many passed, what they used, task by task and day by day.

import type { RunSummary } from "../contract/index.ts";
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

/** The sum of some runs. */
export interface Sum {
  runs: number;
  /** Those that are at their end. */
  ended: number;
  passed: number;
  tokens: number;
  cycles: number;
}

/** The runs of one task. */
export interface TaskSum extends Sum {
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

const nothing: Sum = { runs: 0, ended: 0, passed: 0, tokens: 0, cycles: 0 };

function plus(sum: Sum, run: RunSummary): Sum {
  return {
    runs: sum.runs + 1,
    ended: sum.ended + (hasEnded(run.status) ? 1 : 0),
    passed: sum.passed + (run.status === "pass" ? 1 : 0),
    tokens: sum.tokens + run.tokensUsed,
    cycles: sum.cycles + run.cycles,
  };
}

/** All runs together. */
export function sumOf(runs: readonly RunSummary[]): Sum {
  return runs.reduce(plus, nothing);
}

/** The tasks with most runs first; tasks are told apart by their names. */
export function byTask(runs: readonly RunSummary[]): TaskSum[] {
  const tasks = new Map<string, TaskSum>();
  for (const run of runs) tasks.set(run.title, { title: run.title, ...plus(tasks.get(run.title) ?? nothing, run) });
  return [...tasks.values()].toSorted((a, b) => b.runs - a.runs || a.title.localeCompare(b.title));
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
