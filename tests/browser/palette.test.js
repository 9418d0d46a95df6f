// Everything by its name, every shortcut on one sheet, and lists as close together as one likes them.

import assert from "node:assert/strict";
import { scenario } from "./app.js";
import { check } from "./axe.js";
import { approveBoth, goTo, press, shows, trySample, waitsForApproval } from "./person.js";

scenario("the command palette goes to places, does what the screen offers, and finds runs by their words", {}, async ({ page }) => {
  await trySample(page);
  await page.keyboard.press("Control+k");
  const search = page.getByPlaceholder("What would you like to do?");
  await search.waitFor();
  await check(page, "Palette");
  await search.fill("verdict");
  await page.keyboard.press("Enter");
  await shows(page, "Not finished yet.");
  await page.keyboard.press("Control+k");
  await search.fill("settings");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
  await page.keyboard.press("Control+k");
  await search.fill("quarterly");
  await page.getByRole("dialog").getByText("Quarterly expenses").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await waitsForApproval(page, 1);
  await page.keyboard.press("Control+k");
  await search.fill("nothing is called so");
  await shows(page, "Nothing is called that.");
  await page.keyboard.press("Escape");
  await search.waitFor({ state: "detached" });
});

scenario("the palette changes the theme and the density of lists", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  await goTo(page, "#/runs");
  const row = page.getByRole("row").filter({ hasText: "Quarterly expenses" });
  const before = await row.evaluate((one) => one.getBoundingClientRect().height);
  const search = page.getByPlaceholder("What would you like to do?");
  const choose = async (words) => {
    await press(page, "Commands");
    await search.fill(words);
    await page.keyboard.press("Enter");
    await search.waitFor({ state: "detached" });
  };
  await choose("lists closer");
  await page.waitForFunction((height) => document.querySelector("[role=rowgroup] [role=row]").getBoundingClientRect().height < height, before);
  await choose("dark theme");
  await page.locator("[data-mantine-color-scheme=dark]").waitFor();
  await check(page, "Runs, dense and dark");
  await page.reload();
  await row.waitFor();
  assert.ok((await row.evaluate((one) => one.getBoundingClientRect().height)) < before, "remembered");
  await goTo(page, "#/settings");
  await page.getByRole("radiogroup", { name: "Lists" }).getByText("With room").click();
  await goTo(page, "#/runs");
  await row.waitFor();
  assert.equal(await row.evaluate((one) => one.getBoundingClientRect().height), before);
});

scenario("every shortcut stands on one sheet", {}, async ({ page }) => {
  await page.getByRole("button", { name: "Try the sample" }).waitFor();
  await page.keyboard.press("Control+/");
  const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await sheet.getByText("Ctrl+K").waitFor();
  await check(page, "Shortcuts");
  await page.keyboard.press("Escape");
  await sheet.waitFor({ state: "detached" });
});
