import assert from "node:assert/strict";
import { test } from "node:test";
import { openWindow } from "./window.js";

test("the window opens on Home", async (t) => {
  const window = await openWindow(t);
  assert.equal(await window.driver.getTitle(), "Tepa");
  await window.find("Home");
  await window.find("New task");
  assert.deepEqual(await window.violations(), []);
  await window.picture("home");
});

test("the window opens again after it was killed", async (t) => {
  const first = await openWindow(t);
  await first.find("Home");
  await first.kill();
  const second = await openWindow(t, { data: first.data });
  await second.find("Home");
});
