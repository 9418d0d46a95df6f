// What a person does in the window, in their words.

import assert from "node:assert/strict";
import { patience } from "./app.js";

/** Presses the button of this name. */
export function press(page, name, within = page) {
  return within.getByRole("button", { name, exact: true }).click();
}

/** Waits until the page shows these words. */
export async function shows(page, words, limit = patience) {
  const found = page.getByText(words).filter({ visible: true }).first();
  await found.waitFor({ timeout: limit }).catch(async () => {
    assert.fail(`the page does not show ${words} but:\n${await page.locator("body").innerText()}`);
  });
}

/** Waits until the run's badge says this. */
export async function stands(page, word) {
  const badge = page.locator("header").getByText(word, { exact: true });
  await badge.waitFor().catch(async () => assert.fail(`the run is not "${word}" but:\n${await page.locator("body").innerText()}`));
}

/** Waits for the question whether the plan of this cycle may run. */
export async function waitsForApproval(page, cycle) {
  const title = cycle > 1 ? "May the revised plan run?" : "May this plan run?";
  await shows(page, title);
  await shows(page, `Cycle ${cycle}`);
}

/** Starts the sample from the first Home, and waits for its plan. */
export async function trySample(page) {
  await press(page, "Try the sample");
  await waitsForApproval(page, 1);
}

/** Takes the sample from its first plan to its verdict. */
export async function approveBoth(page) {
  await press(page, "Approve");
  await waitsForApproval(page, 2);
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
}

/** Goes to a place by its address. */
export async function goTo(page, place) {
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, place);
}

/** The card of a step in the graph. */
export function step(page, name) {
  return page.locator("button[data-step]").filter({ hasText: name });
}

/** Turns to the other face of a run: its `Steps` or its `Verdict`. */
export function show(page, face) {
  return page.getByRole("radiogroup", { name: "What to look at" }).getByText(face, { exact: true }).click();
}

/** What the verdict shows of a criterion, one text for each cycle. */
export async function cells(page, criterion) {
  const row = page.getByRole("row").filter({ has: page.getByText(criterion, { exact: true }) });
  await row.waitFor();
  return row.getByRole("cell").allInnerTexts();
}

/** Connects a model server on the Settings screen. */
export async function connect(page, { url, model }) {
  await goTo(page, "#/settings");
  const card = page.getByRole("region", { name: "Your own server" });
  await card.getByLabel("Address of the server").fill(url);
  await card.getByLabel("Model", { exact: true }).fill(model);
  await press(card, "Save");
  await card.getByRole("button", { name: "Disconnect" }).waitFor();
}

/** Puts a key in on the Settings screen. */
export async function putKey(page, key) {
  await goTo(page, "#/settings");
  const card = page.getByRole("region", { name: "Key" });
  await card.getByLabel("Key", { exact: true }).fill(key);
  await press(card, "Keep in the keychain");
  await card.getByText(/A key ending in/).waitFor();
}

/** Opens a task's file in Compose; its folder is the one that it lies in. */
export async function openTask(page, app, file) {
  await app.picks({ file: [file] });
  await goTo(page, "#/task");
  await press(page, "File");
  await page.getByRole("menuitem", { name: "Open…" }).click();
}

/** Presses Tab (and the arrows inside a list of tabs) until what has the focus is called so; waits first until it is there. */
export async function tabTo(page, name) {
  const wanted = page.getByRole("button", { name, exact: true }).or(page.getByRole("tab", { name, exact: true }));
  const lost = async (why) => assert.fail(`${why} ${name} but:\n${await page.locator("body").innerText()}`);
  await wanted.first().waitFor().catch(() => lost("the page has no"));
  const there = () => wanted.and(page.locator(":focus")).count();
  for (let presses = 0; presses < 120; presses += 1) {
    if (await there()) return;
    const inTabs = await page.locator("[role=tab]:focus").count();
    await page.keyboard.press(inTabs && presses % 2 ? "ArrowRight" : "Tab");
  }
  await lost("the focus does not come to");
}

/** Opens the palette and does what these words find first, without a mouse. */
export async function command(page, words) {
  const search = page.getByPlaceholder("What would you like to do?");
  await page.keyboard.press("Control+k");
  await search.and(page.locator(":focus")).waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
  await search.waitFor({ state: "detached" });
}
