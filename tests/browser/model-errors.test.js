// A model server that is down, speaks of other things, refuses, breaks off or plans nonsense: a sentence that says what
// to do, and a run that is kept and goes on once it is well again.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { faults, model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, putKey, show, shows, stands, waitsForApproval } from "./person.js";

/** Starts the task of the notes with this server, up to where it must fail. */
async function failing(t, app, page, fake) {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await press(page, "Make a plan");
  await stands(page, "Did not pass");
}

/** The run is kept, and one click takes it up again: where it stood, or in the next cycle after plans that failed. */
async function goesOn(page, cycle = "first") {
  await goTo(page, "#/runs");
  await page.getByRole("link", { name: "Three birds" }).click();
  await press(page, "Continue");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, `Passed in the ${cycle} cycle.`);
}

scenario("a server that is down is named, and the run goes on when it is up again", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  fake.close();
  await failing(t, app, page, fake);
  await shows(page, /Nothing answers at .*127\.0\.0\.1:\d+: is the model server running\?/i);
  const again = await startModel(t);
  await connect(page, { url: again.url, model });
  await goesOn(page);
});

scenario("a server that answers with a web page is told from one that has models", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  fake.fault = faults.page;
  await failing(t, app, page, fake);
  await shows(page, /answered with a web page, not a model API: check the address of the model server in Settings/);
  fake.fault = null;
  await goesOn(page);
});

scenario("a refused key sends to Settings", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  fake.fault = faults.refusesKey;
  await putKey(page, "sk-wrong-key-0000");
  await failing(t, app, page, fake);
  await shows(page, /refused the key.*check the key in Settings/);
  fake.fault = null;
  await goesOn(page);
});

scenario("an answer that breaks off is asked for again, and then said", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  fake.fault = faults.cuts;
  await failing(t, app, page, fake);
  await shows(page, /broke off in the middle of its answer/);
  assert.equal(fake.asked.length, 4, "three more tries");
  await show(page, "Steps");
  await shows(page, /trying again in/);
  fake.fault = null;
  await goesOn(page);
});

scenario("two plans that make no sense end the run with what is wrong with them", {}, async ({ t, app, page }) => {
  let nonsense = true;
  const bad = { reasoning: "So.", estimatedTokens: 1, steps: [{ id: "a", name: "A", description: "A", tools: ["fly"], expectedOutcome: "A", dependencies: ["b"] }] };
  const fake = await startModel(t, { ...usualAnswers, plan: (body) => (nonsense ? JSON.stringify(bad) : usualAnswers.plan(body)) });
  await failing(t, app, page, fake);
  assert.deepEqual(fake.asked, ["plan", "plan"]);
  assert.match(fake.seen.at(-1).body.messages.at(-1).content, /cannot be used as a plan[\s\S]*fly/);
  await shows(page, /^The model could not make a plan that works/);
  await shows(page, /^Step "a" references unknown dependency "b"\.$/);
  await shows(page, /^Plan references unknown tool "fly" in step "a"\./);
  nonsense = false;
  await goesOn(page, "second");
});

scenario("a connection that does not work says why beside the button", {}, async ({ t, page }) => {
  const fake = await startModel(t);
  await goTo(page, "#/settings");
  const card = page.getByRole("region", { name: "Your own server" });
  await card.getByLabel("Address of the server").fill(fake.url);
  await card.getByLabel("Model", { exact: true }).fill(model);
  const check = async (fault, sentence) => {
    fake.fault = fault;
    await press(card, "Test connection");
    await card.getByText(sentence).waitFor();
  };
  await check(faults.page, /answered with a web page/);
  await check(faults.refusesKey, /wants a key.*add one in Settings/);
  await check(faults.cuts, /broke off|in the middle/);
  fake.close();
  await press(card, "Test connection");
  await card.getByText(/Nothing answers at/).waitFor();
  await card.getByLabel("Address of the server").fill("not an address");
  await press(card, "Test connection");
  await card.getByText(/address/).last().waitFor();
});
