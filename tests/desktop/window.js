// Opens the real window and hands it to a test. Each window has its own data folder unless a test passes one on,
// and its own WebDriver on its own ports, so that nothing a crashed test left behind is met again.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setInterval } from "node:timers/promises";
import { Builder, By, Capabilities, until } from "selenium-webdriver";

const program = process.env.TEPA_PROGRAM;
const patience = 20_000;

/** A folder that is gone when the test is over. */
export function temporaryFolder(test) {
  const folder = mkdtempSync(join(tmpdir(), "tepa-window-"));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens the window; `test` is the context of the test that closes it again. */
export async function openWindow(test, { data = temporaryFolder(test), environment = {} } = {}) {
  assert.ok(program, "TEPA_PROGRAM names no program");
  const [port, nativePort] = await Promise.all([freePort(), freePort()]);
  const driverProgram = spawn("tauri-driver", ["--port", `${port}`, "--native-port", `${nativePort}`], {
    env: { ...process.env, ...environment, TEPA_DATA_DIR: data },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const gone = new Promise((resolve) => driverProgram.once("exit", resolve));
  const stop = async () => {
    driverProgram.kill();
    await gone;
  };
  test.after(stop);
  const address = `http://127.0.0.1:${port}`;
  await answers(`${address}/status`);
  const capabilities = new Capabilities();
  capabilities.setBrowserName("wry");
  capabilities.set("tauri:options", { application: program });
  const driver = await new Builder().usingServer(address).withCapabilities(capabilities).build();
  const close = async () => {
    await driver.quit().catch(() => {});
    await stop();
  };
  test.after(close);
  return new Window(driver, driverProgram.pid, data, close);
}

/** What a test does with the window, in the words of a person. */
class Window {
  constructor(driver, driverProcess, data, close) {
    this.driver = driver;
    this.driverProcess = driverProcess;
    this.data = data;
    /** Closes the window as the person would. */
    this.close = close;
  }

  /** The first element that shows this text or is called so. */
  async find(text, kind = "*") {
    const quoted = JSON.stringify(text);
    const path = `//${kind}[normalize-space()=${quoted} or @aria-label=${quoted}][not(.//*[normalize-space()=${quoted}])]`;
    const element = await this.driver.wait(until.elementLocated(By.xpath(path)), patience, `"${text}" is not there`);
    await this.driver.wait(until.elementIsVisible(element), patience, `"${text}" is not visible`);
    return element;
  }

  /** Presses the button, link or tab of this name. */
  async press(name) {
    const quoted = JSON.stringify(name);
    const path = `//*[self::button or self::a or @role="button" or @role="tab"][normalize-space()=${quoted} or @aria-label=${quoted}]`;
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
    const [app] = descendants(this.driverProcess).filter(({ name }) => program.endsWith(`/${name}`));
    assert.ok(app, "the app is not running");
    process.kill(app.pid, "SIGKILL");
    await this.close();
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
