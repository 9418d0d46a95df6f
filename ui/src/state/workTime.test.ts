import { expect, test } from "vitest";
import type { RunEvent, RunEventRecord } from "../contract/index.ts";
import { WorkClock } from "./workTime.ts";

type Moment = [seconds: number, type: RunEvent["type"] | "permissionAsked"];

function event(type: Moment[1]) {
  if (type === "permissionAsked") return { type: "personAsked", ask: { kind: "permission" } };
  return type === "personAsked" ? { type, ask: { kind: "approvePlan" } } : { type };
}

function check(moments: Moment[], seconds: number) {
  const records = moments.map(([at, type], index) => ({ runId: "r", seq: index + 1, atMs: at * 1000, key: "k", event: event(type) }) as RunEventRecord);
  const clock = new WorkClock();
  // It comes in pieces, and is the same as at once.
  const piecemeal = records.map((_, index) => clock.upTo(records, index + 1)).at(-1);
  expect([piecemeal, new WorkClock().upTo(records, records.length)]).toEqual([seconds * 1000, seconds * 1000]);
}

test("work is from the first event to the last", () => check([[0, "runStarted"], [2, "cycleStarted"], [5, "runFinished"]], 5));

test("waiting for a person does not count", () =>
  check([[0, "runStarted"], [3, "personAsked"], [3600, "personAnswered"], [3602, "runFinished"]], 5));

test("what goes on beside a question counts", () =>
  check([[0, "toolStarted"], [1, "personAsked"], [5, "toolFinished"], [100, "personAnswered"], [101, "runFinished"]], 6));

test("a tool call that waits for a person is not at work", () =>
  check([[0, "toolStarted"], [1, "permissionAsked"], [3600, "personAnswered"], [3602, "toolFinished"]], 3));

test("of several questions the last answer ends the wait", () =>
  check([[0, "personAsked"], [1, "personAsked"], [10, "personAnswered"], [20, "personAnswered"], [21, "runFinished"]], 1));

test("a pause does not count", () => check([[0, "runStarted"], [4, "runPaused"], [90, "runContinued"], [91, "runFinished"]], 5));

test("the time after an end does not count when the run is taken up again", () =>
  check([[0, "runStarted"], [4, "runFinished"], [900, "runReopened"], [903, "runFinished"]], 7));
