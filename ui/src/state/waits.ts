// Which model calls of a run wait before their next attempt.

import type { LlmAttempt, RunState } from "../contract/index.ts";

/** The last attempt of every call that is not at its end and will be tried again. */
export function waitingCalls(state: RunState): LlmAttempt[] {
  if (state.result) return [];
  return Object.values(state.calls).flatMap((call) => {
    const last = call.attempts.at(-1);
    return last?.status === "retry" && call.durationMs === null && last.waitMs !== 0 ? [last] : [];
  });
}
