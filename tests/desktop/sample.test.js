// The first journey in the real window: a sample, a plan to approve, a failed check, a revised plan, a verdict; what
// is left of it after a restart, and after a power cut in the middle.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setInterval } from "node:timers/promises";
import { openWindow } from "./window.js";

/** The whole sample types as a person would see it, so it takes its time. */
const aWhile = 60_000;

/** Approves the plan of a cycle once it is there. */
async function approve(window, cycle) {
  await window.shows(cycle === 1 ? "May this plan run?" : "May the revised plan run?", aWhile);
  await window.press("Approve");
}

test("the sample fails a check, is revised, passes, and is in the history after a restart", async (t) => {
  const window = await openWindow(t);
  await window.press("Try the sample");
  await window.shows("May this plan run?", aWhile);
  await window.shows("Find expenses to check");
  await window.picture("plan");
  await window.press("Approve");
  await window.shows("May the revised plan run?", aWhile);
  await window.shows("1 changed · 7 as before");
  await window.picture("revised-plan");
  await window.press("Approve");
  await window.shows("Passed in the second cycle.", aWhile);
  await window.shows("Every expense is listed once");
  assert.match(await window.text(), /id \d+ twice/, "the first cycle's evidence is there");
  assert.deepEqual(await window.violations(), []);
  await window.picture("verdict");
  const [place] = folders(join(window.data, "samples"));
  assert.deepEqual(["report.md", "flagged.csv"].map((name) => existsSync(join(place, name))), [true, true]);

  await window.close();
  const again = await openWindow(t, { data: window.data });
  await again.press("Runs");
  await again.shows("Quarterly expenses");
  await again.picture("runs");
  await again.press("Quarterly expenses");
  await again.shows("Passed in the second cycle.");
});

test("a run that was killed in the middle goes on with one click", async (t) => {
  const window = await openWindow(t);
  await window.press("Try the sample");
  await approve(window, 1);
  await isAtWork(window);
  await window.kill();

  const again = await openWindow(t, { data: window.data });
  await again.shows("Interrupted");
  await again.picture("interrupted");
  await again.press("Continue Quarterly expenses");
  await again.shows("Review", aWhile);
  await again.press("Review");
  await approve(again, 2);
  await again.shows("Passed in the second cycle.", aWhile);
});

/** Waits until the history says that the only run is at work: on a slow machine the page says so when it is too late. */
async function isAtWork(window) {
  const history = new DatabaseSync(join(window.data, "tepa.db"), { readOnly: true });
  try {
    const status = history.prepare("SELECT status FROM run");
    for await (const _ of setInterval(5)) {
      const now = status.get()?.status;
      if (now === "running") return;
      assert.equal(now, "waiting", "the run goes on once its plan is approved");
    }
  } finally {
    history.close();
  }
}

function folders(parent) {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(parent, entry.name));
}
