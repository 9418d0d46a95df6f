// A person changes the plan before they approve it: by the form, by the lines of the graph, by keyboard alone. What is
// wrong stands on the step, and what was approved is what runs.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel } from "./fake-model.js";
import { connect, goTo, openTask, press, show, shows, step, tabTo, waitsForApproval } from "./person.js";

/** The plan of the notes, as it waits for an answer. */
async function planned(t, app, page) {
  const fake = await startModel(t);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  return { fake, folder };
}

const panel = (page) => page.getByRole("complementary", { name: "Change the plan" });
const approves = (page) => panel(page).getByRole("button", { name: "Approve my plan" });

for (const theme of ["light", "dark"]) {
  scenario(`a changed plan is marked where it is wrong, and runs as it was approved (${theme})`, { theme }, async ({ t, app, page }) => {
    const { folder } = await planned(t, app, page);
    await press(page, "Edit");
    await panel(page).getByRole("button", { name: "Approve", exact: true }).and(page.locator(":enabled")).waitFor();
    await check(page, "Changing a plan");
    await step(page, "Write the letter").click();
    const form = panel(page);
    await form.getByLabel("Name", { exact: true }).fill("Write three words");
    await form.getByLabel("What it does").fill("");
    await form.getByText("Say what this step does.").first().waitFor();
    await step(page, "Write three words").and(page.locator("[data-problem]")).waitFor();
    assert.equal(await approves(page).isDisabled(), true);
    await check(page, "A step that is wrong");
    await form.getByLabel("What it does").fill("Write the letter in three words");
    await form.getByLabel("content", { exact: true }).fill("three birds here");
    await page.locator("button[data-problem]").first().waitFor({ state: "detached" });
    await press(form, "Close (Esc)");
    await form.getByRole("button", { name: /Write three words/ }).waitFor();
    await check(page, "What was changed");
    await approves(page).and(page.locator(":enabled")).click();
    await shows(page, /^Passed|^Did not pass|thing is missing/);
    assert.equal(readFileSync(join(folder, "letter.md"), "utf8"), "three birds here");
    await show(page, "Steps");
    await page.getByRole("textbox", { name: "Filter" }).fill("the plan");
    await shows(page, "approved the plan with changes");
    await shows(page, "changed the plan: Write three words");
    await step(page, "Write three words").and(page.locator("[data-mark=changed]")).waitFor();
    await press(page, "About this plan");
    await shows(page, "What changed since the plan before");
  });
}

scenario("steps are added, connected and deleted, and everything can be undone", {}, async ({ t, app, page }) => {
  await planned(t, app, page);
  await press(page, "Edit");
  const form = panel(page);
  await press(form, "Add a step");
  await step(page, "New step").and(page.locator("[data-problem]")).waitFor();
  await form.getByLabel("What it does").fill("Count the birds");
  await form.getByLabel("What it should give").fill("A number");
  await form.getByRole("combobox", { name: "Gets the results of" }).click();
  await page.getByRole("option", { name: "Read the notes" }).click();
  await page.keyboard.press("Escape");
  await page.locator("button[data-problem]").first().waitFor({ state: "detached" });
  await approves(page).and(page.locator(":enabled")).waitFor();
  // A circle is said at every step of it.
  await step(page, "Read the notes").click();
  await form.getByRole("combobox", { name: "Gets the results of" }).click();
  await page.getByRole("option", { name: "Write the letter" }).click();
  await page.keyboard.press("Escape");
  await form.getByRole("list", { name: "What has to be put right" }).getByText(/Circular dependency/).waitFor();
  for (const name of [/^Read the notes/, /^Tell it briefly/, /^Write the letter/]) await step(page, name).and(page.locator("[data-problem]")).waitFor();
  await press(form, "Undo");
  await page.locator("button[data-problem]").first().waitFor({ state: "detached" });
  // What was read of the step that goes is missed by the step that reads it.
  await step(page, "Tell it briefly").click();
  await press(form, "Delete this step");
  await step(page, "Write the letter").and(page.locator("[data-problem]")).waitFor();
  await press(form, "Undo");
  await page.locator("button[data-problem]").first().waitFor({ state: "detached" });
  await press(form, "Redo");
  await step(page, "Write the letter").and(page.locator("[data-problem]")).waitFor();
  // The change waits while other screens are looked at.
  await goTo(page, "#/runs");
  await page.getByRole("link", { name: "Three birds" }).click();
  await step(page, "Write the letter").and(page.locator("[data-problem]")).waitFor();
  await press(page, "Discard changes");
  await page.getByRole("complementary", { name: "May this plan run?" }).waitFor();
  assert.deepEqual(await page.locator("button[data-step]").count(), 3);
});

scenario("a line of the graph is taken away and drawn again", {}, async ({ t, app, page }) => {
  await planned(t, app, page);
  await press(page, "Edit");
  await step(page, "Write the letter").waitFor();
  const line = page.locator('[data-id="step:step_2->step:step_3"]');
  await line.locator(".react-flow__edge-interaction").dispatchEvent("click");
  await shows(page, "“Write the letter” gets the result of “Tell it briefly”.");
  await check(page, "A line that was chosen");
  await press(page, "Disconnect");
  await line.waitFor({ state: "detached" });
  await step(page, "Write the letter").and(page.locator("[data-problem]")).waitFor();
  const foot = await page.locator('[data-id="step:step_2"] .react-flow__handle-bottom').boundingBox();
  const head = await page.locator('[data-id="step:step_3"] .react-flow__handle-top').boundingBox();
  const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(...middle(foot));
  await page.mouse.down();
  await page.mouse.move(...middle(head), { steps: 5 });
  await page.mouse.up();
  await line.waitFor({ state: "attached" });
  await page.locator("button[data-problem]").first().waitFor({ state: "detached" });
});

scenario("a plan is changed and approved by keyboard alone", {}, async ({ t, app, page }) => {
  const { folder } = await planned(t, app, page);
  const enter = async (name) => {
    await tabTo(page, name);
    await page.keyboard.press("Enter");
  };
  await enter("Edit");
  await page.getByRole("complementary", { name: "Change the plan" }).waitFor();
  await enter(/^Write the letter/);
  const content = panel(page).getByLabel("content", { exact: true });
  await content.waitFor();
  for (let presses = 0; presses < 60 && !(await content.and(page.locator(":focus")).count()); presses += 1) await page.keyboard.press("Tab");
  await page.keyboard.press("Control+a");
  await page.keyboard.type("three birds, by keys");
  await approves(page).and(page.locator(":enabled")).waitFor();
  await enter("Approve my plan");
  await shows(page, "Passed in the first cycle.");
  assert.equal(readFileSync(join(folder, "letter.md"), "utf8"), "three birds, by keys");
});
