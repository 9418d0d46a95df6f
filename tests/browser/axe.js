// What axe finds wrong with the page as it is now, in either theme: nothing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Nothing that axe looks for is wrong with the page as it is now; nor would it be if the system turned to its other
 * theme, which the page follows unless a person chose one.
 */
export async function check(page, place) {
  const theme = () => page.evaluate(() => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  const now = await theme();
  const other = now === "dark" ? "light" : "dark";
  await look(page, `${place} (${now})`);
  await page.emulateMedia({ colorScheme: other });
  await look(page, `${place} (${other})`);
  await page.emulateMedia({ colorScheme: now });
}

async function look(page, place) {
  // What is fading in is not read yet, and what lies under the pointer has another colour.
  await page.mouse.move(2, 2);
  await page.evaluate(() => Promise.all(document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === 1).map((one) => one.finished.catch(() => {}))));
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run();
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join("\n")}`);
  });
  assert.deepEqual(found, [], place);
}
