import { expect, test } from "vitest";
import type { RunStatus, RunSummary } from "../contract/index.ts";
import { byDay, byTask, since, sumOf } from "./history.ts";

const noon = new Date(2026, 4, 20, 12).getTime();
const hours = (count: number) => count * 3_600_000;

function run(title: string, status: RunStatus, tokensUsed: number, startedAtMs = noon): RunSummary {
  return { runId: `${title}${startedAtMs}`, title, status, stopReason: null, cycles: 2, tokensUsed, folder: "/f", recorded: false, startedAtMs, updatedAtMs: startedAtMs, endedAtMs: null, driven: false };
}

const runs = [run("A", "pass", 10), run("B", "fail", 20, noon - hours(24)), run("A", "terminated", 30, noon - hours(72)), run("A", "waiting", 5)];

test("runs add up; a run that is not at its end is neither passed nor failed", () => {
  expect(sumOf(runs)).toEqual({ runs: 4, ended: 3, passed: 1, tokens: 65, cycles: 8 });
});

test("tasks are listed with most runs first", () => {
  expect(byTask(runs).map(({ title, runs: count, passed, ended }) => [title, count, passed, ended])).toEqual([
    ["A", 3, 1, 2],
    ["B", 1, 0, 1],
  ]);
});

test("days without a run are there, too", () => {
  expect(byDay(runs, noon, 4).map(({ passed, failed, stopped, open }) => [passed, failed, stopped, open])).toEqual([
    [0, 0, 1, 0],
    [0, 0, 0, 0],
    [0, 1, 0, 0],
    [1, 0, 0, 1],
  ]);
});

test.each([
  ["any", 0],
  ["today", 12],
  ["week", 12 + 6 * 24],
  ["month", 12 + 29 * 24],
] as const)("%s begins %d hours ago", (period, ago) => {
  expect(since(period, noon)).toBe(period === "any" ? 0 : noon - hours(ago));
});
