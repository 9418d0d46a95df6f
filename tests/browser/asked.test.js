// A step that asks the person who started the task: the question waits in place, also while the window is closed, and the
// run goes on with the answer.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { model, notesTask, startModel, usualAnswers } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, stands, step, waitsForApproval } from "./person.js";

const question = (page) => page.getByRole("region", { name: "This step asks you" });

/** The task of the notes, whose first step asks whom the letter is for. */
async function asking(t, app, page, asked) {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "birds.yaml"), `${notesTask}tools: [ask_person, file_write]\n`);
  const plan = JSON.parse(usualAnswers.plan());
  plan.steps[0] = { ...plan.steps[0], name: "Ask whom it is for", tools: ["ask_person"], args: { ask_person: asked } };
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan), text: (body) => `Dear ${said(body)}, three birds.` });
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await question(page).waitFor();
  return { fake, letter: join(folder, "letter.md") };
}

/** Whom the step was told that it is for. */
function said(body) {
  return /Grandma|Ada Lovelace/.exec(JSON.stringify(body.messages))?.[0] ?? "nobody";
}

scenario("a question of a step waits, is answered in one's own words, and the run goes on", {}, async ({ t, app, page }) => {
  const { letter } = await asking(t, app, page, { question: "Whom is the letter **for**?" });
  await question(page).getByText("Whom is the letter for?").waitFor();
  await step(page, "Ask whom it is for").getByText("It asks you").waitFor();
  await stands(page, "Waits for you");
  await check(page, "A step asks the person");
  assert.ok(await question(page).getByRole("button", { name: "Send the answer" }).isDisabled(), "nothing is no answer");
  await goTo(page, "#/");
  await shows(page, "Waiting for you");
  await page.goBack();
  await page.reload();
  await question(page).getByRole("textbox", { name: "Your answer" }).fill("Ada Lovelace");
  await press(question(page), "Send the answer");
  await shows(page, "Passed in the first cycle.");
  assert.equal(readFileSync(letter, "utf8"), "Dear Ada Lovelace, three birds.");
});

scenario("a question with choices is answered by one of them", {}, async ({ t, app, page }) => {
  const { letter } = await asking(t, app, page, { question: "Whom is it for?", choices: ["Grandma", "The neighbours"] });
  await check(page, "A step asks the person to choose");
  await question(page).getByRole("combobox", { name: "Your answer" }).click();
  await page.getByRole("option", { name: "Grandma" }).click();
  await press(question(page), "Send the answer");
  await shows(page, "Passed in the first cycle.");
  assert.equal(readFileSync(letter, "utf8"), "Dear Grandma, three birds.");
});

scenario("no answer, with why not, is told to the next planner", {}, async ({ t, app, page }) => {
  const { fake } = await asking(t, app, page, { question: "Whom is it for?" });
  await press(question(page), "Do not answer");
  await page.getByRole("dialog").getByRole("textbox").fill("That is private.");
  await check(page, "A question that is not answered");
  await page.getByRole("dialog").getByRole("button").last().click();
  await waitsForApproval(page, 2);
  const plans = fake.seen.filter(({ body }) => body?.response_format?.json_schema?.name === "plan");
  assert.ok(JSON.stringify(plans.at(-1).body.messages).includes("That is private."), "the next planner was told why");
});
