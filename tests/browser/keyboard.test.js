// The journeys of a person who has no mouse: each is walked once with Tab, arrows, Enter, Space and shortcuts alone.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openWindow, scenario, startApp, temporaryFolder } from "./app.js";
import { letter, model, notesTask, startModel, usualAnswers, wanting } from "./fake-model.js";
import { connect, goTo, shows, stands, tabTo, trySample, waitsForApproval } from "./person.js";

/** Goes to what is called so, and presses it. */
async function choose(page, name) {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

/** Goes on with Tab until a field that is called so has the focus. */
async function toField(page, name) {
  const wanted = page.getByRole("textbox", { name }).or(page.getByRole("spinbutton", { name })).and(page.locator(":focus"));
  for (let presses = 0; presses < 120; presses += 1) {
    if (await wanted.count()) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`the focus does not come to ${name}`);
}

/** Opens a menu and chooses an item of it by the arrows. */
async function chooseIn(page, menu, item) {
  await choose(page, menu);
  const wanted = page.getByRole("menuitem", { name: item }).and(page.locator(":focus"));
  await page.getByRole("menuitem", { name: item }).waitFor();
  for (let presses = 0; presses < 20 && !(await wanted.count()); presses += 1) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
}

/** A run of the notes' task that waits for its first plan to be approved; only the connection is made with a mouse. */
async function planned(t, app, page, answers = usualAnswers, lines = "") {
  const fake = await startModel(t, answers);
  const folder = temporaryFolder(t, "birds");
  const file = join(folder, "birds.yaml");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(file, notesTask + lines);
  await connect(page, { url: fake.url, model });
  await app.picks({ file: [file] });
  await page.keyboard.press("Control+n");
  await page.getByRole("textbox", { name: "What do you want done?" }).waitFor();
  await page.keyboard.press("Control+o");
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await choose(page, "Make a plan");
  await waitsForApproval(page, 1);
  return { fake, folder };
}

scenario("a task is written from nothing, planned, changed in words, approved and passes", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  await connect(page, { url: fake.url, model });
  await page.keyboard.press("Control+n");
  await page.getByRole("textbox", { name: "What do you want done?" }).and(page.locator(":focus")).waitFor();
  await page.keyboard.type("Write a letter about the birds in the notes");
  await app.picks({ folder: [folder] });
  await choose(page, "Choose a folder");
  await toField(page, "File name");
  await page.keyboard.type("letter.md");
  await toField(page, "What it is");
  await page.keyboard.type("A short letter");
  await toField(page, "What must hold");
  await page.keyboard.type("Says how many birds there are");
  await page.keyboard.press("Enter");
  await page.keyboard.type("At most 50 words");
  await choose(page, "Use it");
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await choose(page, "Make a plan");
  await waitsForApproval(page, 1);
  await choose(page, "Ask for changes");
  await toField(page, "What should be different?");
  await page.keyboard.type("Mention the weather.");
  await page.keyboard.press("Control+Enter");
  await shows(page, "asked for changes: Mention the weather.");
  await waitsForApproval(page, 1);
  await choose(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  assert.ok(existsSync(join(folder, "letter.md")));
});

scenario("a run that did not pass is accepted anyway", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { ...usualAnswers, judgement: wanting(1) }, "limits: { maxCycles: 1 }\n");
  await choose(page, "Approve");
  await stands(page, "Did not pass");
  await choose(page, "Accept the results");
  await page.getByRole("dialog", { name: "Accept the results as they are?" }).waitFor();
  await toField(page, "Why?");
  await page.keyboard.type("Good enough for today.");
  await choose(page, "Accept");
  await stands(page, "Passed");
});

scenario("a run that used up its cycles goes on with a person's words", {}, async ({ t, app, page }) => {
  const letters = ["Three birds: there are three birds.", letter];
  await planned(t, app, page, { ...usualAnswers, text: () => letters.shift(), judgement: wanting(1) }, "limits: { maxCycles: 1 }\n");
  await choose(page, "Approve");
  await stands(page, "Did not pass");
  await toField(page, "What should the next try do differently?");
  await page.keyboard.type("Write it warmly.");
  await choose(page, "Try again with this");
  await waitsForApproval(page, 2);
});

scenario("a run that used up its tokens is given more", {}, async ({ t, app, page }) => {
  await planned(t, app, page, usualAnswers, "limits: { maxTokens: 200 }\n");
  await choose(page, "Approve");
  await stands(page, "Stopped");
  await toField(page, "Tokens");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("5000");
  await choose(page, "Give it more and continue");
  await shows(page, "Passed in the first cycle.");
});

scenario("a step that wants more than was granted is told no, and why", {}, async ({ t, app, page }) => {
  const beside = join(temporaryFolder(t, "beside"), "notes.txt");
  writeFileSync(beside, "A heron, a wren, an owl.\n");
  await planned(t, app, page, { ...usualAnswers, tool: () => ({ name: "file_read", input: { path: beside } }) });
  await choose(page, "Approve");
  await page.getByRole("region", { name: "May this step do this?" }).waitFor();
  await choose(page, "No");
  await toField(page, "Why not?");
  await page.keyboard.type("Use the copy in the folder.");
  await choose(page, "Do not allow");
  await waitsForApproval(page, 2);
});

scenario("a plan is rejected with a reason", {}, async ({ t, app, page }) => {
  await planned(t, app, page);
  await choose(page, "Reject");
  await page.getByRole("dialog").waitFor();
  await toField(page, "Why?");
  await page.keyboard.type("These are not my birds.");
  await choose(page, "Reject the plan");
  await stands(page, "Rejected");
});

test("an interrupted run is continued after a crash", async (t) => {
  const first = await startApp(t, { natural: true });
  const before = await openWindow(t, first);
  await trySample(before);
  await choose(before, "Approve");
  await before.locator('button[data-step="step_6"][data-status="running"]').waitFor();
  await first.kill();
  await before.context().close();
  const second = await startApp(t, { data: first.data });
  const page = await openWindow(t, second);
  await shows(page, "The app closed while this run was at work.");
  await choose(page, /^Continue .*Quarterly expenses/);
  await page.keyboard.press("Control+2");
  await shows(page, "Waits for you");
});

scenario("a run is saved as a file and opened with a fresh profile", {}, async ({ t, app, page }) => {
  await trySample(page);
  await choose(page, "Approve");
  await waitsForApproval(page, 2);
  await choose(page, "Approve");
  await shows(page, "Passed in the second cycle.");
  const file = join(temporaryFolder(t), "run.tepa");
  await app.picks({ save: [file] });
  await chooseIn(page, "More to do with this run", "Save as a file");
  await page.getByRole("dialog", { name: "Save as a file" }).waitFor();
  await choose(page, "Save…");
  await shows(page, /^Saved as run\.tepa/);
  assert.ok(existsSync(file));
  const other = await startApp(t);
  const there = await openWindow(t, other);
  await goTo(there, "#/runs");
  await other.picks({ file: [file] });
  await choose(there, "Import");
  await stands(there, "Passed");
  assert.deepEqual(there.complaints, []);
});
