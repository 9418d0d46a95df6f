// What a task brings by itself, a command as a check and one as a rule: nothing of it happens until a person allows exactly
// it, and what was changed is asked about again.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, startModel } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, waitsForApproval } from "./person.js";

const task = (checked) => `goal: Write a short letter about the birds in notes.txt
context: {}
expectedOutput:
  - path: letter.md
    description: A letter
    criteria:
      - text: It is a letter
        check: { command: '${checked}' }
hooks:
  - command: { run: 'touch ruled.txt', on: postStep }
`;

const effects = (page) => page.getByRole("region", { name: "What it does by itself" });
const question = (page) => page.getByRole("complementary", { name: "What the task does by itself" });

async function begin(page) {
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await press(page, "Make a plan");
}

/** Opens a file anew; the one that is open may look just like it until then. */
async function openAgain(page, app, file) {
  const answered = page.waitForResponse((response) => response.url().endsWith("/ipc/task_open"));
  await openTask(page, app, file);
  await answered;
}

async function opened(t, app, page) {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), task("test -s letter.md && echo x >> checked.txt"));
  const fake = await startModel(t);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  return { folder, file: join(folder, "birds.yaml") };
}

scenario("a task's own commands are shown whole, asked about one by one, and asked about again once they change", {}, async ({ t, app, page }) => {
  const { folder, file } = await opened(t, app, page);
  await effects(page).getByText("touch ruled.txt").waitFor();
  await effects(page).getByText("test -s letter.md && echo x >> checked.txt").waitFor();
  assert.equal(await effects(page).getByRole("switch", { checked: true }).count(), 0, "a file allows nothing");
  await check(page, "Compose with commands of the task");
  await begin(page);

  await question(page).getByText("touch ruled.txt").waitFor();
  await check(page, "A command of the task asked about");
  await press(question(page), "No");
  await press(question(page), "Do not allow");
  await question(page).getByText("test -s letter.md && echo x >> checked.txt").waitFor();
  await question(page).getByRole("button", { name: /^Allow for this task, always/ }).click();
  await waitsForApproval(page, 1);
  await page.getByRole("region", { name: "Asked for and not allowed, so it is not done:" }).getByText("touch ruled.txt").waitFor();
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  assert.ok(!existsSync(join(folder, "ruled.txt")), "what was refused was not done");
  assert.equal(readFileSync(join(folder, "checked.txt"), "utf8"), "x\n");

  // The same file again: what was allowed for the task stands so, and only the rest is asked about.
  await openAgain(page, app, file);
  await effects(page).getByText("Allowed for this task").waitFor();
  const rule = effects(page).getByRole("switch", { name: /touch ruled\.txt/ });
  await rule.press(" ");
  await effects(page).getByRole("switch", { name: /touch ruled\.txt/, checked: true }).waitFor();
  await begin(page);
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  assert.ok(existsSync(join(folder, "ruled.txt")), "what was allowed here was done");

  // Another command in its place is another one.
  writeFileSync(file, task("test -s letter.md && echo y >> checked.txt"));
  await openAgain(page, app, file);
  await effects(page).getByText("echo y >> checked.txt").waitFor();
  assert.equal(await effects(page).getByText("Allowed for this task").count(), 0);
  await begin(page);
  await question(page).getByText("touch ruled.txt").waitFor();
  await press(question(page), "No");
  await press(question(page), "Do not allow");
  await question(page).getByText("echo y >> checked.txt").waitFor();
  await press(question(page), "No");
  await press(question(page), "Do not allow");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "You did not allow it to be checked, so no other plan was tried.");
  await shows(page, "the check could not run: you did not allow it");
  assert.equal(readFileSync(join(folder, "checked.txt"), "utf8"), "x\nx\n");

  await goTo(page, "#/settings");
  const card = page.getByRole("region", { name: "Allowed for good" });
  await card.getByText("test -s letter.md && echo x >> checked.txt").waitFor();
  await card.getByRole("button", { name: /^Take back/ }).click();
  await card.getByText(/^Nothing\./).waitFor();
});

scenario("a command as a rule is written in the letter, and allowed by what it says", { at: "#/task" }, async ({ page }) => {
  await page.getByRole("textbox", { name: "What do you want done?" }).fill("Write a letter");
  await press(page, "Add a rule");
  await page.getByRole("menuitem", { name: "Run a command at a point of the run" }).click();
  const run = page.getByRole("textbox", { name: "Run a command", exact: true });
  await run.fill("./look.sh");
  await page.getByRole("textbox", { name: "File name" }).fill("letter.md");
  await page.getByRole("textbox", { name: "What it is" }).fill("A letter");
  await effects(page).getByText("./look.sh").waitFor();
  const allow = effects(page).getByRole("switch", { name: /\.\/look\.sh$/ });
  await allow.press(" ");
  await effects(page).getByRole("switch", { name: /\.\/look\.sh$/, checked: true }).waitFor();
  await run.fill("./look.sh --all");
  await effects(page).getByText("./look.sh --all").waitFor();
  assert.equal(await effects(page).getByRole("switch", { checked: true }).count(), 0, "another command is another thing");
  await check(page, "Compose with a command as a rule");
});
