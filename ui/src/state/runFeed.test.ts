import { expect, test } from "vitest";
import type { RunEventRecord } from "../contract/index.ts";
import { RunFeed } from "./runFeed.ts";

function cycles(count: number): RunEventRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    runId: "r",
    seq: index + 1,
    atMs: index,
    key: `cycle/${index + 1}`,
    event: { type: "cycleStarted", cycle: index + 1 },
  }));
}

function source(all: RunEventRecord[], texts: { key: string; text: string; reasoning: string }[] = []) {
  return {
    events: (from: number, limit: number) => Promise.resolve(all.slice(from - 1, from - 1 + limit)),
    deltas: () => Promise.resolve(texts),
  };
}

test("reads every page", async () => {
  const feed = new RunFeed(source(cycles(1203)));
  await feed.pull();
  expect([feed.current().length, feed.current().state.lastSeq, feed.current().phase]).toEqual([1203, 1203, "ready"]);
});

test("a long history is drawn once, and what follows as it comes", async () => {
  const all = cycles(2500);
  const feed = new RunFeed(source(all));
  const drawn: [number, number][] = [];
  feed.onView(() => drawn.push([feed.current().length, feed.current().state.lastSeq]));
  await feed.pull();
  expect(drawn).toEqual([[2500, 2500]]);
  const before = feed.current().state;
  all.push(...cycles(2501).slice(2500));
  feed.hear({ kind: "advanced", runId: "r", seq: 2501 }, "r");
  await feed.pull();
  await Promise.resolve();
  expect(feed.current().state.lastSeq).toBe(2501);
  expect(before.lastSeq).toBe(2500);
});

test("what was read of a long history is drawn when the rest cannot be", async () => {
  let left = 2;
  const good = source(cycles(2500));
  const feed = new RunFeed({ ...good, events: (from, limit) => (left-- > 0 ? good.events(from, limit) : Promise.reject({ code: "store", message: "gone" })) });
  await feed.pull();
  expect([feed.current().phase, feed.current().state.lastSeq, feed.current().error?.code]).toEqual(["ready", 2000, "store"]);
});

test("says that it failed when the first page cannot be read, and recovers", async () => {
  let broken = true;
  const good = source(cycles(2));
  const feed = new RunFeed({
    ...good,
    events: (from, limit) => (broken ? Promise.reject({ code: "store", message: "gone" }) : good.events(from, limit)),
  });
  await feed.pull();
  expect([feed.current().phase, feed.current().error?.code]).toEqual(["failed", "store"]);
  broken = false;
  await feed.pull();
  expect([feed.current().phase, feed.current().error]).toEqual(["ready", null]);
});

test("running text is put together by its offset", () => {
  const feed = new RunFeed(source([]));
  feed.hear({ kind: "delta", runId: "r", key: "c", offset: 0, text: "Trav" }, "r");
  feed.hear({ kind: "delta", runId: "r", key: "c", offset: 4, text: "el rose" }, "r");
  feed.hear({ kind: "delta", runId: "r", key: "c", offset: 0, text: "Again" }, "r");
  feed.hear({ kind: "delta", runId: "other", key: "c", offset: 5, text: "no" }, "r");
  expect(feed.textOf("c")).toBe("Again");
});

test("a gap in the running text is filled from the app", async () => {
  const feed = new RunFeed(source([], [{ key: "c", text: "Travel rose", reasoning: "" }]));
  feed.hear({ kind: "delta", runId: "r", key: "c", offset: 7, text: "rose" }, "r");
  await Promise.resolve();
  await Promise.resolve();
  expect(feed.textOf("c")).toBe("Travel rose");
});

test("takes everything in at once, and says so when there is time to draw", async () => {
  const drawn: (() => void)[] = [];
  let told = 0;
  const feed = new RunFeed(source(cycles(2500)), (run) => drawn.push(run));
  feed.onView(() => (told += 1));
  await feed.pull();
  expect([feed.current().length, told, drawn.length]).toEqual([2500, 0, 1]);
  drawn.pop()?.();
  expect(told).toBe(1);
});

test("asks for the whole text once at a time, however many pieces it missed", async () => {
  let asked = 0;
  const feed = new RunFeed({
    ...source([]),
    deltas: () => {
      asked += 1;
      return Promise.resolve([]);
    },
  });
  for (let piece = 1; piece <= 1000; piece += 1) feed.hear({ kind: "delta", runId: "r", key: "k", offset: piece, text: "x" }, "r");
  expect(asked).toBe(1);
  await feed.catchUpTexts();
  await new Promise((done) => queueMicrotask(() => queueMicrotask(() => queueMicrotask(() => done(null)))));
  expect(asked).toBe(2);
});
