import { expect, test } from "vitest";
import type { RunEvent, RunEventRecord } from "../contract/index.ts";
import { applyEvents, emptyRun } from "./runState.ts";
import { stops, Timeline } from "./timeline.ts";

function record(index: number, event: RunEvent): RunEventRecord {
  return { runId: "r", seq: index + 1, atMs: index, key: `k/${index}`, event };
}

const cycles = Array.from({ length: 1234 }, (_, index) => record(index, { type: "cycleStarted", cycle: index + 1 }));

test.each([0, 1, 499, 500, 501, 1000, 1234])("the state after %d events is what folding them gives", (count) => {
  expect(new Timeline(cycles).at(count)).toEqual(applyEvents(emptyRun, cycles.slice(0, count)));
});

test("one can go back, and not beyond either end", () => {
  const timeline = new Timeline(cycles);
  expect(timeline.at(9999).cycles).toHaveLength(1234);
  expect(timeline.at(700).cycles).toHaveLength(700);
  expect(timeline.at(-1)).toEqual(emptyRun);
});

test("stops are where something is seen, and at the end", () => {
  const records = [record(0, { type: "cycleStarted", cycle: 1 }), record(1, { type: "guidanceGiven", words: "w" }), record(2, { type: "judgingStarted", cycle: 1 }), record(3, { type: "guidanceGiven", words: "w" })];
  expect(stops(records)).toEqual([1, 3, 4]);
});
