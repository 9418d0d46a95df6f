// Each way in which a model does not answer has its own sentence and its own button, tried against a server that does it.

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { faults, model, notesTask, startModel } from "./fake-model.js";
import { connect, goTo, openTask, press, putKey, show, shows, stands, step, waitsForApproval } from "./person.js";

/** Whether there is a way to an address that exists nowhere (RFC 5737, RFC 3849). Nothing is sent. */
async function hasNetwork() {
  const way = (kind, to) =>
    new Promise((done) => {
      const socket = createSocket(kind);
      const end = (is) => {
        socket.close();
        done(is);
      };
      socket.once("error", () => end(false));
      socket.connect(9, to, () => end(true));
    });
  return (await way("udp4", "192.0.2.1")) || (await way("udp6", "2001:db8::1"));
}

/** A folder with the notes and their task. */
function notes(t) {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask);
  return { folder, task: join(folder, "birds.yaml") };
}

const refusals = [
  { fault: "refusesKey", sentence: /refused the key/, button: "Enter another key", leads: /#\/settings/, field: "Key" },
  { fault: "noCredit", sentence: /credit of this account .* is used up/, button: "Open settings", leads: /#\/settings/ },
  { fault: "notHere", sentence: /is not offered where you are/, button: "Choose another provider", leads: /#\/settings/ },
  { fault: "noModel", sentence: /does not have this model/, button: "Choose another model", dialog: "Run again with another model" },
  { fault: "tooLong", sentence: /too long for the model/, button: "Choose another model", dialog: "Run again with another model" },
  { fault: "page", sentence: /a web page, not a model API/, button: "Correct the address", leads: /#\/settings/, field: "Address of the server" },
  { fault: "wantsSignIn", sentence: /wants a sign-in/, button: "Try again" },
  { fault: "blocked", sentence: /web page came in the place of an answer .* \(HTTP 403\)/, button: "Try again" },
  { fault: "refuses", sentence: /refused the request \(HTTP 400\), saying "no"/, button: "Choose another model", dialog: "Run again with another model" },
];

scenario("a run that a server refused says why, with the one button that helps", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { task } = notes(t);
  await putKey(page, "sk-wrong-key-0000");
  await connect(page, { url: fake.url, model });
  for (const { fault, sentence, button, leads, field, dialog } of refusals) {
    fake.fault = faults[fault];
    await openTask(page, app, task);
    const replace = page.getByRole("dialog").getByRole("button", { name: "Open…" });
    await page.getByRole("button", { name: "Make a plan" }).or(replace).first().waitFor();
    if (await replace.count()) await replace.click();
    await press(page, "Make a plan");
    await stands(page, "Did not pass");
    await shows(page, sentence);
    const helps = page.getByRole("button", { name: button, exact: true });
    assert.equal(await helps.count(), 1, `${fault} has one button that helps`);
    if (leads) {
      await helps.click();
      await page.waitForURL(leads);
      if (field) await page.getByRole("region", { name: "Your own server" }).getByLabel(field, { exact: true }).and(page.locator(":focus")).waitFor();
    } else if (dialog) {
      await helps.click();
      await page.getByRole("dialog", { name: dialog }).getByRole("radio", { name: `openai_compatible:${model}` }).waitFor();
      await press(page.getByRole("dialog", { name: dialog }), "Cancel");
    } else {
      // Signed in meanwhile: the run goes on where it stood.
      fake.fault = null;
      await helps.click();
      await waitsForApproval(page, 1);
    }
  }
});

scenario("a server that is not there, and a name that nobody knows, have their own", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { task } = notes(t);
  fake.close();
  await connect(page, { url: fake.url, model });
  await openTask(page, app, task);
  await press(page, "Make a plan");
  await stands(page, "Did not pass");
  await shows(page, /is the model server running\?/);
  await page.getByRole("button", { name: "Try again", exact: true }).waitFor();
  await connect(page, { url: fake.url.replace("http:", "https:"), model });
  const card = page.getByRole("region", { name: "Your own server" });
  await press(card, "Test connection");
  await card.getByRole("alert").getByText(/127\.0\.0\.1/).waitFor();
  await card.getByLabel("Address of the server").fill("http://no-such-server.invalid/v1");
  await press(card, "Test connection");
  const [sentence, button] = (await hasNetwork())
    ? [/no server of the name in .*no-such-server\.invalid/, "Correct the address"]
    : [/no-such-server\.invalid.* this computer has no network/, "Try again"];
  await card.getByRole("alert").getByText(sentence).waitFor();
  await card.getByRole("alert").getByRole("button", { name: button, exact: true }).waitFor();
  await card.getByLabel("Address of the server").fill("htp://localhost:11434");
  await press(card, "Test connection");
  await card.getByText(/must begin with http:\/\//).waitFor();
  await card.getByRole("alert").getByRole("button", { name: "Correct the address", exact: true }).waitFor();
});

scenario("credit is bought on the provider's own page", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { task } = notes(t);
  await app.call("settings_set", { ...(await app.call("settings_get", null)), accounts: [{ name: "openai", kind: "openai", baseUrl: fake.url }], models: { planner: `openai:${model}` } });
  await app.call("key_set", { account: "openai", key: "sk-without-credit-0000" });
  await page.reload();
  fake.fault = faults.noCredit;
  await openTask(page, app, task);
  await press(page, "Make a plan");
  await stands(page, "Did not pass");
  await shows(page, /is used up/);
  // Nothing of it is asked for here: only where it leads.
  await page.evaluate(() => {
    window.open = (url) => {
      document.body.dataset.opened = url;
      return null;
    };
  });
  await press(page, "Buy credit");
  await page.locator("body[data-opened^='https://platform.openai.com/']").waitFor();
});

scenario("what stands in for a model is asked, named and reckoned with", {}, async ({ t, app, page }) => {
  const [first, spare] = [await startModel(t), await startModel(t)];
  const { task } = notes(t);
  first.fault = faults.noCredit;
  await connect(page, { url: first.url, model });
  const settings = await app.call("settings_get", null);
  await app.call("settings_set", {
    ...settings,
    accounts: [{ name: "spare", kind: "openai_compatible", baseUrl: spare.url }],
    fallbacks: { accounts: { openai_compatible: `spare:${model}` } },
    prices: { currency: "USD", models: { [`openai_compatible:${model}`]: { input: 1, output: 1 }, [`spare:${model}`]: { input: 2000, output: 2000 } } },
  });
  await page.reload();
  await openTask(page, app, task);
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  await show(page, "Steps");
  await shows(page, new RegExp(`spare:${model} was asked in its place: .*is used up`));
  await step(page, "Tell it briefly").click();
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByText(/answered in its place/).waitFor();
  // At the price of the one that answered.
  await panel.getByText(/^\$0\.\d+$|^\$[1-9]/).waitFor();
  assert.equal(first.seen.filter(({ body }) => body).length, 1, "the first choice is left alone after it did not answer");
});

scenario("a run is saved as a recording, and played without its model", {}, async ({ t, app, page }) => {
  const fake = await startModel(t);
  const { folder, task } = notes(t);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, task);
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
  const file = join(folder, "birds.recording.json");
  await app.picks({ save: [null, file, file] });
  const save = async () => {
    await press(page, "More to do with this run");
    await page.getByRole("menuitem", { name: "Save as a recording" }).click();
  };
  await save();
  await save();
  await shows(page, /^Saved with \d+ answers of models\.$/);
  // The system's picker has asked about the file that is there.
  await save();
  await shows(page, /^Saved with/);
  fake.close();
  const elsewhere = temporaryFolder(t, "elsewhere");
  writeFileSync(join(elsewhere, "notes.txt"), "A heron, a wren, an owl.\n");
  await goTo(page, "#/runs");
  await app.picks({ file: [file], folder: [elsewhere] });
  await press(page, "Play a recording");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
});
