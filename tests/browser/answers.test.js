// What a person can say to a plan other than yes, and to a run that is at work.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, show, shows, stands, trySample, waitsForApproval } from "./person.js";

scenario("rejecting the plan ends the run and says so", {}, async ({ page }) => {
  await trySample(page);
  await press(page, "Reject");
  const dialog = page.getByRole("dialog", { name: "Reject this plan?" });
  await dialog.getByLabel("Why?").fill("These are not my expenses.");
  await press(dialog, "Reject the plan");
  await shows(page, "You rejected the plan. Nothing further was done.");
  await stands(page, "Rejected");
  await show(page, "Steps");
  await shows(page, "rejected the plan: These are not my expenses.");
});

scenario("asking for changes makes another plan of the same cycle", {}, async ({ t, app, page }) => {
  const renamed = JSON.stringify({ ...JSON.parse(usualAnswers.plan()), reasoning: "Only the wren is told of." });
  const fake = await startModel(t, { ...usualAnswers, plan: () => (fake.asked.length > 1 ? renamed : usualAnswers.plan()) });
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Ask for changes");
  await page.getByLabel("What should be different?").fill("Name only the wren.");
  await press(page, "Make another plan");
  await shows(page, "Only the wren is told of.");
  await shows(page, "asked for changes: Name only the wren.");
  assert.match(JSON.stringify(fake.seen.at(-1).body.messages), /Name only the wren\./);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
});

scenario("changes that a recording has never heard of are refused kindly, and the run is kept", {}, async ({ app, page }) => {
  await trySample(page);
  assert.equal(await page.getByRole("button", { name: "Ask for changes" }).count(), 0, "not offered where it cannot work");
  const [{ runId }] = (await app.call("run_list", { limit: 1 })).runs;
  const asked = (await app.call("run_events", { runId, fromSeq: 1, limit: 100 })).events.find(({ event }) => event.type === "personAsked");
  const answer = { kind: "askForChanges", words: "Leave out the meals." };
  await app.call("run_answer", { runId, key: asked.key.replace(/:asked$/, ""), answer });
  await stands(page, "Did not pass");
  await shows(page, /recording/);
  await show(page, "Steps");
  await shows(page, "asked for changes: Leave out the meals.");
  await goTo(page, "#/runs");
  await page.getByRole("link", { name: "Quarterly expenses" }).waitFor();
});

scenario("stopping a run at work ends it as stopped, and it can be run again", { natural: true }, async ({ page }) => {
  await trySample(page);
  await press(page, "Approve");
  await stands(page, "Running");
  await press(page, "Stop");
  const dialog = page.getByRole("dialog", { name: "Stop this run?" });
  await dialog.getByText("What was finished is kept").waitFor();
  await press(dialog, "Stop");
  await stands(page, "Stopped");
  await shows(page, "You stopped the run.");
  await goTo(page, "#/");
  await shows(page, "Stopped · 1 cycle");
  await page.getByRole("link", { name: /Quarterly expenses/ }).click();
  assert.equal(await page.getByRole("button", { name: "Continue" }).count(), 0, "what a person ended stays ended");
  await press(page, "Run again");
  await waitsForApproval(page, 1);
});

scenario("keeping going leaves the run at work", { natural: true }, async ({ page }) => {
  await trySample(page);
  await press(page, "Approve");
  await press(page, "Stop");
  await press(page, "Keep going");
  await waitsForApproval(page, 2);
});

scenario("approving revisions asks no second time", {}, async ({ page }) => {
  await trySample(page);
  await press(page, "More ways to approve");
  await page.getByRole("menuitem", { name: /Approve this and its revisions/ }).click();
  await shows(page, "Passed in the second cycle.");
  await show(page, "Steps");
  await shows(page, "Plan inside what you approved before");
});

scenario("what waits for an answer is counted in the rail and found on Home", {}, async ({ page }) => {
  await trySample(page);
  await page.getByLabel("1 run waits for you").waitFor();
  await goTo(page, "#/");
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await waitsForApproval(page, 2);
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
  assert.equal(await page.getByLabel(/waits? for you$/).count(), 0);
});
