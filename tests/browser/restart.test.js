// A power cut in the middle of the work: nothing is lost, and one click goes on.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openWindow, scenario, startApp } from "./app.js";
import { goTo, press, show, shows, stands, step, trySample, waitsForApproval } from "./person.js";

test("a run that was killed at work shows as interrupted, and one click brings it to its verdict", async (t) => {
  const first = await startApp(t, { natural: true });
  const before = await openWindow(t, first);
  await trySample(before);
  await press(before, "Approve");
  // The first steps are done, and a model is being asked.
  await before.locator('button[data-step="step_6"][data-status="running"]').waitFor();
  await first.kill();
  await before.context().close();

  const second = await startApp(t, { data: first.data, natural: true });
  const page = await openWindow(t, second);
  await shows(page, "The app closed while this run was at work.");
  await page.getByRole("link", { name: /Quarterly expenses/ }).click();
  await stands(page, "Interrupted");
  await step(page, "Total by category").and(page.locator("[data-status=done]")).waitFor();
  await press(page.getByRole("status").filter({ hasText: "This run was interrupted." }), "Continue");
  await waitsForApproval(page, 2);
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
  const finished = (await events(second)).flatMap(({ event }) => (event.type === "stepFinished" ? [`${event.cycle} ${event.step}`] : []));
  assert.equal(new Set(finished).size, finished.length, "no step was done twice");
  assert.deepEqual([...before.complaints, ...page.complaints], []);
});

test("a run that waited when the app was killed waits again", async (t) => {
  const first = await startApp(t);
  await trySample(await openWindow(t, first));
  await first.kill();
  const second = await startApp(t, { data: first.data });
  const page = await openWindow(t, second);
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await waitsForApproval(page, 2);
});

scenario("a window that lost the app finds it again by itself", {}, async ({ t, app, page }) => {
  await trySample(page);
  await app.kill();
  await startApp(t, { data: app.data, port: Number(new URL(app.url).port) });
  await page.getByRole("button", { name: "Approve", exact: true }).click();
  await waitsForApproval(page, 2);
  await goTo(page, "#/runs");
  await shows(page, "Waits for you");
  page.complaints = page.complaints.filter((complaint) => !complaint.includes("net::ERR"));
});

/** Everything that the only run of this app recorded. */
async function events(app) {
  const [run] = (await app.call("run_list", { status: [], limit: 10 })).runs;
  return (await app.call("run_events", { runId: run.runId, fromSeq: 0, limit: 1000 })).events;
}
