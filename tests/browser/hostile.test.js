// Words that would like to be a program: in a goal, a title, a plan, a file and its name. None of it runs, and nothing
// is asked for elsewhere (each test ends with that, see `scenario`).

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { model, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, show, shows, step, waitsForApproval } from "./person.js";

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
