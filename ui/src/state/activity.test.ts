import { expect, test } from "vitest";
import type { RunEvent, RunEventRecord } from "../contract/index.ts";
import { text } from "../text/index.ts";
import { ActivityLog, filterLines } from "./activity.ts";
import { applyEvents, emptyRun } from "./runState.ts";

const step = { id: "a", name: "Add it up", description: "", tools: ["data_query"], expectedOutcome: "", dependencies: [] };
const hash = "sha256:0";
const value = { hash, bytes: 2, inline: {}, excerpt: null };
const events: [string, RunEvent][] = [
  ["c", { type: "cycleStarted", cycle: 1 }],
  ["p", { type: "planProposed", cycle: 1, plan: { steps: [step], estimatedTokens: 0, reasoning: "" }, planHash: hash }],
  ["a", { type: "planApproved", cycle: 1, planHash: hash, by: "person" }],
  ["s:started", { type: "stepStarted", cycle: 1, step: "a", inputs: [] }],
  ["t:started", { type: "toolStarted", cycle: 1, step: "a", tool: "data_query", args: value, access: [{ kind: "read", path: "a.csv" }], inputHash: hash }],
  ["t", { type: "toolFinished", output: value, error: null, scratchpad: [], logs: [], durationMs: 5 }],
  ["s", { type: "stepFinished", cycle: 1, step: "a", status: "failed", output: null, error: { code: "tool_failed", message: "no such column", retryable: false, cause: null }, tokensUsed: 1200, durationMs: 900 }],
  ["h", { type: "hookFinished", hook: "x", event: "postStep", result: { kind: "unchanged" }, preventDefault: false }],
];
const records: RunEventRecord[] = events.map(([key, event], index) => ({ runId: "r", seq: index + 1, atMs: index, key, event }));
const state = applyEvents(emptyRun, records);

test("the journal is told in a person's words, without what says nothing", () => {
  const lines = new ActivityLog().upTo(records, records.length, state, text);
  expect(lines.map(({ who, what, fact }) => [who, what, fact].filter(Boolean).join(" | "))).toEqual([
    "Tepa | cycle 1 began",
    "Plan | proposes a plan of 1 step",
    "Add it up | started",
    "Add it up | uses “Query data” on a.csv",
    "Add it up | failed: no such column | 1,200 tokens · 0.9 s",
  ]);
});

test("a line is made once, however often it is asked for", () => {
  const log = new ActivityLog();
  const [first] = log.upTo(records, 2, state, text);
  const again = log.upTo(records, records.length, state, text);
  expect(again[0]).toBe(first);
  expect(again).toHaveLength(5);
});

test("lines are found by any of their words", () => {
  const lines = new ActivityLog().upTo(records, records.length, state, text);
  expect(filterLines(lines, "  ADD it ").length).toBe(3);
  expect(filterLines(lines, "")).toBe(lines);
});
