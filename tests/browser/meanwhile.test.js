// What changes under the window: a folder that is moved or gone, files that go or change while they are shown, two
// windows, a history that something else holds or that a later version wrote, and a clock that is set.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openWindow, program, scenario, startApp, temporaryFolder } from "./app.js";
import { model, notesTask, startModel } from "./fake-model.js";
import { approveBoth, connect, goTo, openTask, press, show, shows, stands, trySample, waitsForApproval } from "./person.js";

const goal = (page) => page.getByRole("textbox", { name: "What do you want done?" });

/** The task of the notes, opened and ready to be planned. */
async function opened(t, app, page) {
  const fake = await startModel(t);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), `${notesTask}limits: { maxCycles: 1 }\n`);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  return folder;
}

/** The window gets the focus again, as when a person comes back from another program. */
function comeBack(page) {
  return page.evaluate(() => window.dispatchEvent(new Event("focus")));
}

scenario("a folder that was moved is named beside its field, and is fine again when it is back", {}, async ({ t, app, page }) => {
  const folder = await opened(t, app, page);
  renameSync(folder, `${folder}-moved`);
  await comeBack(page);
  await shows(page, /folder .*(not there|does not exist|no longer)/i);
  await press(page, "Make a plan");
  await shows(page, /Choose another one|choose another/i);
  assert.deepEqual((await app.call("run_list", { status: [], limit: 10 })).runs, []);
  renameSync(`${folder}-moved`, folder);
  await comeBack(page);
  await page.getByText(/folder .*(not there|does not exist|no longer)/i).first().waitFor({ state: "detached" });
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
});

scenario("a folder that is deleted while a plan waits fails the run in words, and another is picked to run it again", {}, async ({ t, app, page }) => {
  const folder = await opened(t, app, page);
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  cpSync(folder, `${folder}-moved`, { recursive: true });
  rmSync(folder, { recursive: true });
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await shows(page, /folder/i);
  const [run] = (await app.call("run_list", { status: [], limit: 10 })).runs;
  await app.picks({ folder: [`${folder}-moved`] });
  await press(page, "Run again");
  await page.waitForFunction((before) => location.hash.startsWith("#/runs/") && !location.hash.includes(before), run.runId);
  await waitsForApproval(page, 1);
});

scenario("a result that is removed or changed in another program is shown as it is now", {}, async ({ t, app, page }) => {
  const folder = await opened(t, app, page);
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  const came = page.getByRole("region", { name: "What came out" });
  await came.getByText(/a heron, a wren and an owl/).waitFor();
  writeFileSync(join(folder, "letter.md"), "# Another letter\n");
  await comeBack(page);
  await came.getByRole("heading", { name: "Another letter" }).waitFor();
  rmSync(join(folder, "letter.md"));
  await comeBack(page);
  await came.getByText("This file is not there any more.").waitFor();
  rmSync(folder, { recursive: true });
  await comeBack(page);
  await came.getByText(/The working folder .* is not there/).waitFor();
  await show(page, "Steps");
  await page.getByRole("tab", { name: /Files changed/ }).click();
  await page.getByRole("button", { name: /^letter.md new/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("tab", { name: "Changes" }).click();
  await dialog.getByText(/a heron, a wren and an owl/).first().waitFor();
});

test("two windows show the same run; what one answers the other has, and says so if it answers too", async (t) => {
  const app = await startApp(t);
  const first = await openWindow(t, app);
  await trySample(first);
  const second = await openWindow(t, app, { at: await first.evaluate(() => location.hash) });
  await waitsForApproval(second, 1);
  const [run] = (await app.call("run_list", { status: [], limit: 10 })).runs;
  await press(first, "Approve");
  await waitsForApproval(first, 2);
  await waitsForApproval(second, 2);
  const { events } = await app.call("run_events", { runId: run.runId, fromSeq: 0, limit: 1000 });
  const asked = events.findLast(({ event }) => event.type === "personAsked");
  await press(second, "Approve");
  await shows(second, "Passed in the second cycle.");
  await shows(first, "Passed in the second cycle.");
  const late = await fetch(`${app.url}/ipc/run_answer`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ runId: run.runId, key: asked.key.replace(/:[^:/]*$/, ""), answer: { kind: "reject", reason: null } }),
  });
  assert.equal(late.status, 422, "an answer that comes too late is refused");
  assert.deepEqual([...first.complaints, ...second.complaints], []);
});

test("a second app on the same data sees the run of the first, and does not take it away", async (t) => {
  const first = await startApp(t);
  const before = await openWindow(t, first);
  await trySample(before);
  const second = await startApp(t, { data: first.data });
  const page = await openWindow(t, second);
  await page.getByRole("link", { name: /Quarterly expenses/ }).first().click();
  await waitsForApproval(page, 1);
  await press(before, "Approve");
  await waitsForApproval(before, 2);
  await press(before, "Approve");
  await shows(before, "Passed in the second cycle.");
  await goTo(page, "#/runs");
  await page.reload();
  await page.getByRole("link", { name: "Quarterly expenses" }).click();
  await shows(page, "Passed in the second cycle.");
  assert.deepEqual([...before.complaints, ...page.complaints], []);
});

/** Python with its SQLite, which every system that the tests run on has: Node's own is not in all of its versions. */
async function python(t, script, ...args) {
  const child = spawn("python3", ["-c", script, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return async () => {
    child.stdin.end();
    await once(child, "exit");
  };
}

const lock = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], timeout=20, isolation_level=None)
database.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
`;

scenario("while another program holds the history, drafts and answers wait or are said to be lost, and nothing is", {}, async ({ t, app, page }) => {
  await trySample(page);
  const run = await page.evaluate(() => location.hash);
  const unlock = await python(t, lock, join(app.data, "tepa.db"));
  await press(page, "Approve");
  await shows(page, /Your answer could not be kept/);
  await goTo(page, "#/task");
  await goal(page).fill("Count the birds");
  await shows(page, /The draft could not be kept yet/);
  await unlock();
  await page.getByText(/The draft could not be kept yet/).waitFor({ state: "detached" });
  await page.reload();
  await goal(page).waitFor();
  assert.equal(await goal(page).inputValue(), "Count the birds");
  await goTo(page, run);
  await press(page, "Approve");
  await waitsForApproval(page, 2);
});

const later = `
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
columns = [row[1] for row in database.execute("PRAGMA table_info(_sqlx_migrations)")]
last = list(database.execute("SELECT * FROM _sqlx_migrations ORDER BY version DESC LIMIT 1").fetchone())
last[columns.index("version")] = 20990101000000
database.execute("INSERT INTO _sqlx_migrations VALUES (" + ",".join("?" * len(columns)) + ")", last)
database.close()
print("done", flush=True)
`;

test("a history of a later version is refused in words, and left as it is", async (t) => {
  const first = await startApp(t);
  await trySample(await openWindow(t, first));
  await first.close();
  const database = join(first.data, "tepa.db");
  await (await python(t, later, database))();
  const before = readFileSync(database);
  const child = spawn(program, ["--port", "0", "--data", first.data], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (said += part));
  const [code] = await once(child, "close");
  assert.notEqual(code, 0);
  assert.match(said, /written by a newer version of Tepa/);
  assert.deepEqual(readFileSync(database), before);
  assert.ok(existsSync(database));
});

for (const [how, years] of [["back", -1], ["ahead", 30]]) {
  test(`a clock that is set ${how} by years spoils no time, and the run goes on`, async (t) => {
    const app = await startApp(t);
    const page = await openWindow(t, app);
    await trySample(page);
    await page.clock.setFixedTime(new Date(Date.now() + years * 365 * 24 * 3600 * 1000));
    for (const place of ["#/runs", "#/", "#/settings"]) {
      await goTo(page, place);
      await page.getByRole("heading", { level: 1 }).waitFor();
      assert.doesNotMatch(await page.locator("main").innerText(), /NaN|Invalid|-\d+ ?(s|min|h)\b|undefined/);
    }
    await goTo(page, "#/runs");
    await page.getByRole("link", { name: "Quarterly expenses" }).click();
    await waitsForApproval(page, 1);
    await approveBoth(page);
    assert.doesNotMatch(await page.locator("main").innerText(), /NaN|Invalid|-\d+ ?(s|min|h)\b|undefined/);
    assert.deepEqual(page.complaints, []);
  });
}
