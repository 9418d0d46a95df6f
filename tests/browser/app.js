// The whole app behind the development server, in a real browser. Each test gets a data folder, a server, and a
// browser profile of its own; what any page says wrong, asks for elsewhere or hears from the app is kept for the test.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const top = fileURLToPath(new URL("../../", import.meta.url));
const targets = process.env.CARGO_TARGET_DIR ?? join(top, "target");
/** The development server. */
export const program = resolve(process.env.TEPA_DEVSERVER ?? join(targets, "debug/devserver"));
const page = resolve(process.env.TEPA_PAGE ?? join(top, "ui/dist"));
const chrome = process.env.TEPA_CHROMIUM ?? "/usr/bin/chromium";
/** How long anything that should appear may take on a busy machine. */
export const patience = 20_000;

let started = null;
after(async () => (await started)?.close());

/** The browser of this process; every test has a profile of its own in it. */
export function browser() {
  started ??= chromium.launch({
    executablePath: chrome,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  return started;
}

/**
 * A test with the app running. `body` gets `app` (the server) and `page` (a window on it, opened at Home). At the
 * end the page must have had nothing to complain about, and must have asked nobody but the app.
 */
export function scenario(sentence, options, body) {
  test(sentence, async (t) => {
    const app = await startApp(t, options);
    const window = await openWindow(t, app, options);
    await body({ t, app, page: window });
    assert.deepEqual(window.complaints, []);
    assert.deepEqual(window.elsewhere, []);
  });
}

/** A folder that is gone when the test is over. */
export function temporaryFolder(t, inside = "") {
  const folder = mkdtempSync(join(tmpdir(), "tepa-browser-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const wanted = join(folder, inside);
  mkdirSync(wanted, { recursive: true });
  return wanted;
}

/** Starts the app on a data folder; `natural` plays the sample's recording at its own pace, otherwise at once. */
export async function startApp(t, { data = temporaryFolder(t), natural = false, port = 0 } = {}) {
  const args = ["--port", `${port}`, "--data", data, "--page", page, ...(natural ? [] : ["--instant"])];
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
  const gone = new Promise((done) => child.once("exit", done));
  const end = async (signal) => {
    child.kill(signal);
    await gone;
  };
  t.after(() => end("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const said = new Promise((done, failed) => {
    lines.once("line", done);
    child.once("error", failed);
    child.once("exit", (code) => failed(new Error(`${program} ended with ${code}`)));
  });
  const url = await said;
  assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/);
  return new App(url, data, end);
}

/** A running app. */
class App {
  constructor(url, data, end) {
    this.url = url;
    this.data = data;
    /** Ends it as a power cut would: no chance to tidy up. */
    this.kill = () => end("SIGKILL");
    /** Ends it as a person would. */
    this.close = () => end("SIGINT");
  }

  async post(path, body) {
    const headers = { "content-type": "application/json" };
    const reply = await fetch(`${this.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    return reply.json();
  }

  /** What a person would pick next, by picker: `{ folder: ["/a/path"], file: [...], save: [...] }`. */
  picks(answers) {
    return this.post("/test/picks", answers);
  }

  /** A run file, as when a person opens it with the app. */
  hand(file) {
    return this.post("/test/hand", file);
  }

  /** A command, as the page sends it. */
  call(name, request = null) {
    return this.post(`/ipc/${name}`, request);
  }

  /** The files of the data folder, with their bytes. */
  files() {
    return readdirSync(this.data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }));
  }
}

/** Opens a window on the app; `TEPA_THEME=dark` has every test that does not choose look at the dark one. */
export async function openWindow(t, app, { theme = process.env.TEPA_THEME ?? "light", size = [1280, 800], at = "", locale = "en-GB" } = {}) {
  const [width, height] = size;
  const profile = await (await browser()).newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
    locale,
  });
  t.after(() => profile.close());
  const window = await profile.newPage();
  window.setDefaultTimeout(patience);
  listen(window, app.url);
  await window.goto(`${app.url}/${at}`);
  return window;
}

function listen(window, url) {
  window.complaints = [];
  window.elsewhere = [];
  window.replies = [];
  window.on("pageerror", (error) => window.complaints.push(`error: ${error.stack ?? error.message}`));
  window.on("dialog", (dialog) => {
    window.complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  window.on("console", (message) => {
    // The browser itself notes every refusal and every lost connection; the page is judged by what it shows then.
    const noted = message.text().startsWith("Failed to load resource");
    if (["error", "warning"].includes(message.type()) && !noted) window.complaints.push(`console: ${message.text()}`);
  });
  window.on("request", (request) => {
    const to = request.url();
    if (!to.startsWith(`${url}/`) && !to.startsWith("data:") && !to.startsWith("blob:")) window.elsewhere.push(to);
  });
  window.on("response", (response) => {
    if (!response.url().startsWith(`${url}/ipc/`)) return;
    window.replies.push(response.text().catch(() => ""));
  });
}
