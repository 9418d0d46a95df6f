// A key in the real window goes to the real keychain of the session, and to no other place.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openWindow } from "./window.js";

const key = "sk-canary-3f9a1c7e5b2d8046-WXYZ";

test("a key is kept in the system's keychain and never comes back", async (t) => {
  const window = await openWindow(t);
  await window.press("Settings");
  await window.type("Key", key);
  await window.press("Keep in the keychain");
  await window.shows("A key ending in WXYZ is kept.");
  await window.shows("It is in the keychain of this computer.");
  await window.picture("settings");
  assert.equal(stored(), key, "the keychain holds the key itself");
  assert.ok(!(await window.source()).includes(key), "the page holds the key");
  assert.deepEqual(filesWith(window.data, key), []);

  await window.close();
  const again = await openWindow(t, { data: window.data });
  await again.press("Settings");
  await again.shows("A key ending in WXYZ is kept.");
  await again.press("Remove the key");
  await again.press("Remove the key", { inside: "dialog" });
  await again.find("Keep in the keychain");
  assert.equal(stored(), "");
});

/** What the keychain says when another program asks. */
function stored() {
  try {
    const attributes = ["service", "dev.tepa.desktop", "username", "openai_compatible"];
    return execFileSync("secret-tool", ["lookup", ...attributes], { encoding: "utf8" });
  } catch (error) {
    assert.equal(error.status, 1, error.message);
    return "";
  }
}

function filesWith(folder, text) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text));
}
