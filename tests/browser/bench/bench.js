// P8 and P12, with their references beside them: `npm run bench` here, or `./check bench`. Prints a table, and writes the
// same as JSON to the file that is named. Needs the development server; builds the window by itself.
//
// P8   5,000 events a second come into a run that is being looked at: from the moment an event is in the journal to the one
//      when the window's store has folded it. Its reference is an empty page that fetches the same and keeps it as it is.
// P12  a plan of 1,000 steps: until its cards are there and the page answers, and frames while it is panned and zoomed;
//      activity of 100,000 rows: frames while it is scrolled. Their references are plain elements in an empty page.
//
// Each is measured several times in turn with its reference; the median counts, and least and most stand beside it.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { setTimeout as wait } from "node:timers/promises";
import { browser, program } from "../app.js";
import { MadeRun, runId } from "./events.js";
import { panAndZoom, pass, scroll, watchFrames } from "./frames.js";
import { Served } from "./server.js";

const ui = fileURLToPath(new URL("../../../ui/", import.meta.url));
const built = join(ui, "node_modules/.bench");
const times = Number(process.env.TEPA_BENCH_TIMES ?? 7);
const perSecond = 5000;
const seconds = 2;
const graphSteps = 1000;
const rows = 100_000;

/** The app for everything but the made-up run. */
async function realApp() {
  const data = mkdtempSync(join(tmpdir(), "tepa-bench-"));
  const child = spawn(program, ["--port", "0", "--data", data, "--instant"], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await new Promise((done, failed) => {
    createInterface({ input: child.stdout }).once("line", (line) => done([line]));
    child.once("exit", (code) => failed(new Error(`${program} ended with ${code}`)));
  });
  const close = () => {
    child.kill("SIGKILL");
    rmSync(data, { recursive: true, force: true, maxRetries: 5 });
  };
  return { url, close };
}

async function open(served, path) {
  const profile = await (await browser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", locale: "en-GB" });
  const page = await profile.newPage();
  await page.goto(`${served.url}${path}`);
  return page;
}

/** How far the page's clock is ahead of this one. */
async function clockOf(page) {
  const tries = [];
  for (let count = 0; count < 20; count += 1) {
    const before = performance.timeOrigin + performance.now();
    const there = await page.evaluate(() => performance.timeOrigin + performance.now());
    const after = performance.timeOrigin + performance.now();
    tries.push({ took: after - before, ahead: there - (before + after) / 2 });
  }
  return tries.toSorted((a, b) => a.took - b.took)[0].ahead;
}

/** Commits events at the pace, and gives back when each of the new ones was. */
async function commit(served, steps) {
  const first = served.run.events.length;
  const at = new Map();
  const begun = performance.now();
  for (let due = 0; due < perSecond * seconds; ) {
    await wait(2);
    const target = Math.min(perSecond * seconds, Math.floor(((performance.now() - begun) / 1000) * perSecond));
    if (target <= due) continue;
    for (; due < target; due += 2) served.run.called((first + due) / 2, steps);
    const now = performance.timeOrigin + performance.now();
    for (let seq = first + at.size + 1; seq <= served.run.events.length; seq += 1) at.set(seq, now);
    served.tell();
  }
  return at;
}

const p95 = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0;

async function live(served, asReference) {
  served.run = new MadeRun().proposed(20).approved();
  const page = await open(served, asReference ? "/empty" : "/");
  if (asReference) await page.evaluate(follow, runId);
  else {
    await page.evaluate((id) => {
      window.folded = window.followRun(id);
      location.hash = `#/runs/${id}/steps`;
    }, runId);
    await page.locator("[data-step]").first().waitFor();
  }
  await pass(page, 10);
  const ahead = await clockOf(page);
  const stop = await watchFrames(page);
  const committed = await commit(served, 20);
  const last = served.run.events.length;
  await page.waitForFunction((seq) => window.folded.has(seq), last);
  const frames = await stop();
  const folded = new Map(await page.evaluate(() => [...window.folded]));
  await page.context().close();
  const took = [...committed].map(([seq, at]) => folded.get(seq) - ahead - at);
  return { latency: p95(took), longest: frames.longest };
}

/** In an empty page: what a window does at the least to have the events. */
function follow(id) {
  window.folded = new Map();
  const kept = [];
  let pulling = false;
  let known = 0;
  const pull = async () => {
    if (pulling) return;
    pulling = true;
    do {
      const reply = await fetch("/ipc/run_events", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ runId: id, fromSeq: kept.length + 1, limit: 500 }) });
      kept.push(...(await reply.json()).events);
      const now = performance.timeOrigin + performance.now();
      for (let seq = window.folded.size + 1; seq <= kept.length; seq += 1) window.folded.set(seq, now);
    } while (kept.length < known);
    pulling = false;
  };
  new EventSource("/signals").addEventListener("message", (message) => {
    known = JSON.parse(message.data).seq;
    void pull();
  });
  void pull();
}

async function graph(served, asReference) {
  served.run = new MadeRun().proposed(graphSteps);
  const page = await open(served, asReference ? "/empty" : "/");
  await page.evaluate(() => document.fonts.ready);
  const interactive = await page.evaluate(asReference ? plainGraph : openRun, { id: runId, count: graphSteps });
  await pass(page, 30);
  const stop = await watchFrames(page);
  await panAndZoom(page);
  await pass(page, 10);
  const frames = await stop();
  await page.context().close();
  return { interactive, longest: frames.longest, over: frames.over };
}

/** In the window: goes to the run, and says how long it took until its cards are there and two frames have passed. */
function openRun({ id }) {
  const begun = performance.now();
  location.hash = `#/runs/${id}/steps`;
  return new Promise((done) => {
    const look = () => {
      if (document.querySelector("[data-step]")) requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun)));
      else requestAnimationFrame(look);
    };
    look();
  });
}

/** In an empty page: as many plain boxes, moved and made smaller as a whole. */
function plainGraph({ count }) {
  const begun = performance.now();
  const all = document.createElement("div");
  all.style.cssText = "position: absolute; transform-origin: 0 0";
  for (let index = 0; index < count; index += 1) {
    const box = document.createElement("div");
    box.textContent = `Step ${index} of the plan`;
    box.style.cssText = `position: absolute; width: 240px; height: 72px; border: 1px solid; left: ${(index % 8) * 264}px; top: ${Math.floor(index / 8) * 124}px`;
    all.append(box);
  }
  document.body.style.overflow = "hidden";
  document.body.append(all);
  const at = { x: 0, y: 0, scale: 1 };
  const move = () => (all.style.transform = `translate(${at.x}px, ${at.y}px) scale(${at.scale})`);
  addEventListener("mousemove", (event) => {
    if (event.buttons === 0) return;
    at.x += event.movementX;
    at.y += event.movementY;
    move();
  });
  addEventListener("wheel", (event) => {
    at.scale *= 1 - event.deltaY / 1000;
    move();
  });
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun))));
}

/** A run with so many lines in its activity list. */
function longRun() {
  const run = new MadeRun().proposed(20).approved();
  for (let number = 0; number < rows; number += 1) run.called(number, 20);
  return run;
}

async function activity(served, run, asReference) {
  served.run = run;
  const page = await open(served, asReference ? "/empty" : "/");
  let opened;
  if (asReference) opened = await page.evaluate(plainList, { count: rows });
  else {
    const begun = performance.now();
    await page.evaluate((id) => {
      window.folded = window.followRun(id);
      location.hash = `#/runs/${id}/steps`;
    }, runId);
    await page.waitForFunction((seq) => window.folded.has(seq), run.events.length, { timeout: 300_000 });
    await page.getByRole("log").waitFor();
    opened = performance.now() - begun;
  }
  await pass(page, 30);
  const stop = await watchFrames(page);
  await scroll(page, asReference ? [600, 400] : [600, 740]);
  await pass(page, 10);
  const frames = await stop();
  await page.context().close();
  return { opened, longest: frames.longest, over: frames.over };
}

/** In an empty page: as many plain lines. */
function plainList({ count }) {
  const begun = performance.now();
  const list = document.createElement("div");
  list.style.cssText = "height: 800px; overflow: auto";
  for (let index = 0; index < count; index += 1) {
    const line = document.createElement("div");
    line.style.height = "30px";
    line.textContent = `Step ${index % 20} running file_read on notes/${index}.txt`;
    list.append(line);
  }
  document.body.append(list);
  list.scrollTop = list.scrollHeight;
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - begun))));
}

/** Measures something and its reference in turn. */
async function inTurn(count, measure) {
  const [ours, reference] = [[], []];
  for (let turn = 0; turn < count; turn += 1) {
    ours.push(await measure(false));
    reference.push(await measure(true));
  }
  return { ours, reference };
}

function figure(measured) {
  const sorted = measured.toSorted((a, b) => a - b);
  return { median: sorted[Math.floor(sorted.length / 2)], min: sorted[0], max: sorted.at(-1), runs: sorted.length };
}

function row(id, what, { ours, reference }, field, must = null) {
  return { id, what, ours: figure(ours.map((one) => one[field])), reference: figure(reference.map((one) => one[field])), must };
}

function print(table) {
  const shown = (one) => `${one.median.toFixed(1)} (${one.min.toFixed(1)}-${one.max.toFixed(1)})`;
  const lines = table.map(({ id, what, ours, reference, must }) => {
    const verdict = must === null ? "" : ours.median <= must ? `ok, at most ${must}` : `MISSED, at most ${must}`;
    return [id.padEnd(4), what.padEnd(54), shown(ours).padStart(24), shown(reference).padStart(24), `  ${verdict}`].join(" ");
  });
  process.stdout.write(`${lines.join("\n")}\n`);
}

function printHead() {
  process.stdout.write(`${["".padEnd(4), "ms, median (least-most)".padEnd(54), "the window".padStart(24), "plain page".padStart(24)].join(" ")}\n`);
}

async function main(file) {
  execFileSync("npx", ["vite", "build", "--config", "dev/bench.vite.ts", "--logLevel", "error"], { cwd: ui, stdio: "inherit" });
  const app = await realApp();
  const served = await new Served(app.url, built, new MadeRun().proposed(1)).open();
  try {
    const table = [];
    printHead();
    const add = (...found) => {
      table.push(...found);
      print(found);
    };
    const streamed = await inTurn(times, (asReference) => live(served, asReference));
    add(row("P8", "commit to store, p95, 5,000 events/s", streamed, "latency", 16), row("P8", "longest frame meanwhile", streamed, "longest", 50));
    const drawn = await inTurn(times, (asReference) => graph(served, asReference));
    add(row("P12", "plan of 1,000 steps, until it answers", drawn, "interactive", 1000), row("P12", "longest frame, panned and zoomed", drawn, "longest", 50));
    const long = longRun();
    const scrolled = await inTurn(times, (asReference) => activity(served, long, asReference));
    add(row("P12", "longest frame, 100,000 rows scrolled", scrolled, "longest", 50), row("P12", "until all 100,000 rows are there", scrolled, "opened"));
    if (file) writeFileSync(file, `${JSON.stringify({ table }, null, 2)}\n`);
    return table.every(({ ours, must }) => must === null || ours.median <= must);
  } finally {
    served.close();
    app.close();
    await (await browser()).close();
  }
}

process.exitCode = (await main(process.argv[2])) ? 0 : 1;
process.exit();
