// MCP servers: pasted, connected, allowed, used by an approved plan, not used when they became something else, removed. The
// server is a small program of the Rust tests that is really started.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, waitsForApproval } from "./person.js";

const script = fileURLToPath(new URL("../../src-tauri/crates/mcp/tests/servers/odd.py", import.meta.url));
const canary = "sk-canary-of-mcp-5512";

const card = (page) => page.getByRole("region", { name: "MCP servers" });
const row = (page, name) => card(page).getByRole("listitem", { name, exact: true });

function settings(servers) {
  const entries = Object.entries(servers).map(([name, { args = [], env }]) => [name, { command: "python3", args: [script, ...args], ...(env && { env }) }]);
  return JSON.stringify({ mcpServers: Object.fromEntries(entries) }, null, 2);
}

async function add(page, servers) {
  await goTo(page, "#/settings");
  const another = card(page).getByRole("button", { name: "Add a server" });
  const field = card(page).getByLabel("Settings of the server");
  await another.or(field).first().waitFor();
  if (await another.isVisible()) await another.click();
  await field.fill(settings(servers));
  await press(card(page), "Add");
  for (const name of Object.keys(servers)) await row(page, name).waitFor();
}

async function allow(page, name) {
  await press(row(page, name), `Connect: ${name}`);
  await press(row(page, name), `Allow these 2 tools: ${name}`);
  await row(page, name).getByText("Ready, 2 tools").waitFor();
}

scenario("what is pasted is read, connected and allowed, and its secrets are gone from the page", {}, async ({ app, page }) => {
  await goTo(page, "#/settings");
  const field = card(page).getByLabel("Settings of the server");
  await field.fill('{"mcpServers": {"a": {"command": 7}, "b": {"url": "http://example.org"}}}');
  await press(card(page), "Add");
  await card(page).getByRole("alert").getByText("a.command").waitFor();
  await card(page).getByRole("alert").getByText("b.url").waitFor();
  await check(page, "MCP servers with something wrong");
  await add(page, { birds: { env: { TOKEN: canary } } });
  await row(page, "birds").getByText("Not connected yet").waitFor();
  await row(page, "birds").getByText("Given to it, and not shown: TOKEN").waitFor();
  await press(row(page, "birds"), "Connect: birds");
  await row(page, "birds").getByText("It offers 2 tools.").waitFor();
  await row(page, "birds").getByText("Says it again.").filter({ visible: true }).first().waitFor();
  // All that models read can be read by the person, too.
  await row(page, "birds").locator("summary").filter({ hasText: "All that models read of it" }).first().click();
  const whole = row(page, "birds").getByRole("region", { name: /^All that models read of it/ });
  await whole.filter({ visible: true }).filter({ hasText: '"type": "object"' }).waitFor();
  await row(page, "birds").getByText("Says that it only reads.").waitFor();
  await check(page, "An MCP server that waits to be allowed");
  await press(row(page, "birds"), "Allow these 2 tools: birds");
  await row(page, "birds").getByText("Ready, 2 tools").waitFor();
  await check(page, "An MCP server that is ready");
  await page.reload();
  await row(page, "birds").getByText("Ready, 2 tools").waitFor();
  assert.ok(!(await page.content()).includes(canary), "the page forgot what was pasted");
  const told = app.files().filter(({ bytes }) => bytes.includes(canary));
  assert.deepEqual(told.map(({ name }) => name), []);
  await press(row(page, "birds"), "Remove: birds");
  await press(page.getByRole("dialog", { name: "Remove birds?" }), "Remove");
  await card(page).getByLabel("Settings of the server").waitFor();
});

scenario("a server that offers something else by now is shown with the difference, and one that ends with its words", {}, async ({ t, page }) => {
  const mark = join(temporaryFolder(t), "changed");
  await add(page, { birds: { args: [`changed-if=${mark}`] } });
  await allow(page, "birds");
  writeFileSync(mark, "");
  await press(row(page, "birds"), "Test: birds");
  await row(page, "birds").getByText("Changed", { exact: true }).waitFor();
  await row(page, "birds").getByText("Says it again, and sends it to somebody else.").waitFor();
  await check(page, "An MCP server that changed");
  await press(row(page, "birds"), "Allow what it offers now: birds");
  await row(page, "birds").getByText("Ready, 2 tools").waitFor();
  await add(page, { broken: { args: ["quits"] } });
  await press(row(page, "broken"), "Connect: broken");
  await row(page, "broken").getByText("Not reached").waitFor();
  await row(page, "broken").getByRole("alert").getByText(/did not start: it ended with 4/).first().waitFor();
  await row(page, "broken").getByText("What it said", { exact: true }).click();
  await row(page, "broken").getByText("a key is missing").last().waitFor();
  await check(page, "An MCP server that does not start");
});

scenario("a server that does not answer can be left", {}, async ({ page }) => {
  await add(page, { silent: { args: ["says-nothing", "--api-key", canary] } });
  await row(page, "silent").getByText("Given to it, and not shown: api-key").waitFor();
  await row(page, "silent").getByText("${api-key}").waitFor();
  await press(row(page, "silent"), "Connect: silent");
  await row(page, "silent").getByRole("button", { name: "Cancel: silent" }).waitFor();
  await check(page, "An MCP server that is being connected");
  await press(row(page, "silent"), "Cancel: silent");
  await row(page, "silent").getByText("Not connected yet").waitFor();
  await row(page, "silent").getByRole("button", { name: "Cancel: silent" }).waitFor({ state: "detached" });
});

scenario("a task is given a server's tools by a switch, and a plan that names one is approved with it", {}, async ({ t, app, page }) => {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  const plan = JSON.parse(usualAnswers.plan());
  plan.steps[0] = { ...plan.steps[0], name: "Ask the server", tools: ["birds__echo"], args: { birds__echo: { words: "A heron, a wren, an owl." } } };
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan) });
  await connect(page, { url: fake.url, model });
  await add(page, { birds: {} });
  await allow(page, "birds");
  await openTask(page, app, join(folder, "birds.yaml"));
  // Until the file is open, the switch would be that of an empty letter.
  await shows(page, "birds.yaml");
  const more = page.getByRole("region", { name: "More tools" });
  await more.getByRole("switch", { name: "birds" }).click();
  await more.locator("input:checked").waitFor({ state: "attached" });
  await check(page, "Compose with an MCP server");
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await shows(page, "Use the MCP server");
  await check(page, "A plan that names an MCP server");
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
});
