import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Ask, RunEvent, RunEventRecord, RunState } from "../contract/index.ts";
import { applyEvent, applyEvents, emptyRun, leafOf, runStatus } from "./runState.ts";

const folder = join(import.meta.dirname, "../../../tests/fixtures/run_state");
const fixtures = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];

interface Fixture {
  events: RunEventRecord[];
  state: RunState;
}

describe("the fixtures that Rust reproduces too", () => {
  test("there are some", () => expect(fixtures).not.toEqual([]));
  test.each(fixtures)("%s", (name) => {
    const { events, state } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Fixture;
    expect(applyEvents(emptyRun, events)).toEqual(state);
    expect(events.reduce(applyEvent, emptyRun)).toEqual(state);
  });
});

const runs = JSON.parse(readFileSync(join(folder, "../run_fold.json"), "utf8")) as Fixture[];

describe("runs of events as chance has them, folded as Rust folds them", () => {
  test("there are some", () => expect(runs.length).toBeGreaterThan(10));
  test.each(runs.map((run, number) => ({ run, number })))("run $number", ({ run }) => {
    expect(applyEvents(emptyRun, run.events)).toEqual(run.state);
    expect(run.events.reduce(applyEvent, emptyRun)).toEqual(run.state);
  });
});

let seq = 0;
function record(event: RunEvent, key = "k"): RunEventRecord {
  seq += 1;
  return { runId: "r", seq, atMs: seq * 10, key, event };
}

function planned(): RunState {
  seq = 0;
  const step = { id: "a", description: "a", tools: [], expectedOutcome: "", dependencies: [] };
  return applyEvents(emptyRun, [
    record({ type: "cycleStarted", cycle: 1 }),
    record({
      type: "planProposed",
      cycle: 1,
      plan: { steps: [step, { ...step, id: "b" }], estimatedTokens: 0, reasoning: "" },
      planHash: "sha256:0",
    }),
  ]);
}

test("an event that is already in it changes nothing", () => {
  const state = planned();
  const again = { runId: "r", seq: 1, atMs: 99, key: "k", event: { type: "cycleStarted", cycle: 1 } as const };
  expect(applyEvent(state, again)).toBe(state);
});

test("the old state is left as it was and untouched steps stay the same objects", () => {
  const before = planned();
  const copy = structuredClone(before);
  const after = applyEvent(before, record({ type: "stepStarted", cycle: 1, step: "a", inputs: [] }));
  expect(before).toEqual(copy);
  expect(after.cycles[0]?.steps["a"]?.status).toBe("running");
  expect(after.cycles[0]?.steps["b"]).toBe(before.cycles[0]?.steps["b"]);
});

test("a step that no plan knows is ignored", () => {
  const before = planned();
  const after = applyEvent(before, record({ type: "stepStarted", cycle: 1, step: "constructor", inputs: [] }));
  expect(after.cycles).toEqual(before.cycles);
});

test("a step that had come to nothing when the run ended has not begun", () => {
  const started = ["a", "b"].reduce(
    (state, step) => applyEvent(state, record({ type: "stepStarted", cycle: 1, step, inputs: [] })),
    planned(),
  );
  const asked = applyEvent(
    started,
    record({ type: "toolStarted", cycle: 1, step: "b", tool: "t", args: { hash: "sha256:0", bytes: 2, inline: {}, excerpt: null }, access: [], inputHash: "sha256:0" }, "c/1/b:started"),
  );
  const result = { status: "terminated", stopReason: "budget", cycles: 1, tokensUsed: 1, cost: null, feedback: "", outputs: [] } as const;
  const ended = applyEvent(asked, record({ type: "runFinished", result: { ...result, outputs: [] } }));
  const steps = ended.cycles[0]?.steps ?? {};
  expect([steps["a"]?.status, steps["a"]?.startedAtMs, steps["b"]?.status]).toEqual(["waiting", null, "running"]);
});

test("a question makes the run wait and its answer lets it go on", () => {
  const envelope = { folder: "/f", write: true, maxTokens: 1, maxCycles: 1 };
  const asked = applyEvent(
    planned(),
    record({ type: "personAsked", ask: { kind: "approvePlan", cycle: 1, planHash: "sha256:0", envelope } }, "c/1/ask:asked"),
  );
  expect([runStatus(asked), asked.waiting?.key]).toEqual(["waiting", "c/1/ask"]);
  const answered = applyEvent(asked, record({ type: "personAnswered", answer: { kind: "approve", revisions: false } }));
  expect(runStatus(answered)).toBe("running");
});

test("of several questions each is answered by itself", () => {
  const ask: Ask = { kind: "gate", phase: "p", text: "Go on?", question: null };
  const asked = ["g/1", "g/2", "g/3"].reduce(
    (state, key) => applyEvent(state, record({ type: "personAsked", ask }, `${key}:asked`)),
    planned(),
  );
  const waiting = (state: RunState) => [state.waiting, ...(state.waitingAlso ?? [])].map((question) => question?.key);
  const answer = (state: RunState, key: string) =>
    applyEvent(state, record({ type: "personAnswered", answer: { kind: "approve", revisions: false } }, key));
  expect(waiting(asked)).toEqual(["g/1", "g/2", "g/3"]);
  const second = answer(asked, "g/2");
  expect(waiting(second)).toEqual(["g/1", "g/3"]);
  const first = answer(second, "g/1");
  expect([waiting(first), runStatus(first), "waitingAlso" in first]).toEqual([["g/3"], "waiting", false]);
  expect(runStatus(answer(first, "g/3"))).toBe("running");
});

test.each([
  ["cycle/1/call/0:started", "cycle/1/call/0"],
  ["cycle/1/call/0", "cycle/1/call/0"],
  ["c:1/call", "c:1/call"],
  ["plain", "plain"],
])("the leaf of %s is %s", (key, leaf) => {
  expect(leafOf(key)).toBe(leaf);
});
