// The list of runs: found by words and by when they began, added up, and begun once more with another model.

import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { browser, openWindow, scenario, startApp, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel } from "./fake-model.js";
import { approveBoth, connect, goTo, openTask, press, shows, stands, trySample, waitsForApproval } from "./person.js";

/** One run of the notes that passed. */
async function passed(t, app, page, prices) {
  const fake = await startModel(t);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  await connect(page, { url: fake.url, model });
  if (prices) await app.call("settings_set", { ...(await app.call("settings_get")), prices });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  return fake;
}

scenario("runs are found by words of their results, and by when they began", {}, async ({ t, app, page }) => {
  await passed(t, app, page);
  await goTo(page, "#/");
  await press(page, "Run the sample");
  await waitsForApproval(page, 1);
  await goTo(page, "#/runs");
  const names = () => page.getByRole("row").getByRole("link").allInnerTexts();
  await page.getByRole("row").filter({ hasText: "Three birds" }).waitFor();
  assert.deepEqual(await names(), ["Quarterly expenses", "Three birds"]);
  // A word of what the judge said, not of the name.
  await page.getByLabel("Search names, goals and results").fill("letter names");
  await page.getByRole("row").filter({ hasText: "Quarterly" }).waitFor({ state: "detached" });
  assert.deepEqual(await names(), ["Three birds"]);
  await page.getByRole("combobox", { name: "Since when" }).click();
  await page.getByRole("option", { name: "Today" }).click();
  assert.deepEqual(await names(), ["Three birds"]);
  await check(page, "Runs that were found");
});

for (const theme of ["light", "dark"]) {
  scenario(`runs are found by their model and by what they cost, and a word is shown where it was found (${theme})`, { theme }, async ({ t, app, page }) => {
    await passed(t, app, page, { currency: "USD", models: { [model]: { input: 100, output: 100 } } });
    await goTo(page, "#/");
    await press(page, "Run the sample");
    await waitsForApproval(page, 1);
    await goTo(page, "#/runs");
    const row = (name) => page.getByRole("row").filter({ hasText: name });
    await row("Three birds").getByRole("cell", { name: /^\$\d+\.\d\d$/ }).waitFor();
    await row("Quarterly expenses").getByRole("cell", { name: "–" }).waitFor();
    await page.getByRole("combobox", { name: "Model" }).click();
    await page.getByRole("option", { name: `openai_compatible:${model}` }).click();
    await row("Quarterly").waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Cost" }).click();
    await page.getByRole("option", { name: "Less than $0.01" }).click();
    await shows(page, "No run matches");
    await press(page, "Show all runs");
    await row("Quarterly").waitFor();
    await page.getByLabel("Search names, goals and results").fill("letter names");
    await row("Quarterly").waitFor({ state: "detached" });
    const marks = await row("Three birds").getByRole("mark").allInnerTexts();
    assert.deepEqual(marks.map((word) => word.toLowerCase()).sort(), ["letter", "names"]);
    await check(page, `Runs with where a word was found, ${theme}`);
    await page.getByLabel("Search names, goals and results").fill("");
    await row("Quarterly").waitFor();
    await page.getByRole("radiogroup", { name: "How to look at them" }).getByText("Overview").click();
    await page.getByRole("radiogroup", { name: "What to add up" }).getByText("By model").click();
    await page.getByRole("row", { name: new RegExp(`^openai_compatible:${model} 1 1 of 1 ended \\$`) }).waitFor();
    await check(page, `Overview by model, ${theme}`);
  });
}

scenario("the overview adds runs up, day by day and task by task", {}, async ({ t, app, page }) => {
  await passed(t, app, page);
  await goTo(page, "#/");
  await press(page, "Run the sample");
  await waitsForApproval(page, 1);
  await approveBoth(page);
  await goTo(page, "#/runs");
  await page.getByRole("radiogroup", { name: "How to look at them" }).getByText("Overview").click();
  await shows(page, "2 of 2 ended");
  await page.getByRole("row", { name: /^Quarterly expenses 1 1 of 1 ended/ }).waitFor();
  assert.equal(await page.getByRole("listitem").filter({ hasText: "passed 2" }).count(), 1);
  await check(page, "Overview");
  await page.getByRole("radiogroup", { name: "Which runs" }).getByText("Stopped").click();
  await shows(page, "No run matches");
});

scenario("the same task runs with another model, as a run of its own", {}, async ({ t, app, page }) => {
  const fake = await passed(t, app, page);
  await press(page, "More to do with this run");
  await page.getByRole("menuitem", { name: "Run again with another model" }).click();
  const dialog = page.getByRole("dialog", { name: "Run again with another model" });
  await dialog.getByText(`This run asked openai_compatible:${model}.`).waitFor();
  await check(page, "Another model");
  await dialog.getByRole("radio", { name: `openai_compatible:${model}` }).waitFor();
  await dialog.getByLabel("Model", { exact: true }).fill("openai_compatible:large-2");
  await press(dialog, "Start");
  await waitsForApproval(page, 1);
  assert.equal(fake.seen.at(-1).body.model, "large-2");
  await stands(page, "Waits for you");
});

scenario("why a plan is as it is stays to be read while it runs and afterwards", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  await page.getByRole("radiogroup", { name: "What to look at" }).getByText("Steps").click();
  await press(page, "About this plan");
  const panel = page.getByRole("complementary", { name: "Plan of cycle 2" });
  await panel.getByText("1 changed · 7 as before").waitFor();
  await check(page, "About the plan");
  await panel.getByRole("button", { name: /Find expenses to check/ }).click();
  await page.getByRole("complementary", { name: "Step" }).getByText("Before").first().waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
});

scenario("one can look back at a run, moment by moment, and nothing of back then can be answered", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  await page.getByRole("radiogroup", { name: "What to look at" }).getByText("Steps").click();
  await press(page, "Look back");
  const slider = page.getByRole("slider", { name: "Moment" });
  await slider.focus();
  await page.keyboard.press("Home");
  await shows(page, "Making a plan");
  assert.match(await slider.getAttribute("aria-valuetext"), /^1 of \d+/);
  const at = async (places) => {
    for (let press = 0; press < places; press += 1) await page.keyboard.press("ArrowRight");
  };
  await at(3);
  await page.locator('button[data-step][data-status="waiting"]').first().waitFor();
  assert.equal(await page.locator('button[data-step][data-status="done"]').count(), 0);
  assert.equal(await page.getByRole("button", { name: "Approve", exact: true }).count(), 0);
  assert.equal(await page.locator("[data-cycle]").count(), 1);
  await check(page, "Looking back");
  await page.keyboard.press("End");
  await page.locator('[data-cycle="2"]').waitFor();
  await press(page, "Back to how it is now");
  await slider.waitFor({ state: "detached" });
});

for (const theme of ["light", "dark"]) {
  scenario(`a run goes to another computer as a file, and is looked at there (${theme})`, { theme }, async ({ t, app, page }) => {
    await trySample(page);
    await approveBoth(page);
    const file = join(temporaryFolder(t, "files"), "run.tepa");
    await app.picks({ save: [file] });
    await press(page, "More to do with this run");
    await page.getByRole("menuitem", { name: "Save as a file" }).click();
    const dialog = page.getByRole("dialog", { name: "Save as a file" });
    await dialog.getByRole("radio", { name: "The whole run (.tepa)" }).waitFor();
    await check(page, "A run as a file");
    await press(dialog, "Save…");
    await shows(page, "Saved as run.tepa. It can be imported on another computer.");
    assert.equal(existsSync(file), true);
    const other = await startApp(t);
    const there = await openWindow(t, other, { theme });
    await other.picks({ file: [file] });
    await goTo(there, "#/runs");
    await press(there, "Import");
    await stands(there, "Passed");
    await shows(there, "Passed in the second cycle.");
    await check(there, "A run from another computer");
    await other.picks({ file: [file] });
    await goTo(there, "#/runs");
    await there.getByRole("link", { name: "Quarterly expenses" }).waitFor();
    await press(there, "Import");
    await shows(there, /is in the history already/);
    assert.deepEqual(there.complaints, []);
  });

  scenario(`a run file that is opened with the app is imported when one says so (${theme})`, { theme }, async ({ t, app, page }) => {
    await trySample(page);
    await approveBoth(page);
    const [{ runId }] = (await app.call("run_list", { limit: 1 })).runs;
    const file = join(temporaryFolder(t, "files"), "from-ada.tepa");
    await app.call("run_export", { runId, path: file });
    const other = await startApp(t);
    await other.hand(file);
    const there = await openWindow(t, other, { theme });
    const dialog = there.getByRole("dialog", { name: "Import “from-ada.tepa”?" });
    await dialog.getByText("Nothing in it is started").waitFor();
    await check(there, `A file opened with the app, ${theme}`);
    await press(dialog, "Cancel");
    await dialog.waitFor({ state: "detached" });
    assert.equal((await other.call("run_list", { limit: 10 })).runs.length, 0);
    await other.hand(file);
    await press(dialog, "Import");
    await shows(there, "Passed in the second cycle.");
    writeFileSync(file, "not a run");
    await other.hand(file);
    await press(dialog, "Import");
    await dialog.getByRole("button", { name: "Close" }).last().waitFor();
    await dialog.getByText(/not a run|cannot be read/).first().waitFor();
    assert.deepEqual(there.complaints, []);
  });

  scenario(`a report of a run can be read without the app (${theme})`, { theme }, async ({ t, app, page }) => {
    await trySample(page);
    await approveBoth(page);
    const file = join(temporaryFolder(t, "files"), "report.html");
    await app.picks({ save: [file] });
    await press(page, "More to do with this run");
    await page.getByRole("menuitem", { name: "Save as a file" }).click();
    const dialog = page.getByRole("dialog", { name: "Save as a file" });
    await dialog.getByRole("radio", { name: "A report (.html)" }).check();
    await press(dialog, "Save…");
    await shows(page, "Saved as report.html.");
    const context = await (await browser()).newContext({ colorScheme: theme, viewport: { width: 1280, height: 800 } });
    t.after(() => context.close());
    const report = await context.newPage();
    const asked = [];
    report.on("request", (request) => asked.push(request.url()));
    await report.goto(`file://${file}`);
    await report.getByRole("heading", { name: "Quarterly expenses" }).waitFor();
    await report.getByText("Passed", { exact: true }).waitFor();
    await report.getByRole("columnheader", { name: "Cycle 2" }).waitFor();
    assert.deepEqual(asked, [`file://${file}`]);
    await check(report, "A report");
  });

  scenario(`deleting says what goes, and takes just that (${theme})`, { theme }, async ({ app, page }) => {
    await trySample(page);
    await approveBoth(page);
    await goTo(page, "#/");
    await press(page, "Run the sample");
    await waitsForApproval(page, 1);
    await goTo(page, "#/runs");
    const boxes = page.getByRole("checkbox", { name: "Choose Quarterly expenses" });
    await boxes.first().waitFor();
    await boxes.first().click();
    await press(page, "Delete the run");
    const dialog = page.getByRole("dialog", { name: "Delete “Quarterly expenses”?" });
    await dialog.getByText(/This goes for good: \d+ entries of the history, and \d+ recorded values? that nothing else uses/).waitFor();
    await check(page, "Deleting a run");
    // The newest one waits for its approval, and is at work therefore.
    await press(dialog, "Delete the run");
    await shows(page, /is at work, and is not deleted meanwhile/);
    await press(dialog, "Keep");
    await dialog.waitFor({ state: "detached" });
    await boxes.first().click();
    await boxes.nth(1).click();
    await press(page, "Delete the run");
    await press(dialog, "Delete the run");
    // What is said about it goes by itself; that the run is gone stays.
    await boxes.nth(1).waitFor({ state: "detached" });
    assert.equal((await app.call("run_list", { limit: 10 })).runs.length, 1);
  });
}
