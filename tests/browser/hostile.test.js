// Words that would like to be a program: in a goal, a title, a plan, a file and its name. None of it runs, and nothing
// is asked for elsewhere (each test ends with that, see `scenario`).

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { browser, scenario, temporaryFolder } from "./app.js";
import { model, startModel, usualAnswers } from "./fake-model.js";
import { payloads } from "./payloads.js";
import { connect, goTo, openTask, press, show, shows, step, trySample, waitsForApproval } from "./person.js";

const script = "<img src=x onerror=\"alert('ran')\"><script>alert('ran')</script>";
const page = `# Birds ${script}

[a link](javascript:alert('ran')) [data](data:text/html,<script>alert('ran')</script>) <javascript:alert('ran')>

![picture](https://example.org/pixel.png) ![p](javascript:alert('ran')) <iframe src="https://example.org/"></iframe>

<svg onload="alert('ran')"></svg> <a href="https://example.org" onclick="alert('ran')">raw</a>
<style>@import url(https://example.org/x.css); body { display: none }</style>

| a | b |
|---|---|
| ${script} | [x](vbscript:alert('ran')) |
`;

const task = `name: ${JSON.stringify(`Birds ${script}`)}
goal: ${JSON.stringify(`Write a letter ${script}`)}
context: ${JSON.stringify({ [script]: script })}
expectedOutput:
  - path: letter.md
    description: ${JSON.stringify(`A letter ${script}`)}
    criteria:
      - ${JSON.stringify(`Names the birds ${script}`)}
  - path: table.csv
    description: A table
`;

const plan = {
  reasoning: page,
  estimatedTokens: 900,
  steps: [
    { id: "step_1", name: `Think ${script}`, description: page, tools: [], expectedOutcome: script, dependencies: [], tier: "high" },
    write("step_2", "letter.md", page, ["step_1"]),
    write("step_3", "table.csv", `a,b\n"${script.replaceAll('"', '""')}","=HYPERLINK(""javascript:alert('ran')"")"\n`, []),
    write("step_4", "page.html", `<h1>hi</h1>${script}`, []),
    write("step_5", "picture.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert('ran')"/>`, []),
  ],
};

function write(id, path, content, dependencies) {
  return { id, name: `Write ${path}`, description: "Write", tools: ["file_write"], expectedOutcome: script, dependencies, tier: "low", args: { file_write: { path, content } } };
}

scenario("what others wrote is shown as words, and never runs", {}, async ({ t, app, page: window }) => {
  const folder = temporaryFolder(t, "birds <img src=x onerror=alert('ran')>");
  writeFileSync(join(folder, "task.yaml"), task);
  const judgement = (body) => usualAnswers.judgement(body).replaceAll("three birds", `Birds ${script.replaceAll('"', '\\"')}`);
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan), text: () => page, judgement });
  await connect(window, { url: fake.url, model });
  await openTask(window, app, join(folder, "task.yaml"));
  await shows(window, /birds <img/);
  await press(window, "Make a plan");
  await waitsForApproval(window, 1);
  assert.match(await window.getByRole("heading", { level: 1 }).innerText(), /<img src=x onerror="alert\('ran'\)">/);
  await press(window, "Approve");
  await shows(window, /(Passed in|not hold|is missing|are missing)/);

  const came = window.getByRole("region", { name: "What came out" });
  await came.getByRole("heading", { name: /Birds/ }).waitFor();
  assert.equal(await came.locator("a, img, iframe, script, style, svg[onload]").count(), 0);
  for (const name of ["table.csv"]) {
    await came.getByRole("tab", { name }).click();
    await came.getByRole("cell", { name: /<img src=x/ }).waitFor();
  }
  await show(window, "Steps");
  await step(window, "Think").click();
  await window.getByRole("complementary", { name: "Step" }).getByText(/javascript:alert/).first().waitFor();
  await window.keyboard.press("Escape");
  await window.getByRole("tab", { name: /Files changed/ }).click();
  for (const file of ["letter.md", "page.html", "picture.svg"]) {
    await window.getByRole("button", { name: new RegExp(`^${file} new`) }).click();
    const dialog = window.getByRole("dialog");
    await dialog.getByText(/Birds|alert/).first().waitFor();
    assert.equal(await dialog.locator("img, iframe, script, style, svg[onload]").count(), 0);
    await press(dialog, "Close");
    await dialog.waitFor({ state: "detached" });
  }
  await goTo(window, "#/runs");
  await window.getByRole("link", { name: /Birds <img/ }).waitFor();
  await goTo(window, "#/");
  await window.getByRole("link", { name: /Birds <img/ }).waitFor();
});

scenario("an address cannot make the page run or load anything", {}, async ({ app, page: window }) => {
  for (const hash of ["#/runs/%3Cimg%20src=x%20onerror=alert(1)%3E", "#/runs/..%2F..%2Fsettings", "#/runs/%", "#javascript:alert(1)", "#//example.org/"]) {
    await window.goto(`${app.url}/${hash}`);
    await window.reload();
    await window.getByRole("heading", { level: 1 }).waitFor();
  }
});

/** File names that a system takes: no slashes, and not too long. */
const names = payloads.map((text) => text.replaceAll(/[/\0\\\n\r\t]/g, "_").slice(0, 60)).filter((name) => !name.startsWith("."));
const distinct = [...new Set(names)];
const inCsv = (text) => `"${text.replaceAll('"', '""')}"`;

/** Nothing in the page could run or fetch anything that others wrote. */
async function isInert(window, place) {
  const found = await window.evaluate(() => {
    const dangerous = "main :is(script, iframe, object, embed, base, meta, link, form[action], video, audio, portal, [srcdoc], a[href^='javascript' i], a[href^='data' i], a[href^='vbscript' i])";
    const handled = [...document.querySelectorAll("main *")].filter((one) => [...one.attributes].some(({ name }) => name.startsWith("on")));
    const fetched = [...document.querySelectorAll("main img")].filter((one) => !one.src.startsWith("blob:") && !one.src.startsWith("data:") && !one.src.startsWith(location.origin));
    return [...document.querySelectorAll(dangerous), ...handled, ...fetched].map((one) => one.outerHTML.slice(0, 200));
  });
  assert.deepEqual(found, [], place);
}

scenario("200 payloads in a goal, facts, criteria, a plan, results, file names, evidence and model names are words everywhere", {}, async ({ t, app, page: window }) => {
  assert.equal(payloads.length, 200);
  const folder = temporaryFolder(t, distinct[0]);
  for (const name of distinct.slice(0, 40)) writeFileSync(join(folder, name), name);
  const all = payloads.join("\n\n");
  const criteria = payloads.map((text) => (text.trim() === "" ? "x" : text));
  const context = Object.fromEntries(payloads.slice(0, 40).map((text) => [text.slice(0, 60), text]));
  const listed = distinct.slice(40, 60).map((name) => `${name}.md`);
  const expectedOutput = [
    { path: "all.md", description: all, criteria },
    { path: "all.csv", description: payloads[0], criteria: [] },
    { path: "all.json", description: payloads[1], criteria: [] },
    { path: "all.html", description: payloads[2], criteria: [] },
    { path: "all.svg", description: payloads[3], criteria: [] },
    ...listed.map((path) => ({ path, description: path, criteria: [] })),
  ];
  writeFileSync(join(folder, "task.yaml"), JSON.stringify({ name: payloads.slice(0, 5).join(" "), goal: all, context, expectedOutput, limits: { maxCycles: 1 } }));
  const contents = {
    "all.md": all,
    "all.csv": `payload,again\n${payloads.map((text) => `${inCsv(text)},${inCsv(text)}`).join("\n")}\n`,
    "all.json": JSON.stringify(Object.fromEntries(payloads.map((text) => [text, [text]]))),
    "all.html": all,
    "all.svg": `<svg xmlns="http://www.w3.org/2000/svg">${all}</svg>`,
    ...Object.fromEntries(listed.map((path) => [path, path])),
  };
  const writing = Object.entries(contents).map(([path, content], index) => ({ ...write(`w${index}`, path, content, []), name: payloads[index], description: payloads[index + 30], expectedOutcome: payloads[index + 60] }));
  const thinking = { id: "think", name: payloads[5], description: all.slice(0, 4000), tools: [], expectedOutcome: payloads[6], dependencies: [], tier: "high" };
  const judgement = (body) => {
    const judged = JSON.parse(usualAnswers.judgement(body));
    judged.criteria.forEach((one, index) => (one.evidence = payloads[index % payloads.length]));
    return JSON.stringify({ ...judged, summary: all });
  };
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify({ reasoning: all, estimatedTokens: 900, steps: [thinking, ...writing] }), text: () => all, judgement });
  fake.names = payloads;
  await connect(window, { url: fake.url, model });
  await window.getByRole("region", { name: "Your own server" }).getByLabel("Model", { exact: true }).fill("<");
  await isInert(window, "Settings");
  await openTask(window, app, join(folder, "task.yaml"));
  await window.getByRole("button", { name: "Make a plan" }).and(window.locator(":enabled")).waitFor();
  await isInert(window, "Compose");
  await press(window, "Make a plan");
  await waitsForApproval(window, 1);
  await isInert(window, "Plan");
  await press(window, "Show as a list");
  await isInert(window, "Plan as a list");
  await press(window, "Approve");
  await shows(window, /^(Passed in|.* (do|does) not hold|.* (is|are) missing)/);
  const came = window.getByRole("region", { name: "What came out" });
  for (const tab of await came.getByRole("tab").all()) {
    await tab.click();
    await came.getByRole("tabpanel").waitFor();
    await isInert(window, await tab.innerText());
  }
  await isInert(window, "Verdict");
  await show(window, "Steps");
  await window.getByRole("tab", { name: /Files changed/ }).click();
  await isInert(window, "Files changed");
  for (const place of ["#/runs", "#/"]) {
    await goTo(window, place);
    await window.getByRole("link", { name: /alert\('ran'\)/ }).first().waitFor();
    await isInert(window, place);
  }
});

scenario("200 payloads that are searched for are words", {}, async ({ page: window }) => {
  await trySample(window);
  await goTo(window, "#/runs");
  const search = window.getByPlaceholder("Search names, goals and results");
  for (const text of payloads) await search.fill(text.replaceAll("\n", " "));
  await isInert(window, "Runs");
  await window.keyboard.press("Control+k");
  const palette = window.getByPlaceholder(/./).and(window.locator("[role=dialog] input, .mantine-Spotlight-search"));
  for (const text of payloads) await palette.first().fill(text.replaceAll("\n", " "));
  await isInert(window, "Palette");
});

test("the payloads are alive: as a page of their own they run, and ask for things", async (t) => {
  const profile = await (await browser()).newContext();
  t.after(() => profile.close());
  let effects = 0;
  const plain = payloads.slice(0, 60);
  const put = async (text) => {
    const window = await profile.newPage();
    let acted = false;
    window.on("dialog", (dialog) => {
      acted = true;
      void dialog.dismiss().catch(() => undefined);
    });
    await window.route("**/*", (route) => {
      acted ||= route.request().url().includes("example.org");
      return route.abort();
    });
    await window.setContent(text, { waitUntil: "load", timeout: 3000 }).catch(() => undefined);
    effects += acted ? 1 : 0;
    await window.close({ runBeforeUnload: false });
  };
  while (plain.length > 0) await Promise.all(plain.splice(0, 6).map(put));
  t.diagnostic(`${effects} of the first 60 act when nothing is between them and a page`);
  assert.ok(effects >= 20, `${effects}`);
});
