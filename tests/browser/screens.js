// Takes a picture of every screen, in both themes and two sizes, from the real app: `npm run screens [FOLDER]`.
// With a name after the folder, only that screen's (`npm run screens -- FOLDER verdict`).
// `npm run docs` takes those of `docs/screens.md` in one size, small enough to be kept, and writes that page.

import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openWindow, startApp, temporaryFolder } from "./app.js";
import { faults, filesPlan, filesTask, model, notesTask, startModel, twoLetters, usualAnswers, wanting } from "./fake-model.js";
import { startFlow } from "./terminal.js";
import { connect, goTo, openTask, press, putKey, show, shows, stands, step, waitsForApproval } from "./person.js";

const folder = process.argv[2] ? resolve(process.argv[2]) : mkdtempSync(join(tmpdir(), "tepa-screens-"));
const only = process.argv[3] ?? "";
// Some of the parts and sizes alone, for whoever works on one of them: `TEPA_SCREENS="steered 1280"`.
const wanted = (process.env.TEPA_SCREENS ?? "").split(" ").filter(Boolean);
const chosen = (among) => among.filter((one) => wanted.includes(`${one}`)).length === 0;
const parts = { sample, composed, edited, steered, flow, results, counted, served, searched };
mkdirSync(folder, { recursive: true });
// What the page of screens shows, in its order, with a line about each.
const told = {
  "home-first": "The first start: one button runs a sample, without account or key.",
  "compose": "A task as a letter. Each thing that must hold says who checks it.",
  "compose-templates": "Tasks to begin with.",
  "run-plan": "A plan waits: why, what it may touch, what it will cost.",
  "plan-edited": "The plan is changed before it is approved; what is wrong stands on the step.",
  "run-working": "The run at work, a step looked at while the model speaks.",
  "run-revised": "The second cycle: what the plan changed, and why.",
  "run-questions": "Steps that ask first, answered in place.",
  "run-list": "The same plan as a list, for the keyboard and for readers of the screen.",
  "verdict": "The verdict: criteria and cycles, with the evidence of each.",
  "verdict-table": "Results are read where they are judged.",
  "verdict-next": "Not passed: what is missing, and what can be done.",
  "verdict-changes": "Files changed, line by line.",
  "runs": "Every run is kept, found again, saved as a file, or deleted.",
  "overview": "What runs add up to.",
  "settings": "Models and keys, roles, prices, limits, language.",
  "servers": "MCP servers: connected and allowed by a person, and not called when they changed.",
  "palette": "Every command from the keyboard.",
};
const forDocs = process.env.TEPA_SCREENS_PAGE !== undefined;
console.log(folder);

// A page with all of them side by side, both themes in a row, for whoever wants to judge at a glance.
after(() => {
  if (forDocs) return writeDocs();
  const pictures = readdirSync(folder).filter((name) => name.endsWith("-light-1280.png"));
  const rows = pictures.map((light) => {
    const name = light.replace("-light-1280.png", "");
    return `| ${name} | ![${name}, light](${light}) | ![${name}, dark](${light.replace("-light-", "-dark-")}) |`;
  });
  writeFileSync(join(folder, "screens.md"), `# Every screen\n\nMade by \`npm run screens --prefix tests/browser\`.\n\n| Screen | Light | Dark |\n|---|---|---|\n${rows.join("\n")}\n`);
});

function writeDocs() {
  const rows = Object.entries(told).map(([name, words]) => `## ${words}\n\n| Light | Dark |\n|---|---|\n| ![${words} Light.](screens/${name}-light.jpeg) | ![${words} Dark.](screens/${name}-dark.jpeg) |\n`);
  const about = "Made by `npm run docs --prefix tests/browser` from the real app, with recorded and scripted models; the numbers of the overview are invented.";
  writeFileSync(join(folder, "../screens.md"), `# Screens\n\n${about}\n\n${rows.join("\n")}`);
}

for (const theme of ["light", "dark"]) {
  for (const size of forDocs ? [[1280, 800]] : [[1280, 800], [1920, 1080]]) {
    if (!chosen([1280, 1920]) && !wanted.includes(`${size[0]}`)) continue;
    test(`${theme} ${size.join("x")}`, async (t) => {
      const take = async (page, name) => {
        if (!name.startsWith(only) || (forDocs && !Object.hasOwn(told, name))) return;
        await page.mouse.move(2, 2);
        await page.evaluate(() => Promise.all(document.getAnimations().filter((one) => one.effect?.getComputedTiming().iterations === 1).map((one) => one.finished.catch(() => {}))));
        if (forDocs) {
          await page.screenshot({ path: join(folder, `${name}-${theme}.jpeg`), type: "jpeg", quality: 72 });
          return;
        }
        await page.screenshot({ path: join(folder, `${name}-${theme}-${size[0]}.png`) });
      };
      for (const [name, part] of Object.entries(parts)) {
        if (chosen(Object.keys(parts)) || wanted.includes(name)) await part(t, { theme, size }, take);
      }
    });
  }
}

async function sample(t, look, take) {
  const app = await startApp(t, { natural: true });
  const page = await openWindow(t, app, look);
  await page.getByRole("button", { name: "Try the sample" }).waitFor();
  await take(page, "home-first");
  await goTo(page, "#/runs");
  await shows(page, "Every run is kept here");
  await take(page, "runs-empty");
  await goTo(page, "#/");
  await press(page, "Try the sample");
  await shows(page, "Making a plan");
  await take(page, "run-planning");
  await waitsForApproval(page, 1);
  await take(page, "run-plan");
  await press(page, "Reject");
  await page.getByRole("dialog").waitFor();
  await take(page, "run-reject");
  await press(page, "Cancel");
  await press(page, "Approve");
  await step(page, "Explain the table").and(page.locator("[data-status=running]")).click();
  await page.getByRole("complementary", { name: "Step" }).getByText("The model is saying").waitFor();
  await take(page, "run-working");
  await waitsForApproval(page, 2);
  await take(page, "run-revised");
  await step(page, "Find expenses to check").click();
  await take(page, "run-changed-step");
  await goTo(page, "#/");
  await page.getByRole("link", { name: "Review", exact: true }).waitFor();
  await take(page, "home-waiting");
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await press(page, "Approve");
  await stands(page, "Passed");
  await page.getByRole("radiogroup", { name: "What to look at" }).getByText("Verdict").click();
  await page.getByRole("heading", { name: "Totals by category and month" }).waitFor();
  await take(page, "verdict");
  await page.getByRole("tab", { name: "flagged.csv" }).scrollIntoViewIfNeeded();
  await page.getByRole("tab", { name: "flagged.csv" }).click();
  await page.getByRole("columnheader", { name: "merchant" }).waitFor();
  await take(page, "verdict-table");
  await show(page, "Steps");
  await step(page, "Find expenses to check").click();
  await take(page, "run-done");
  await page.getByRole("tab", { name: /Files changed/ }).click();
  await take(page, "run-files");
  await press(page, "Look back");
  await page.getByRole("slider", { name: "Moment" }).focus();
  for (let moment = 0; moment < 24; moment += 1) await page.keyboard.press("ArrowLeft");
  await page.getByRole("tab", { name: "Activity" }).click();
  await take(page, "run-past");
  await press(page, "Back to how it is now");
  await press(page, "About this plan");
  await take(page, "run-about");
  await page.keyboard.press("Escape");
  await press(page, "Show as a list");
  await take(page, "run-list");
  await app.kill();
  const again = await startApp(t, { data: app.data, natural: true });
  const later = await openWindow(t, again, look);
  await press(later, "Run the sample");
  await waitsForApproval(later, 1);
  await press(later, "Approve");
  await later.locator('button[data-step="step_6"][data-status="running"]').waitFor();
  await again.kill();
  const last = await startApp(t, { data: app.data });
  const interrupted = await openWindow(t, last, look);
  await shows(interrupted, "The app closed while this run was at work.");
  await take(interrupted, "home-interrupted");
  await interrupted.getByRole("link", { name: /Quarterly expenses/ }).first().click();
  await stands(interrupted, "Interrupted");
  await take(interrupted, "run-interrupted");
  await goTo(interrupted, "#/runs");
  await interrupted.getByRole("link", { name: "Quarterly expenses" }).first().waitFor();
  await take(interrupted, "runs");
  await interrupted.keyboard.press("Control+k");
  await interrupted.getByPlaceholder("What would you like to do?").waitFor();
  await take(interrupted, "palette");
  await interrupted.keyboard.press("Escape");
  await interrupted.getByPlaceholder("What would you like to do?").waitFor({ state: "detached" });
  await interrupted.keyboard.press("Control+/");
  await interrupted.getByRole("dialog").waitFor();
  await take(interrupted, "shortcuts");
}

/** MCP servers in every standing; they are the small program of the Rust tests. */
async function served(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  // Where this computer keeps the project is nobody's business in a picture.
  const place = temporaryFolder(t);
  const [script, mark] = [join(place, "server.py"), join(place, "changed")];
  copyFileSync(fileURLToPath(new URL("../../src-tauri/crates/mcp/tests/servers/odd.py", import.meta.url)), script);
  const card = page.getByRole("region", { name: "MCP servers" });
  await goTo(page, "#/settings");
  await card.getByLabel("Settings of the server").waitFor();
  await card.scrollIntoViewIfNeeded();
  await take(page, "servers-none");
  const odd = (args, env = {}) => ({ command: "python3", args: [script, ...args], env });
  const mcpServers = { calendar: odd([], { CALENDAR_TOKEN: "sk-0000" }), library: odd([`changed-if=${mark}`]), mail: odd(["quits"]), weather: odd([]), notes: odd(["again"]) };
  await card.getByLabel("Settings of the server").fill(JSON.stringify({ mcpServers }));
  await press(card, "Add");
  const allow = async (name) => {
    await press(card, `Connect: ${name}`);
    await press(card, `Allow these 2 tools: ${name}`);
    await card.getByRole("button", { name: `Allow these 2 tools: ${name}` }).waitFor({ state: "detached" });
  };
  await allow("calendar");
  await allow("library");
  writeFileSync(mark, "");
  await press(card, "Test: library");
  await press(card, "Connect: mail");
  await press(card, "Connect: weather");
  await card.getByRole("button", { name: "Allow these 2 tools: weather" }).waitFor();
  await card.getByText("Changed", { exact: true }).waitFor();
  await card.getByText("Not reached").waitFor();
  await card.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await take(page, "servers");
  await page.getByRole("listitem", { name: "weather" }).scrollIntoViewIfNeeded();
  await take(page, "servers-more");
}

/** The search service, a plan that names it, and a step that asks a person. */
async function searched(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const results = JSON.stringify({ results: [{ url: "https://birds.example/heron", title: "Heron", content: "A tall bird." }] });
  const search = createServer((_, response) => response.end(results)).listen(0, "127.0.0.1");
  await once(search, "listening");
  t.after(() => search.close());
  const card = page.getByRole("region", { name: "Web search" });
  await goTo(page, "#/settings");
  await card.getByLabel("Address").waitFor();
  await card.scrollIntoViewIfNeeded();
  await take(page, "search-none");
  await card.getByText("Brave Search", { exact: true }).click();
  await press(card, "Use it");
  await card.getByLabel("Key", { exact: true }).waitFor();
  await press(card, "Test");
  await card.getByRole("alert").waitFor();
  await card.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await take(page, "search-key");
  await card.getByText("SearXNG", { exact: true }).click();
  await card.getByLabel("Address").fill(`http://127.0.0.1:${search.address().port}`);
  await press(card, "Use it");
  await press(card, "Test");
  await card.getByText(/It works/).waitFor();
  await take(page, "search");
  const work = temporaryFolder(t, "birds");
  writeFileSync(join(work, "birds.yaml"), `${notesTask}tools: [ask_person, web_search, file_write]\nlimits: { maxMinutes: 30 }\n`);
  const plan = JSON.parse(usualAnswers.plan());
  plan.steps[0] = { ...plan.steps[0], name: "Look the birds up", tools: ["web_search"], args: { web_search: { query: "heron wren owl" } } };
  const asks = { question: "Whom is the letter for?\n\nIt changes how it begins.", choices: ["Grandma", "The neighbours"] };
  plan.steps[1] = { ...plan.steps[1], name: "Ask whom it is for", tools: ["ask_person"], args: { ask_person: asks } };
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan) });
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(work, "birds.yaml"));
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await page.getByRole("region", { name: "Limits" }).getByRole("button", { name: "Change" }).click();
  await page.getByRole("region", { name: "Limits" }).scrollIntoViewIfNeeded();
  await take(page, "limits");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await take(page, "search-plan");
  await press(page, "Approve");
  await page.getByRole("region", { name: "This step asks you" }).or(page.getByText("This step asks you")).first().waitFor();
  await take(page, "asked");
}

/** What a history of some weeks adds up to; the times are told to the page, which asks for nothing else. */
async function counted(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const day = 86_400_000;
  const titles = ["Quarterly expenses", "Weekly report", "Clean the address list", "Grade the essays"];
  const runs = Array.from({ length: 64 }, (_, index) => {
    const status = index % 5 === 3 ? "fail" : index % 11 === 7 ? "terminated" : "pass";
    const startedAtMs = Date.now() - Math.floor((index / 4.3) * day * 0.9) - 60_000;
    const tokensUsed = 9000 + ((index * 7919) % 17000);
    const amount = (tokensUsed * (index % 4 === 1 ? 0.4 : 6)) / 1e6;
    const model = (name, part) => ({ model: name, tokens: Math.round(tokensUsed * part), cost: amount * part, timeMs: 8000 * part * (1 + (index % 5)) });
    const models = index % 4 === 1 ? [model("ollama:qwen3:14b", 1)] : [model("anthropic:claude-sonnet-4-5", 0.7), model("anthropic:claude-haiku-4-5", 0.3)];
    const cost = { amount, currency: "USD", unpriced: [] };
    return { runId: `r${index}`, title: titles[(index * 7) % 4], status, stopReason: null, cycles: 1 + (index % 3), tokensUsed, cost, models, workedMs: 40_000 + ((index * 6007) % 90_000), folder: "/home/ada/Office", recorded: false, startedAtMs, updatedAtMs: startedAtMs, endedAtMs: startedAtMs + 60_000, driven: false };
  });
  await page.route("**/ipc/run_list", (route) => {
    const { status: asked, text } = route.request().postDataJSON();
    const listed = runs.filter(({ status }) => (asked ?? []).length === 0 || asked.includes(status));
    const words = "… the totals of each category and the reminders that are still open, in one page";
    const found = text ? listed.map(({ runId }, index) => ({ runId, place: index % 3 === 0 ? "feedback" : "goal", text: words, marks: [{ from: 6, to: 12 }, { from: 38, to: 47 }] })) : [];
    return route.fulfill({ json: { runs: listed, next: null, found } });
  });
  await page.route("**/ipc/run_models", (route) => route.fulfill({ json: { models: [...new Set(runs.flatMap(({ models }) => models.map((used) => used.model)))].sort() } }));
  await goTo(page, "#/runs");
  await page.reload();
  await page.getByRole("radiogroup", { name: "How to look at them" }).getByText("Overview").click();
  await page.getByRole("table").waitFor();
  await take(page, "overview");
  await page.getByRole("radiogroup", { name: "What to add up" }).getByText("By model").click();
  await take(page, "overview-models");
  await page.getByRole("radiogroup", { name: "How to look at them" }).getByText("List").click();
  await take(page, "runs-many");
  await page.getByLabel("Search names, goals and results").fill("tot rem");
  await page.getByRole("mark").first().waitFor();
  await take(page, "runs-found");
}

async function composed(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const fake = await startModel(t);
  const work = temporaryFolder(t, "birds");
  writeFileSync(join(work, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(work, "birds.yaml"), notesTask);
  await goTo(page, "#/settings");
  await shows(page, "Where it is");
  await take(page, "settings");
  await connect(page, { url: fake.url, model });
  await putKey(page, "sk-0000000000001234");
  await press(page.getByRole("region", { name: "Your own server" }), "Test connection");
  await shows(page, /It works/);
  await take(page, "settings-connected");
  await goTo(page, "#/task");
  await page.getByRole("textbox", { name: "What do you want done?" }).waitFor();
  await take(page, "compose-new");
  await press(page, "Templates");
  await page.getByRole("dialog").waitFor();
  await take(page, "compose-templates");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await openTask(page, app, join(work, "birds.yaml"));
  await shows(page, "birds.yaml");
  await take(page, "compose");
  await press(page, "Details of the check");
  await take(page, "compose-check");
  await press(page, "Who checks it: judged by the model");
  await page.getByRole("menu").waitFor();
  await take(page, "compose-menu");
  await page.keyboard.press("Escape");
  await page.getByText("Source", { exact: true }).click();
  await page.getByRole("textbox", { name: "Source" }).waitFor();
  await take(page, "compose-source");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Ask for changes");
  await page.getByLabel("What should be different?").fill("Name only the wren.");
  await take(page, "run-changes");
  await openTask(page, app, join(work, "birds.yaml"));
  fake.fault = faults.page;
  await press(page, "Make a plan");
  await stands(page, "Did not pass");
  await take(page, "verdict-failed");
  await show(page, "Steps");
  await take(page, "run-failed");
}

async function edited(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const fake = await startModel(t);
  const work = temporaryFolder(t, "birds");
  writeFileSync(join(work, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(work, "birds.yaml"), notesTask);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(work, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Edit");
  const panel = page.getByRole("complementary", { name: "Change the plan" });
  await take(page, "plan-editing");
  await press(panel, "Add a step");
  await panel.getByLabel("Name", { exact: true }).fill("Count the birds");
  await panel.getByLabel("What it does").fill("Count the birds in the notes");
  await step(page, "Count the birds").and(page.locator("[data-problem]")).waitFor();
  await take(page, "plan-edited-step");
  await press(panel, "Close (Esc)");
  await panel.getByRole("heading", { name: "What you changed" }).waitFor();
  await take(page, "plan-edited");
}

async function steered(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const letters = ["Three birds: there are three birds.", "A heron, a wren and an owl: three birds."];
  let plan = usualAnswers.plan();
  const fake = await startModel(t, { ...usualAnswers, plan: () => plan, text: () => letters[0], judgement: wanting(9) });
  const work = temporaryFolder(t, "birds");
  writeFileSync(join(work, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(work, "birds.yaml"), `${notesTask}limits: { maxCycles: 1 }\n`);
  writeFileSync(join(work, "rules.yaml"), `${notesTask}hooks: [{ askMe: step }, { forbid: http }, { maxSteps: 8 }, { stop: { below: 0.4 } }]\n`);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(work, "birds.yaml"));
  const release = fake.hold("text");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await step(page, "Tell it briefly").and(page.locator("[data-status=running]")).waitFor();
  await page.getByRole("button", { name: /Change the limits/ }).click();
  await page.getByRole("dialog").waitFor();
  await take(page, "run-limits");
  await press(page.getByRole("dialog"), "Cancel");
  await press(page, "Tell the run something");
  await page.getByLabel("What should the next plan know?").fill("Mention the weather.");
  await take(page, "run-guide");
  await press(page.getByRole("dialog"), "Cancel");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await press(page, "Pause");
  release();
  await stands(page, "Paused");
  await take(page, "run-paused");
  await press(page.getByRole("status").filter({ hasText: "You paused" }), "Continue");
  await stands(page, "Did not pass");
  await take(page, "verdict-next");
  await press(page, "Accept the results");
  await page.getByRole("dialog").waitFor();
  await take(page, "verdict-accept");
  await press(page.getByRole("dialog"), "Cancel");
  plan = twoLetters;
  await openTask(page, app, join(work, "rules.yaml"));
  await shows(page, "rules.yaml");
  await page.getByRole("switch", { name: "Use these rules" }).click();
  await page.getByRole("switch", { name: "Use these rules" }).scrollIntoViewIfNeeded();
  await take(page, "compose-rules");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await page.getByRole("group", { name: "2 questions wait for you" }).waitFor();
  await take(page, "run-questions");
  await press(page, "Show as a list");
  await take(page, "run-questions-list");
}

async function flow(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const fake = await startModel(t);
  await connect(page, { url: fake.url, model });
  await startFlow(app.data, temporaryFolder(t, "flows"), fake.url, model);
  await goTo(page, "#/runs");
  await page.reload();
  await page.getByRole("link", { name: "welcome" }).click();
  await page.getByLabel("Name").fill("Ada");
  await take(page, "flow-question");
  await press(page, "Send the answer");
  await shows(page, "Shall it be sent?");
  await page.locator("ol button").first().click();
  await take(page, "flow-step");
}

async function results(t, look, take) {
  const app = await startApp(t);
  const page = await openWindow(t, app, look);
  const fake = await startModel(t, { ...usualAnswers, plan: () => filesPlan });
  const work = temporaryFolder(t, "birds");
  writeFileSync(join(work, "birds.yaml"), filesTask);
  writeFileSync(join(work, "list.csv"), "id,name\n1,heron\n7,crane\n");
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(work, "birds.yaml"));
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  const came = page.getByRole("region", { name: "What came out" });
  await press(came, "birds 2 items");
  await press(came, "birds 2 items");
  await came.scrollIntoViewIfNeeded();
  await take(page, "verdict-json");
  await came.getByRole("tab", { name: "Changes" }).click();
  await came.getByRole("region", { name: "What changed in list.csv" }).scrollIntoViewIfNeeded();
  await take(page, "verdict-changes");
  await page.getByRole("button", { name: /^id 1 twice/ }).click();
  await page.locator("tr[data-marked]").first().waitFor();
  await take(page, "verdict-place");
  await undone(page, work, take);
}

/** What a run changed, taken back: a file that was edited since, the result, and the list afterwards. */
async function undone(page, work, take) {
  await show(page, "Steps");
  await page.getByRole("tab", { name: /Files changed/ }).click();
  await page.getByRole("img", { name: /lines added/ }).first().waitFor();
  await take(page, "files-changed");
  const list = join(work, "list.csv");
  writeFileSync(list, readFileSync(list, "utf8").replace("1,heron", "1,grey heron"));
  await page.getByRole("region", { name: "More about the run" }).getByRole("button", { name: "Undo changes" }).click();
  const dialog = page.getByRole("dialog");
  await press(dialog, "Compare");
  await dialog.getByRole("region", { name: "What changed in list.csv" }).waitFor();
  await take(page, "undo-preview");
  await dialog.getByText("Restore anyway").click();
  await dialog.getByRole("button", { name: /^Undo \d+ files?$/ }).click();
  await dialog.getByRole("button", { name: "Redo" }).waitFor();
  await take(page, "undo-result");
  await page.keyboard.press("Escape");
  await shows(page, "undone");
  await take(page, "files-undone");
}
