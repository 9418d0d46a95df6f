import { expect, test } from "vitest";
import type { RunStatus, RunSummary } from "../contract/index.ts";
import { noticesOf } from "./notices.ts";

const run = (runId: string, status: RunStatus): RunSummary => ({ runId, title: runId, status, stopReason: null, cycles: 1, tokensUsed: 0, folder: "/", recorded: false, startedAtMs: 0, updatedAtMs: 0, endedAtMs: null, driven: true, cost: null, models: [], workedMs: 0 });
const said = (before: RunSummary[], after: RunSummary[]) => noticesOf(noticesOf(null, before).now, after).news.map(({ run: { runId }, standing }) => `${runId} ${standing}`);

test("a run that begins to wait, passes or fails is said once", () => {
  expect(said([run("a", "running"), run("b", "running"), run("c", "waiting")], [run("a", "waiting"), run("b", "pass"), run("c", "fail")])).toEqual(["a waiting", "b passed", "c failed"]);
  expect(said([run("a", "waiting")], [run("a", "waiting")])).toEqual([]);
});

test("what was there before, or came from elsewhere, is not said", () => {
  expect(noticesOf(null, [run("a", "waiting")]).news).toEqual([]);
  expect(said([], [run("a", "pass"), run("b", "waiting")])).toEqual(["b waiting"]);
});
