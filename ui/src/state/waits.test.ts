import { expect, test } from "vitest";
import type { CallState, LlmAttempt, RunState } from "../contract/index.ts";
import { emptyRun } from "./runState.ts";
import { waitingCalls } from "./waits.ts";

const attempt = (status: LlmAttempt["status"], waitMs: number | null): LlmAttempt => ({
  attempt: 0,
  status,
  durationMs: 1,
  usage: null,
  error: null,
  waitMs,
});

const call = (attempts: LlmAttempt[], durationMs: number | null = null): CallState => ({
  cycle: 1,
  purpose: "plan",
  step: null,
  model: "m:m",
  request: { hash: "h", size: 0 } as unknown as CallState["request"],
  attempts,
  response: null,
  error: null,
  durationMs,
});

const run = (...calls: CallState[]): RunState => ({ ...emptyRun, calls: Object.fromEntries(calls.map((one, place) => [`${place}`, one])) });

test("a call waits after an attempt that will be repeated, and not once it is at work again or at its end", () => {
  const retry = attempt("retry", 9_000);
  expect(waitingCalls(run(call([retry])))).toEqual([retry]);
  expect(waitingCalls(run(call([retry, attempt("success", null)]), call([retry], 12), call([])))).toEqual([]);
  // A question in simpler terms is asked at once.
  expect(waitingCalls(run(call([attempt("retry", 0)])))).toEqual([]);
});
