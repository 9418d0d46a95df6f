// Runs that began elsewhere: a flow from the terminal that asks a person here, and a run from another computer.

import assert from "node:assert/strict";
import { join } from "node:path";
import { openWindow, scenario, startApp, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, startModel } from "./fake-model.js";
import { approveBoth, connect, goTo, press, shows, stands, trySample, waitsForApproval } from "./person.js";
import { startFlow, tepa } from "./terminal.js";

/** The flow, begun in a terminal, opened here at its first question. */
async function asked(t, app, page) {
  const fake = await startModel(t);
  await connect(page, { url: fake.url, model });
  await startFlow(app.data, temporaryFolder(t, "flows"), fake.url, model);
  await page.reload();
  await page.getByLabel("1 run waits for you").waitFor();
  await goTo(page, "#/runs");
  await page.getByRole("link", { name: "welcome" }).click();
  await shows(page, "The flow asks you");
}

scenario("a flow that asks is answered in a form, and then with yes", {}, async ({ t, app, page }) => {
  await asked(t, app, page);
  const panel = page.getByRole("complementary", { name: "Step" });
  const send = panel.getByRole("button", { name: "Send the answer" });
  assert.ok(await send.isDisabled(), "a name is needed");
  await panel.getByLabel("Name").fill("Ada");
  await check(page, "A flow's question");
  await send.click();
  await panel.getByText("Shall it be sent?").waitFor();
  await page.getByRole("list", { name: "Steps of the flow" }).getByRole("button").first().click();
  await panel.getByText("Ada").waitFor();
  await check(page, "A step of a flow");
  await page.keyboard.press("Escape");
  await press(panel, "Yes, go on");
  await stands(page, "Passed");
  await shows(page, "Dear Ada");
});

scenario("saying no to a flow ends it", {}, async ({ t, app, page }) => {
  await asked(t, app, page);
  await press(page, "End the run");
  await press(page.getByRole("dialog", { name: "Say no?" }), "Say no");
  await stands(page, "Rejected");
  await check(page, "A flow that was ended");
});

scenario("the task of a run from another computer is run again in a folder that is picked here", {}, async ({ t, app, page }) => {
  await trySample(page);
  await approveBoth(page);
  const file = join(temporaryFolder(t), "expenses.tepa");
  const exported = await tepa(app.data, "export", "last", file);
  assert.equal(exported.code, 0, exported.said);

  const elsewhere = await startApp(t);
  const imported = await tepa(elsewhere.data, "import", file);
  assert.equal(imported.code, 0, imported.said);
  const there = await openWindow(t, elsewhere);
  await goTo(there, "#/runs");
  await there.getByRole("link", { name: "Quarterly expenses" }).click();
  await shows(there, "Passed in the second cycle.");
  // A person who changes their mind about the folder starts nothing.
  await press(there, "Run again");
  // The next choice is for the next press.
  await there.locator("button:not([data-loading])").filter({ hasText: "Run again" }).waitFor();
  await shows(there, "Passed in the second cycle.");
  await elsewhere.picks({ folder: [temporaryFolder(t, "here")] });
  await press(there, "Run again");
  await waitsForApproval(there, 1);
  await press(there, "Approve");
  await waitsForApproval(there, 2);
  assert.deepEqual([there.complaints, there.elsewhere], [[], []]);
});
