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
