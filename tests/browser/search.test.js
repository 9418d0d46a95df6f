// The search service: set up, tried out, named on a plan, used by its run, and removed; its key shows no more of itself than
// its end.

import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, step, waitsForApproval } from "./person.js";

const canary = "BSA-canary-of-search-6633";
const card = (page) => page.getByRole("region", { name: "Web search" });

/** A search service of this machine; it ends with the test. */
async function startSearch(t) {
  const search = { seen: [], answer: (response) => results(response, 200, { results: [{ url: "https://birds.example/heron", title: "Heron", content: "A tall bird." }] }) };
  const server = createServer((request, response) => {
    search.seen.push({ path: request.url, token: request.headers["x-subscription-token"] ?? null });
    search.answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  search.host = `127.0.0.1:${server.address().port}`;
  search.url = `http://${search.host}`;
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return search;
}

function results(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function use(page, kind, address) {
  await goTo(page, "#/settings");
  await card(page).getByRole("radiogroup", { name: "Service" }).getByText(kind, { exact: true }).click();
  await card(page).getByLabel("Address").fill(address);
  await press(card(page), "Use it");
  await card(page).getByRole("button", { name: "Remove", exact: true }).waitFor();
}

scenario("an address where no search may be sent is not kept, and a service of one's own is tried out", {}, async ({ t, page }) => {
  const search = await startSearch(t);
  await goTo(page, "#/settings");
  await card(page).getByLabel("Address").fill("http://search.example.org");
  await check(page, "A search service before it is set up");
  await press(card(page), "Use it");
  await card(page).getByText(/must begin with https/).waitFor();
  assert.ok(await card(page).getByRole("button", { name: "Test" }).isDisabled());
  await use(page, "SearXNG", search.url);
  await press(card(page), "Test");
  await card(page).getByText("It works: one result came back.").waitFor();
  await check(page, "A search service that works");
  assert.equal(search.seen[0].path, "/search?q=weather&format=json");
  search.answer = (response) => {
    response.writeHead(403, { "content-type": "text/html" });
    response.end("<html>Forbidden</html>");
  };
  await press(card(page), "Test");
  await card(page).getByRole("alert").getByText(/settings\.yml lists json/).waitFor();
  await check(page, "A search service that does not give out JSON");
  await page.reload();
  assert.equal(await card(page).getByLabel("Address").inputValue(), search.url);
  await press(card(page), "Remove");
  await shows(page, "No plan can search the web any more.");
  await card(page).getByRole("button", { name: "Remove", exact: true }).waitFor({ state: "detached" });
  assert.equal(await card(page).getByLabel("Address").inputValue(), "");
});

scenario("a key goes to its service and to no page", {}, async ({ t, app, page }) => {
  const search = await startSearch(t);
  search.answer = (response) => results(response, 401, { error: { detail: `no account has ${canary}` } });
  await use(page, "Brave Search", search.url);
  await press(card(page), "Test");
  await card(page).getByRole("alert").getByText(/There is no key for the search service/).waitFor();
  await card(page).getByLabel("Key", { exact: true }).fill(canary);
  await press(card(page), "Keep in the keychain");
  await card(page).getByText(/A key ending in 6633/).waitFor();
  await press(card(page), "Test");
  await card(page).getByRole("alert").getByText(/refused the key/).waitFor();
  assert.deepEqual(search.seen.map(({ token }) => token), [canary]);
  search.answer = (response) => results(response, 200, { web: { results: [] } });
  await press(card(page), "Test");
  await card(page).getByText(/found nothing for/).waitFor();
  await check(page, "A search service with its key");
  await page.reload();
  await card(page).getByText(/A key ending in 6633/).waitFor();
  assert.ok(!(await page.content()).includes(canary), "the page forgot the key");
  assert.deepEqual(app.files().filter(({ bytes }) => bytes.includes(canary)).map(({ name }) => name), []);
});

scenario("a plan says where it searches, and its run does", {}, async ({ t, app, page }) => {
  const search = await startSearch(t);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), `${notesTask}limits: { maxMinutes: 30 }\n`);
  const plan = JSON.parse(usualAnswers.plan());
  plan.steps[0] = { ...plan.steps[0], name: "Look the birds up", tools: ["web_search"], args: { web_search: { query: "heron wren owl" } } };
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan) });
  await connect(page, { url: fake.url, model });
  await use(page, "SearXNG", search.url);
  await openTask(page, app, join(folder, "birds.yaml"));
  await shows(page, /30 minutes at work/);
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await shows(page, "Search the web at");
  await shows(page, search.host);
  await shows(page, /30 minutes at work/);
  await check(page, "A plan that searches the web");
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  assert.equal(search.seen[0].path, "/search?q=heron+wren+owl&format=json");
  await page.getByRole("radiogroup", { name: "What to look at" }).getByText("Steps", { exact: true }).click();
  await step(page, "Look the birds up").click();
  await shows(page, "Searches the web");
});
