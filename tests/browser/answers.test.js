// What a person can say to a plan other than yes, and to a run that is at work.

import assert from "node:assert/strict";
import { scenario } from "./app.js";
import { goTo, press, show, shows, stands, trySample, waitsForApproval } from "./person.js";

scenario("rejecting the plan ends the run and says so", {}, async ({ page }) => {
  await trySample(page);
  await press(page, "Reject");
  const dialog = page.getByRole("dialog", { name: "Reject this plan?" });
  await dialog.getByLabel("Why?").fill("These are not my expenses.");
  await press(dialog, "Reject the plan");
  await shows(page, "You rejected the plan. Nothing further was done.");
  await stands(page, "Did not pass");
  await show(page, "Steps");
  await shows(page, "rejected the plan: These are not my expenses.");
});

scenario("changes that the recording does not know are refused kindly, and the run is kept", {}, async ({ page }) => {
  await trySample(page);
  await press(page, "Ask for changes");
  await page.getByLabel("What should be different?").fill("Leave out the meals.");
  await press(page, "Make another plan");
  await shows(page, /recording/);
  await stands(page, "Did not pass");
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
  await page.getByRole("link", { name: "Review the plan" }).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await waitsForApproval(page, 2);
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
  assert.equal(await page.getByLabel(/waits? for you$/).count(), 0);
});
