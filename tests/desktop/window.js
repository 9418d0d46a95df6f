// Opens the real window and hands it to a test. Each window has its own data folder unless a test passes one on,
// and its own WebDriver on its own ports, so that nothing a crashed test left behind is met again.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { Builder, By, Capabilities, until } from "selenium-webdriver";

const program = process.env.TEPA_PROGRAM;
const patience = 20_000;

/** Opens the window on a new data folder, or on the one of a window before; `test` is the context of the test that
 * is over when both are gone again. */
export async function openWindow(test, { data = temporaryFolder(), environment = {}, words = [] } = {}) {
  assert.ok(program, "TEPA_PROGRAM names no program");
  const [port, nativePort] = await Promise.all([freePort(), freePort()]);
  const server = spawn("tauri-driver", ["--port", `${port}`, "--native-port", `${nativePort}`], {
    env: { ...process.env, ...environment, TEPA_DATA_DIR: data },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const window = new Window(server, data);
  test.after(async () => {
    await window.close();
    rmSync(data, { recursive: true, force: true });
  });
  await window.connect(`http://127.0.0.1:${port}`, words);
  return window;
}

function temporaryFolder() {
  return mkdtempSync(join(tmpdir(), "tepa-window-"));
}

/** What a test does with the window, in the words of a person. */
class Window {
  constructor(server, data) {
    this.server = server;
    this.serverEnded = new Promise((resolve) => server.once("exit", resolve));
    this.data = data;
    this.driver = null;
  }

  /** Starts the app with these words behind its name. */
  async connect(address, words = []) {
    await answers(`${address}/status`);
    const capabilities = new Capabilities();
    capabilities.setBrowserName("wry");
    capabilities.set("tauri:options", { application: program, args: words });
    this.driver = await new Builder().usingServer(address).withCapabilities(capabilities).build();
  }

  /** Closes the window. Whatever is left of it afterwards is ended, so that nothing outlives a test. */
  async close() {
    await this.driver?.quit().catch(() => {});
    this.driver = null;
    const left = descendants(this.server.pid);
    this.server.kill();
    await this.serverEnded;
    for (const { pid } of left) end(pid);
  }

  /** The first element that shows this text or is called so. */
  async find(text, kind = "*") {
    const quoted = JSON.stringify(text);
    const path = `//${kind}[normalize-space()=${quoted} or @aria-label=${quoted}][not(.//*[normalize-space()=${quoted}])]`;
    const element = await this.driver.wait(until.elementLocated(By.xpath(path)), patience, `"${text}" is not there`);
    await this.driver.wait(until.elementIsVisible(element), patience, `"${text}" is not visible`);
    return element;
  }

  /** Presses the button, link or tab of this name, in the whole window or inside a kind of place such as `dialog`. */
  async press(name, { inside } = {}) {
    const quoted = JSON.stringify(name);
    const place = inside ? `//*[@role=${JSON.stringify(inside)}]` : "";
    const path = `${place}//*[self::button or self::a or @role="button" or @role="tab"][normalize-space()=${quoted} or @aria-label=${quoted}]`;
    const button = await this.driver.wait(until.elementLocated(By.xpath(path)), patience, `nothing to press is called "${name}"`);
    await this.driver.wait(until.elementIsVisible(button), patience);
    await this.driver.wait(until.elementIsEnabled(button), patience);
    await button.click();
  }

  /** Waits until the page shows this text anywhere. */
  async shows(text, limit = patience) {
    const there = async () => (await this.text()).includes(text);
    await this.driver.wait(there, limit).catch(async () => {
      assert.fail(`the window does not show "${text}" but:\n${await this.text()}`);
    });
  }

  /** Everything that the page shows. */
  async text() {
    return this.driver.executeScript("return document.body.innerText");
  }

  /** Everything that the page is made of, what is typed into fields too. */
  async source() {
    return this.driver.executeScript(
      "return document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((field) => field.value)",
    );
  }

  /** Types into the field of this name. */
  async type(name, text) {
    const quoted = JSON.stringify(name);
    const path = `//*[self::input or self::textarea][@aria-label=${quoted} or @id=//label[normalize-space()=${quoted}]/@for]`;
    const field = await this.driver.wait(until.elementLocated(By.xpath(path)), patience, `no field is called "${name}"`);
    await this.driver.wait(until.elementIsVisible(field), patience);
    await field.sendKeys(text);
  }

  /** Presses keys as the keyboard does, so that the system hears them before the page. */
  async keys(...names) {
    const [id] = execFileSync("xdotool", ["search", "--sync", "--onlyvisible", "--name", "^Tepa$"], { encoding: "utf8" }).split("\n");
    execFileSync("xdotool", ["windowfocus", "--sync", id, "key", "--delay", "200", ...names]);
  }

  /** Waits until the app is gone by itself. */
  async ended() {
    const until = Date.now() + patience;
    for await (const _ of setInterval(50)) {
      if (!this.processes().length) return;
      assert.ok(Date.now() < until, "the app is still there");
    }
  }

  /** The processes of the app itself. */
  processes() {
    return descendants(this.server.pid).filter(({ name }) => program.endsWith(`/${name}`));
  }

  /** What axe finds wrong with the page as it is now. */
  async violations() {
    await this.driver.executeScript(readFileSync(new URL(import.meta.resolve("axe-core/axe.min.js")), "utf8"));
    const found = await this.driver.executeAsyncScript("axe.run().then(arguments[arguments.length - 1])");
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(" ")).join(", ")}`);
  }

  /** Keeps a picture in the folder TEPA_SCREENSHOTS, where that is set. */
  async picture(name) {
    const folder = process.env.TEPA_SCREENSHOTS;
    if (folder) writeFileSync(join(folder, `${name}.png`), await this.driver.takeScreenshot(), "base64");
  }

  /** Ends the app as a power cut would: no chance to tidy up. */
  async kill() {
    const [app] = this.processes();
    assert.ok(app, "the app is not running");
    end(app.pid);
    await this.close();
  }
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    assert.equal(error.code, "ESRCH");
  }
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function answers(address) {
  const until = Date.now() + patience;
  for await (const _ of setInterval(50)) {
    const answer = await fetch(address).catch(() => null);
    if (answer) return;
    assert.ok(Date.now() < until, `${address} does not answer`);
  }
}

/** Every process below this one, as Linux tells it. */
function descendants(root) {
  const processes = readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const status = readFileSync(`/proc/${pid}/stat`, "utf8");
        const exe = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")[0] ?? "";
        const parent = Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
        return [{ pid: Number(pid), parent, name: exe.split("/").at(-1) ?? "" }];
      } catch {
        return [];
      }
    });
  const below = (parent) => processes.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)]);
  return below(root);
}
