// Whether and how a failed step of a run can be tried again.

import type { RunState } from "../contract/index.ts";
import { canContinue, nextMoves } from "./standing.ts";

/** A flow takes up what failed; a task makes another plan that knows what failed. */
export type WayToTryAgain = "continue" | "guide";

/** The way, or none: while a run is at work it tries again by itself, and a recording would answer the same. */
export function waysToTryAgain({ result, header, cycles }: Pick<RunState, "result" | "header" | "cycles">): WayToTryAgain | null {
  if (!result || !header || header.recording !== null) return null;
  if (header.flow !== undefined) return canContinue(result.stopReason) ? "continue" : null;
  const judged = cycles.some((cycle) => cycle.evaluation !== null);
  return nextMoves(result.stopReason, result.cycles, judged).guide ? "guide" : null;
}
