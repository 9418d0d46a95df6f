// How much of its budget a run has used, in tokens and in money, and which notices that deserves.

import type { Limits, RunState } from "../contract/index.ts";

/** What was used of what may be used. */
export interface Budget {
  tokens: number;
  maxTokens: number;
  /** None where no price is known. */
  cost: number | null;
  maxCost: number | null;
  currency: string;
  /** Models that no price is known of: it cost more than this. */
  unpriced: readonly string[];
  /** The part that is used up, 0 to 1: of tokens or of money, whichever is nearer to its end. */
  part: number;
}

/** Where a run stops, as a person may change it. */
export type Room = Pick<Limits, "maxTokens" | "maxCycles" | "maxCost" | "maxMinutes">;

/** Where a run stops. A task that says nothing about it has its limits in what was granted. */
export function limitsOf(state: RunState): Room {
  const { envelope, task } = state.header ?? {};
  const { maxCost, maxMinutes } = task?.limits ?? {};
  return {
    maxTokens: envelope?.maxTokens ?? 0,
    maxCycles: envelope?.maxCycles ?? 0,
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(maxMinutes === undefined ? {} : { maxMinutes }),
  };
}

/** The budget of a run as it stands. */
export function budgetOf(state: RunState): Budget {
  const maxTokens = state.header?.envelope.maxTokens ?? 0;
  const maxCost = state.header?.task.limits?.maxCost ?? null;
  const { amount, currency, unpriced } = state.cost;
  const cost = currency === "" ? null : amount;
  const parts = [maxTokens > 0 ? state.tokensUsed / maxTokens : 0, cost !== null && maxCost !== null && maxCost > 0 ? cost / maxCost : 0];
  return { tokens: state.tokensUsed, maxTokens, cost, maxCost, currency, unpriced, part: Math.min(1, Math.max(...parts)) };
}

const marks = [1, 0.8, 0.5] as const;

/** The highest mark that was passed between two parts: half, four fifths, all. */
export function crossed(before: number, after: number): number | null {
  return marks.find((mark) => before < mark && after >= mark) ?? null;
}
