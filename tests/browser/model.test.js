// A task with a model server: connected in Settings, streamed in the window, and its key seen by nobody else.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { letter, model, notesTask, startModel } from "./fake-model.js";
import { connect, goTo, openTask, press, putKey, shows, stands, step, waitsForApproval } from "./person.js";

const key = "sk-canary-5fbb2f7e91d04c6a";

/** A folder with notes, and a task about them. */
function notes(t) {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron stood by the pond. A wren sang. An owl slept.\n");
  const task = join(folder, "birds.yaml");
  writeFileSync(task, notesTask);
  return { folder, task };
}

scenario("a connection is tested with the key, and the server's models are offered", {}, async ({ t, page }) => {
  const fake = await startModel(t);
  await putKey(page, key);
  const card = page.getByRole("region", { name: "Your own server" });
  await card.getByLabel("Address of the server").fill(fake.url);
  await card.getByLabel("Model", { exact: true }).fill(model);
  await press(card, "Test connection");
  await card.getByText(/It works: tiny-1 answered in/).waitFor();
  assert.ok(fake.seen.length >= 2);
  // What lies beside the protocol is looked at without the key.
  for (const { path, authorization } of fake.seen) assert.equal(authorization, path.startsWith("/v1/") ? `Bearer ${key}` : null);
  await card.getByLabel("Model", { exact: true }).fill("tin");
  await page.getByRole("option", { name: model }).click();
  await press(card, "Save");
  await page.reload();
  assert.equal(await card.getByLabel("Address of the server").inputValue(), fake.url);
  assert.equal(await card.getByLabel("Model", { exact: true }).inputValue(), model);
});

scenario("a task passes with a model whose words appear while it says them", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { task } = notes(t);
  await connect(page, { url: fake.url, model });
  await putKey(page, key);
  await openTask(page, app, task);
  const release = fake.hold("text");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");

  await step(page, "Tell it briefly").and(page.locator("[data-status=running]")).click();
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByText("Dear reader, the notes speak").waitFor();
  assert.ok(!(await panel.innerText()).includes("an owl"), "the second half has not been said yet");
  await page.reload();
  await step(page, "Tell it briefly").click();
  await panel.getByText("Dear reader, the notes speak").waitFor();
  release();

  await shows(page, "Passed in the first cycle.");
  await stands(page, "Passed");
  await page.getByRole("tabpanel").getByText(letter).waitFor();
  assert.deepEqual(fake.asked, ["plan", "tool", "text", "judgement"]);
  const asked = fake.seen.find(({ body }) => body?.tools).body;
  assert.deepEqual(asked.tool_choice, { type: "function", function: { name: "file_read" } });
  // What lies beside the protocol is looked at without the key.
  for (const { path, authorization } of fake.seen) assert.equal(authorization, path.startsWith("/v1/") ? `Bearer ${key}` : null);
});

scenario("the key is in no page, no reply and no file", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { task } = notes(t);
  await connect(page, { url: fake.url, model });
  await putKey(page, key);
  // A server that repeats the key in its refusal.
  fake.fault = (request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }));
  };
  await press(page.getByRole("region", { name: "Your own server" }), "Test connection");
  await shows(page, /refused the key/);
  const pages = [await page.content()];
  await openTask(page, app, task);
  await press(page, "Make a plan");
  await stands(page, "Did not pass");
  pages.push(await page.content());
  fake.fault = null;
  await press(page, "Continue");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  await goTo(page, "#/settings");
  await page.getByText(`A key ending in ${key.slice(-4)}`).waitFor();
  pages.push(await page.content());

  assert.equal(fake.seen.at(-1).authorization, `Bearer ${key}`, "the key that is looked for was in use");
  const replies = await Promise.all(page.replies);
  assert.ok(replies.length > 10);
  const files = app.files();
  assert.ok(files.some(({ name }) => name.endsWith(".log")) && files.some(({ name }) => name.endsWith("-wal")), "there are a log and a WAL");
  const forms = [key, Buffer.from(key).toString("base64").slice(0, 20), Buffer.from(key).toString("hex"), key.slice(3, 20)];
  for (const form of forms) {
    for (const content of pages) assert.ok(!content.includes(form), "a page has it");
    for (const reply of replies) assert.ok(!reply.includes(form), `a reply has it: ${reply.slice(0, 200)}`);
    for (const { name, bytes } of files) assert.ok(!bytes.includes(form), `${name} has it`);
  }
});
