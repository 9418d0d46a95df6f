// Templates: each is a task that the app finds nothing wrong with, and one begins with it in two clicks.

import assert from "node:assert/strict";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { goTo, press, shows } from "./person.js";

scenario("every template is a task that only wants a folder", {}, async ({ app, page }) => {
  await goTo(page, "#/task");
  const choices = page.getByRole("dialog", { name: "Begin with a template" }).getByRole("listitem");
  await press(page, "Templates");
  await choices.first().waitFor();
  await check(page, "Templates");
  const count = await choices.count();
  assert.ok(count >= 8, `${count} templates`);
  for (let index = 0; index < count; index += 1) {
    if (index > 0) await press(page, "Templates");
    const title = await choices.nth(index).locator("strong").innerText();
    await choices.nth(index).getByRole("button").click();
    // What the one before left is asked about.
    if (index > 0) await press(page, "Use the template");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByText("Source", { exact: true }).click();
    const source = await page.getByRole("textbox", { name: "Source" }).innerText();
    await page.getByText("Letter", { exact: true }).click();
    const { problems, task } = await app.call("task_check", { source });
    assert.deepEqual([problems, task !== null], [[], true], title);
  }
});

scenario("a template is filled in with a folder and is ready to be planned", {}, async ({ t, app, page }) => {
  await goTo(page, "#/task");
  await press(page, "Templates");
  await page.getByRole("button", { name: /^Clean up an address list/ }).click();
  await shows(page, "Address list");
  await app.picks({ folder: [temporaryFolder(t, "addresses")] });
  await press(page, "Choose a folder");
  // Nothing is left to do but a model.
  await page.getByRole("button", { name: "Connect a model first" }).waitFor();
});

scenario("a task of one's own becomes a template, begins another task, and can be deleted", {}, async ({ app, page }) => {
  await goTo(page, "#/task");
  await page.getByRole("textbox", { name: "What do you want done?" }).fill("Water the plants");
  await kept(app, true);
  await press(page, "File");
  await page.getByRole("menuitem", { name: "Save as a template" }).click();
  await shows(page, "“Water the plants” is among the templates.");
  await press(page, "File");
  await page.getByRole("menuitem", { name: "Start over" }).click();
  await press(page.getByRole("dialog"), "Start over");
  await kept(app, false);
  await page.reload();
  await press(page, "Templates");
  const dialog = page.getByRole("dialog", { name: "Begin with a template" });
  await dialog.getByText("Yours").waitFor();
  await check(page, "Own templates");
  await dialog.getByRole("button", { name: /^Water the plants/ }).click();
  assert.equal(await page.getByRole("textbox", { name: "What do you want done?" }).inputValue(), "Water the plants");
  await press(page, "Templates");
  await press(dialog, "Delete the template Water the plants");
  await dialog.getByText("Tasks and runs made from it stay.").waitFor();
  await press(dialog, "Delete");
  await dialog.getByText("Yours").waitFor({ state: "detached" });
});

/** Waits until the app keeps a draft, or none: a window that is opened again begins with it. */
async function kept(app, wanted) {
  let some = !wanted;
  // Each round is a question to the app and its answer; the test's own time is the limit.
  while (some !== wanted) some = (await app.call("draft_get", { name: "compose" })).value !== null;
}
