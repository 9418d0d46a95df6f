import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("a run file that the window is started with is asked about", async (t) => {
  const file = runFile(t, "from-ada.tepa");
  const window = await openWindow(t, { words: [file] });
  await window.find("Import “from-ada.tepa”?");
  await window.press("Import", { inside: "dialog" });
  await window.shows("from-ada.tepa");
  assert.deepEqual(await window.violations(), []);
});

test("a second start hands its run file to the window that is there, and ends", async (t) => {
  const window = await openWindow(t);
  await window.find("Home");
  const file = runFile(t, "second.tepa");
  const second = spawn(process.env.TEPA_PROGRAM, [file], { env: { ...process.env, TEPA_DATA_DIR: window.data }, stdio: "ignore" });
  t.after(() => second.kill());
  assert.equal(await new Promise((ended) => second.once("exit", ended)), 0);
  await window.find("Import “second.tepa”?");
  await window.press("Cancel", { inside: "dialog" });
  await window.find("Home");
});

test("the menu bar does what its entries say, and one of them ends the app", async (t) => {
  const window = await openWindow(t);
  await window.find("New task");
  // The system's key for the menu bar: it opens the first menu.
  await window.keys("F10", "Down", "Down", "Down", "Return");
  await window.find("Settings", "h1");
  await window.keys("F10", "Up", "Return");
  await window.ended();
});

/** What is called like a run file; what is in it is looked at when it is imported. */
function runFile(t, name) {
  const folder = mkdtempSync(join(tmpdir(), "tepa-file-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, name);
  writeFileSync(file, "not a run");
  return file;
}
