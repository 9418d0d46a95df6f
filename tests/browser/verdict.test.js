// The verdict as a way into the results: evidence leads to its place, files show as what they are, changes line by line.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { filesPlan, filesTask, model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { approveBoth, connect, openTask, press, show, shows, stands, step, trySample, waitsForApproval } from "./person.js";

scenario("evidence that was quoted leads to its place in the page", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  const row = page.getByRole("row").filter({ hasText: "Explains in plain words where spending changed most" });
  const quote = row.getByRole("button", { name: /^“/ });
  const words = (await quote.innerText()).replace(/[“”]/g, "");
  await quote.click();
  const marked = page.locator("[data-marked]");
  await marked.waitFor();
  assert.ok((await marked.innerText()).replace(/\s+/g, " ").includes(words.slice(0, 40)), `${await marked.innerText()} | ${words}`);
  assert.ok(await marked.evaluate((one) => one.getBoundingClientRect().top < window.innerHeight), "in sight");
  await check(page, "Verdict with a place");
});

async function birds(t, app, page) {
  const fake = await startModel(t, { ...usualAnswers, plan: () => filesPlan });
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "birds.yaml"), filesTask);
  writeFileSync(join(folder, "list.csv"), "id,name\n1,heron\n");
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  return folder;
}

/** Two by two pixels. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGOwjr4NRAwQCgAl6gXFeHrwyQAAAABJRU5ErkJggg==";

for (const theme of ["light", "dark"]) {
  scenario(`a result that is an image is drawn from its own bytes (${theme})`, { theme }, async ({ t, app, page }) => {
    const folder = await birds(t, app, page);
    writeFileSync(join(folder, "list.csv"), Buffer.from(png, "base64"));
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await page.getByRole("tab", { name: "list.csv" }).click();
    const image = page.getByRole("img", { name: "list.csv" });
    await image.waitFor();
    assert.equal(await image.evaluate((one) => one.naturalWidth), 2);
    await page.getByText("2 × 2 pixels").waitFor();
    assert.deepEqual(asked.filter((url) => !/^(http:\/\/127\.0\.0\.1|data:)/.test(url)), []);
    await check(page, `An image, ${theme}`);
  });

  scenario(`a step that failed can be tried again after the run has ended (${theme})`, { theme }, async ({ t, app, page }) => {
    const fake = await startModel(t);
    const folder = temporaryFolder(t, "birds");
    writeFileSync(join(folder, "birds.yaml"), notesTask.replace("context: {}", "context: {}\nlimits: { maxCycles: 1 }"));
    await connect(page, { url: fake.url, model });
    await openTask(page, app, join(folder, "birds.yaml"));
    await press(page, "Make a plan");
    await waitsForApproval(page, 1);
    await press(page, "Approve");
    await stands(page, "Did not pass");
    await show(page, "Steps");
    await step(page, "Read the notes").click();
    const panel = page.getByRole("complementary", { name: "Step" });
    await press(panel, "Try again");
    const dialog = page.getByRole("dialog", { name: "Try this step again" });
    const words = await dialog.getByLabel("What the planner is told").inputValue();
    assert.match(words, /^Try the step “Read the notes” again\. It failed: ./);
    await check(page, `Trying a step again, ${theme}`);
    writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
    await press(dialog, "Try again");
    await waitsForApproval(page, 2);
    assert.ok(JSON.stringify(fake.seen.at(-1).body).includes("Try the step “Read the notes” again"));
    await press(page, "Approve");
    await stands(page, "Passed");
  });
}

scenario("a row that breaks a rule is shown in its table", {}, async ({ t, app, page }) => {
  await birds(t, app, page);
  await page.getByRole("row").filter({ hasText: "Everyone once" }).getByRole("button", { name: /^id 1 twice/ }).click();
  const rows = page.locator("tr[data-marked]");
  await rows.first().waitFor();
  assert.deepEqual(await rows.allInnerTexts(), ["1\theron", "1\towl"]);
});

scenario("JSON is a tree that opens, and text when one wants it", {}, async ({ t, app, page }) => {
  await birds(t, app, page);
  const came = page.getByRole("region", { name: "What came out" });
  await press(came, "birds 2 items");
  assert.equal(await came.getByText("heron").count(), 0, "closed");
  await press(came, "birds 2 items");
  await press(came, "0 2 fields");
  await came.getByText("heron").waitFor();
  await check(page, "JSON as a tree");
  await press(came, "Show as text");
  await came.getByText(/"name": "heron"/).waitFor();
});

scenario("what a run changed is shown line by line, beside what was there before", {}, async ({ t, app, page }) => {
  await birds(t, app, page);
  const came = page.getByRole("region", { name: "What came out" });
  await came.getByRole("tab", { name: "Changes" }).click();
  const diff = came.getByRole("region", { name: "What changed in list.csv" });
  await diff.waitFor();
  const lines = await diff.locator("tr[data-kind=added]").allInnerTexts();
  assert.deepEqual(lines.map((line) => line.split("\t").at(-1)), ["2,wren", "1,owl"]);
  assert.equal(await diff.locator("tr[data-kind=removed]").count(), 0);
  await check(page, "Changes");
  await show(page, "Steps");
  await page.getByRole("tab", { name: /Files changed/ }).click();
  await page.getByRole("button", { name: /^list.csv/ }).click();
  await page.getByRole("dialog").getByRole("tab", { name: "Before the run" }).click();
  await page.getByRole("dialog").getByRole("cell", { name: "heron" }).waitFor();
});

scenario("the task of a run becomes a new task, and unsaved words are asked about first", {}, async ({ t, app, page }) => {
  await birds(t, app, page);
  await press(page, "More to do with this run");
  await page.getByRole("menuitem", { name: "Use as a new task" }).click();
  await shows(page, "Not saved to a file");
  assert.equal(await page.getByRole("textbox", { name: "What do you want done?" }).inputValue(), "List the birds");
  await page.getByRole("textbox", { name: "What do you want done?" }).fill("List the bees");
  await page.goBack();
  await press(page, "More to do with this run");
  await page.getByRole("menuitem", { name: "Use as a new task" }).click();
  const dialog = page.getByRole("dialog", { name: "Open another task?" });
  await press(dialog, "Cancel");
});
