// Taking back what a run changed in files: the list with its lines, the preview, what a person edited since, and the way
// back. By mouse and by keyboard, in both themes.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { filesPlan, filesTask, model, startModel, usualAnswers } from "./fake-model.js";
import { connect, openTask, press, show, shows, stands, tabTo, waitsForApproval } from "./person.js";

const before = "id,name\n1,heron\n";

/** A run that changed `list.csv` and made other files, at its end. */
async function changed(t, app, page) {
  const fake = await startModel(t, { ...usualAnswers, plan: () => filesPlan });
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "birds.yaml"), filesTask);
  writeFileSync(join(folder, "list.csv"), before);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await show(page, "Steps");
  await page.getByRole("tab", { name: /Files changed/ }).click();
  return folder;
}

const files = (page) => page.getByRole("region", { name: "More about the run" });
const row = (dialog, path) => dialog.getByRole("listitem").filter({ hasText: path });

for (const theme of ["light", "dark"]) {
  scenario(`what a run changed is undone after a look, and brought back (${theme})`, { theme }, async ({ t, app, page }) => {
    const folder = await changed(t, app, page);
    const after = readFileSync(join(folder, "list.csv"), "utf8");
    await files(page).getByRole("img", { name: "2 lines added, 0 removed" }).waitFor();
    await check(page, "Files changed");
    await press(files(page), "Undo changes");
    const dialog = page.getByRole("dialog", { name: "Undo what this run changed" });
    await row(dialog, "list.csv").getByText("gets back what it held").waitFor();
    assert.equal(readFileSync(join(folder, "list.csv"), "utf8"), after, "a look changes nothing");
    await check(page, "Undo preview");
    await dialog.getByRole("button", { name: /^Undo \d+ files?$/ }).click();
    const done = page.getByRole("dialog", { name: "Undone" });
    await row(done, "list.csv").getByText("restored").waitFor();
    assert.equal(readFileSync(join(folder, "list.csv"), "utf8"), before);
    await check(page, "Undone");
    await press(done, "Redo");
    await page.getByRole("dialog", { name: "The changes are back" }).waitFor();
    assert.equal(readFileSync(join(folder, "list.csv"), "utf8"), after);
  });
}

scenario("what I edited since is mine until I say otherwise, and a redo brings it back", {}, async ({ t, app, page }) => {
  const folder = await changed(t, app, page);
  const path = join(folder, "list.csv");
  const after = readFileSync(path, "utf8");
  const mine = after.replace("1,heron", "1,grey heron");
  writeFileSync(path, mine);
  await press(files(page), "Undo changes");
  const dialog = page.getByRole("dialog", { name: "Undo what this run changed" });
  const edited = row(dialog, "list.csv");
  await edited.getByText("edited since").waitFor();
  await press(edited, "Compare");
  const diff = edited.getByRole("region", { name: "What changed in list.csv" });
  await diff.getByText("1,grey heron").waitFor();
  await edited.getByText("What the run changed").click();
  await diff.getByText("2,wren").waitFor();
  await check(page, "Three ways");
  await edited.getByText("Restore anyway").click();
  await dialog.getByRole("button", { name: /^Undo \d+ files?$/ }).click();
  const done = page.getByRole("dialog", { name: "Undone" });
  await row(done, "list.csv").getByText("restored").waitFor();
  assert.equal(readFileSync(path, "utf8"), before);
  await press(done, "Redo");
  await page.getByRole("dialog", { name: "The changes are back" }).waitFor();
  assert.equal(readFileSync(path, "utf8"), mine, "a redo brings back my words too");
});

scenario("a file that changes while I look is not overwritten", {}, async ({ t, app, page }) => {
  const folder = await changed(t, app, page);
  const path = join(folder, "list.csv");
  await press(files(page), "Undo changes");
  const dialog = page.getByRole("dialog", { name: "Undo what this run changed" });
  await row(dialog, "list.csv").getByText("gets back what it held").waitFor();
  writeFileSync(path, "mine\n");
  await dialog.getByRole("button", { name: /^Undo \d+ files?$/ }).click();
  await row(dialog, "list.csv").getByText("edited since").waitFor();
  assert.equal(readFileSync(path, "utf8"), "mine\n");
});

scenario("an undo needs no mouse, and one file goes alone", {}, async ({ t, app, page }) => {
  const folder = await changed(t, app, page);
  await tabTo(page, "Undo changes");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Undo what this run changed" });
  const picks = dialog.getByRole("checkbox");
  await picks.first().waitFor();
  for (const pick of await picks.all()) {
    if ((await pick.getAttribute("aria-label")) !== "Undo list.csv") {
      await pick.focus();
      await page.keyboard.press("Space");
    }
  }
  await tabTo(page, "Undo 1 file");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Undone" }).waitFor();
  assert.equal(readFileSync(join(folder, "list.csv"), "utf8"), before);
  await page.keyboard.press("Escape");
  await page.getByRole("dialog", { name: "Undone" }).waitFor({ state: "detached" });
  assert.ok(existsSync(join(folder, "data.json")), "the other one stays");
});
