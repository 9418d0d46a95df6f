// A step that wants more than was granted: it asks in place, a person answers, and what was allowed for good can be taken
// back.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, stands, step, waitsForApproval } from "./person.js";

const question = (page) => page.getByRole("region", { name: "May this step do this?" });

/** The task of the notes, whose first step reads them from a folder beside the working folder until it is told not to. */
async function asking(t, app, page) {
  const beside = join(temporaryFolder(t, "beside"), "notes.txt");
  const folder = temporaryFolder(t, "birds");
  for (const file of [beside, join(folder, "notes.txt")]) writeFileSync(file, "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  const answers = {
    ...usualAnswers,
    tool: () => ({ name: "file_read", input: { path: fake.told ? "notes.txt" : beside } }),
    plan: (body) => {
      fake.told ||= JSON.stringify(body.messages).includes("Use the copy in the folder.");
      return usualAnswers.plan(body);
    },
  };
  const fake = await startModel(t, answers);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await begin(page);
  return { fake, beside, file: join(folder, "birds.yaml") };
}

async function begin(page) {
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
}

scenario("a tool that is not allowed fails its step, and the next plan is told why", {}, async ({ t, app, page }) => {
  const { fake, beside } = await asking(t, app, page);
  await shows(page, "Nothing else without asking you: no other folders, no programs, no web pages.");
  await press(page, "Approve");
  await question(page).waitFor();
  await question(page).getByText(beside).waitFor();
  await step(page, "Read the notes").getByText("May it do this?").waitFor();
  await stands(page, "Waits for you");
  await check(page, "Permission asked");
  await goTo(page, "#/");
  await shows(page, "Waiting for you");
  await page.goBack();
  await press(question(page), "No");
  await question(page).getByLabel("Why not?").fill("Use the copy in the folder.");
  await check(page, "Permission refused");
  await press(question(page), "Do not allow");
  await waitsForApproval(page, 2);
  assert.ok(fake.told, "the planner was told why");
  await shows(page, "rejected");
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
});

scenario("what is allowed for a task is not asked again until it is taken back", {}, async ({ t, app, page }) => {
  const { beside, file } = await asking(t, app, page);
  await press(page, "Approve");
  await question(page).getByRole("button", { name: /^Allow for this task, always/ }).click();
  await shows(page, "Passed in the first cycle.");
  await openTask(page, app, file);
  await begin(page);
  await page.getByText(beside).first().waitFor();
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  await goTo(page, "#/settings");
  const card = page.getByRole("region", { name: "Allowed for good" });
  await card.getByText(beside).waitFor();
  await check(page, "Settings with a permission");
  await card.getByRole("button", { name: /^Take back/ }).click();
  await card.getByText(/^Nothing\./).waitFor();
  await openTask(page, app, file);
  await begin(page);
  await press(page, "Approve");
  await question(page).waitFor();
});

scenario("a careful run asks before it writes in its own folder", {}, async ({ t, app, page }) => {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  const fake = await startModel(t);
  await connect(page, { url: fake.url, model });
  // It is chosen once it is kept.
  await page.getByRole("radio", { name: "Careful" }).click();
  await page.getByRole("radio", { name: "Careful", checked: true }).waitFor();
  await openTask(page, app, join(folder, "birds.yaml"));
  await begin(page);
  await shows(page, "It asks you before everything that it changes");
  await press(page, "Approve");
  await question(page).getByText("letter.md").waitFor();
  await press(question(page), "Allow once");
  await shows(page, "Passed in the first cycle.");
});
