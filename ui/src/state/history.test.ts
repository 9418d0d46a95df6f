import { expect, test } from "vitest";
import type { RunStatus, RunSummary } from "../contract/index.ts";
import { byDay, byModel, byTask, costRanges, moneyOf, moneyWords, since, sumOf } from "./history.ts";

const noon = new Date(2026, 4, 20, 12).getTime();
const hours = (count: number) => count * 3_600_000;

function run(title: string, status: RunStatus, tokensUsed: number, startedAtMs = noon, more: Partial<RunSummary> = {}): RunSummary {
  return { ...plain(title, status, tokensUsed, startedAtMs), ...more };
}

function plain(title: string, status: RunStatus, tokensUsed: number, startedAtMs: number): RunSummary {
  return { runId: `${title}${startedAtMs}`, title, status, stopReason: null, cycles: 2, tokensUsed, cost: null, models: [], workedMs: 1000, folder: "/f", recorded: false, startedAtMs, updatedAtMs: startedAtMs, endedAtMs: null, driven: false };
}

const runs = [run("A", "pass", 10), run("B", "fail", 20, noon - hours(24)), run("A", "terminated", 30, noon - hours(72)), run("A", "waiting", 5)];

test("runs add up; a run that is not at its end is neither passed nor failed", () => {
  expect(sumOf(runs)).toEqual({ runs: 4, ended: 3, passed: 1, tokens: 65, cycles: 8, money: { amounts: {}, partial: false }, timeMs: 4000 });
});

const priced = (amount: number, currency: string, unpriced: string[] = []) => ({ cost: { amount, currency, unpriced } });

test("money adds up in each currency, and says when a price is missing", () => {
  const { money } = sumOf([run("A", "pass", 1, noon, priced(0.25, "USD")), run("B", "pass", 1, noon, priced(0.5, "EUR")), run("C", "pass", 1, noon, priced(0.5, "USD", ["x:y"]))]);
  expect(money).toEqual({ amounts: { USD: 0.75, EUR: 0.5 }, partial: true });
  expect(moneyWords(money)).toBe("≥ $0.75 + €0.50");
});

test.each([
  [null, "–"],
  [{ amount: 0, currency: "", unpriced: ["x:y"] }, "–"],
  [{ amount: 0, currency: "USD", unpriced: [] }, "$0.00"],
])("what is not known is not nothing: %j is %s", (cost, words) => expect(moneyWords(moneyOf({ cost }))).toBe(words));

test("a model has what was used of it, and every run that asked it", () => {
  const use = (model: string, tokens: number, cost: number | null) => ({ model, tokens, cost, timeMs: 10 });
  const asked = [
    run("A", "pass", 30, noon, { ...priced(3, "USD", ["b:free"]), models: [use("a:large", 20, 3), use("b:free", 10, null)] }),
    run("B", "fail", 5, noon, { ...priced(1, "USD"), models: [use("a:large", 5, 1)] }),
  ];
  expect(byModel(asked).map(({ title, runs: count, ended, passed, tokens, money, timeMs }) => [title, count, ended, passed, tokens, moneyWords(money), timeMs])).toEqual([
    ["a:large", 2, 2, 1, 25, "$4.00", 20],
    ["b:free", 1, 1, 1, 10, "–", 10],
  ]);
});

test("the ranges of cost follow one another without a gap", () => {
  for (const [index, range] of costRanges.entries()) expect(range.below).toBe(costRanges[index + 1]?.from);
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
