// Every screen in both themes, with nothing for axe to find; and the whole sample without a mouse.

import assert from "node:assert/strict";
import { scenario } from "./app.js";
import { check } from "./axe.js";
import { approveBoth, goTo, press, show, shows, stands, step, tabTo, trySample, waitsForApproval } from "./person.js";

for (const theme of ["light", "dark"]) {
  scenario(`nothing is out of reach on Home, Settings, Runs and Compose (${theme})`, { theme }, async ({ page }) => {
    await page.getByRole("button", { name: "Try the sample" }).waitFor();
    await check(page, "Home before the first run");
    await goTo(page, "#/runs");
    await shows(page, "Every run is kept here");
    await check(page, "Runs without a run");
    await goTo(page, "#/settings");
    await page.getByRole("region", { name: "Data" }).getByText(/tepa-browser/).waitFor();
    await check(page, "Settings");
    await goTo(page, "#/task");
    const name = page.getByRole("textbox", { name: "File name" });
    await name.fill("report.md");
    await page.getByRole("textbox", { name: "What must hold" }).last().focus();
    await page.keyboard.type("At most 200 words");
    await press(page, "Use it");
    await press(page, "Details of the check");
    await page.getByRole("group", { name: "Length in words" }).waitFor();
    await check(page, "Compose with a check");
    await page.getByRole("textbox", { name: "What do you want done?" }).focus();
    await page.keyboard.press("Tab");
    await shows(page, "Write what you want done.");
    await check(page, "Compose with a problem");
    await page.getByText("Source", { exact: true }).click();
    await page.getByRole("textbox", { name: "Source" }).waitFor();
    await check(page, "Source");
  });

  scenario(`nothing is out of reach on a run from its plan to its verdict (${theme})`, { theme, natural: true }, async ({ page }) => {
    await press(page, "Try the sample");
    await shows(page, "Making a plan");
    await check(page, "Run while planning");
    await waitsForApproval(page, 1);
    await check(page, "Run with a plan that waits");
    await press(page, "Reject");
    await page.getByRole("dialog", { name: "Reject this plan?" }).waitFor();
    await check(page, "Rejecting a plan");
    await press(page, "Cancel");
    await press(page, "Approve");
    await step(page, "Explain the table").and(page.locator("[data-status=running]")).click();
    await page.getByRole("complementary", { name: "Step" }).getByText("The model is saying").waitFor();
    await check(page, "Run at work");
    await waitsForApproval(page, 2);
    await check(page, "Run with a revised plan");
    await goTo(page, "#/");
    await page.getByRole("link", { name: "Review", exact: true }).waitFor();
    await check(page, "Home with a run that waits");
    await page.getByRole("link", { name: "Review", exact: true }).click();
    await press(page, "Approve");
    await shows(page, "Passed in the second cycle.");
    await stands(page, "Passed");
    await page.getByRole("heading", { name: "Totals by category and month" }).waitFor();
    await check(page, "Verdict");
    await show(page, "Steps");
    await press(page, "Show as a list");
    await page.getByRole("list", { name: "Plan of cycle 2" }).waitFor();
    await check(page, "Run as a list");
    await goTo(page, "#/runs");
    await page.getByRole("link", { name: "Quarterly expenses" }).waitFor();
    await check(page, "Runs");
    await goTo(page, "#/");
    await page.getByRole("link", { name: /Quarterly expenses/ }).waitFor();
    await check(page, "Home with runs");
  });
}

scenario("nothing is out of reach in the forms of Settings", { at: "#/settings" }, async ({ page }) => {
  const account = page.getByRole("region", { name: "Anthropic", exact: true });
  await press(account, "Set up");
  await account.getByLabel("Key", { exact: true }).fill("sk-ant-of-the-test-7788");
  await press(account, /^Keep/);
  await account.getByText(/ending in 7788/).waitFor();
  await account.getByLabel("Model", { exact: true }).fill("claude-test");
  await page.keyboard.press("Escape");
  await press(account, "Use for every task");
  await account.getByText("Saved").waitFor();
  await press(page, "Enter a price");
  await press(page, "Enter what you know");
  await press(page, "Add another account");
  await page.getByLabel("Cycles").fill("3");
  await check(page, "Settings with every form open");
  await press(account, "Remove the key");
  await page.getByRole("dialog", { name: "Remove the key?" }).waitFor();
  await check(page, "Removing a key");
});

scenario("the list beside the settings leads to each part, by keyboard too", { at: "#/settings" }, async ({ page }) => {
  const list = page.getByRole("navigation", { name: "Parts of the settings" });
  await list.getByRole("button", { name: "Appearance" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Appearance" }).and(page.locator(":focus")).waitFor();
  await list.locator("[aria-current]").getByText("Appearance").waitFor();
  await page.keyboard.press("Tab");
  await page.getByRole("radiogroup", { name: "Theme" }).locator(":focus").waitFor({ state: "attached" });
});

scenario("the sample can be taken to its verdict by keyboard alone", {}, async ({ page }) => {
  await page.getByRole("button", { name: "Try the sample" }).waitFor();
  await tabTo(page, "Try the sample");
  await page.keyboard.press("Enter");
  await waitsForApproval(page, 1);
  await tabTo(page, /^Find expenses to check/);
  await page.keyboard.press("Enter");
  await page.getByRole("complementary", { name: "Step" }).waitFor();
  await page.keyboard.press("Escape");
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await waitsForApproval(page, 2);
  await tabTo(page, "Approve");
  await page.keyboard.press("Enter");
  await shows(page, "Passed in the second cycle.");
  await tabTo(page, "flagged.csv");
  await page.getByRole("columnheader", { name: "merchant" }).waitFor();
});

scenario("shortcuts reach every screen", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  const reaches = async (keys, title) => {
    await page.keyboard.press(keys);
    await page.getByRole("heading", { level: 1, name: title }).waitFor();
  };
  await reaches("Control+1", "Home");
  await reaches("Control+2", "Runs");
  await reaches("Control+,", "Settings");
  await reaches("Control+n", "New task");
  await page.keyboard.press("Control+b");
  await press(page, "Make the side bar wide");
});
