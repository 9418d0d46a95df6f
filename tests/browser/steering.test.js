// What a person does with a run while it works and after it ended without passing: pause, words, room, acceptance; and
// rules that ask before a step.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { letter, model, notesTask, startModel, twoLetters, usualAnswers, wanting } from "./fake-model.js";
import { command, connect, goTo, openTask, press, show, shows, stands, step, tabTo, trySample, waitsForApproval } from "./person.js";

/** The task of the notes with more lines at its end, as far as its first plan. */
async function planned(t, app, page, { answers = usualAnswers, lines = "" } = {}) {
  const fake = await startModel(t, answers);
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren, an owl.\n");
  writeFileSync(join(folder, "birds.yaml"), notesTask + lines);
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "birds.yaml"));
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).waitFor();
  return fake;
}

scenario("a paused run finishes what is at work, stands still, and goes on from there", {}, async ({ t, app, page }) => {
  const fake = await planned(t, app, page);
  const release = fake.hold("text");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await step(page, "Tell it briefly").and(page.locator("[data-status=running]")).waitFor();
  await press(page, "Pause");
  await page.getByRole("button", { name: "Pausing" }).waitFor();
  release();
  await stands(page, "Paused");
  await shows(page, "You paused this run.");
  await step(page, "Tell it briefly").and(page.locator("[data-status=done]")).waitFor();
  assert.notEqual(await step(page, "Write the letter").getAttribute("data-status"), "running");
  await check(page, "Run paused");
  await press(page.getByRole("status").filter({ hasText: "You paused" }), "Continue");
  await shows(page, "Passed in the first cycle.");
  assert.equal(fake.asked.filter((kind) => kind === "text").length, 1, "what was finished is not asked again");
});

scenario("words for a run at work reach the next plan", {}, async ({ t, app, page }) => {
  const fake = await planned(t, app, page, { answers: { ...usualAnswers, judgement: wanting(1) } });
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Tell the run something");
  const dialog = page.getByRole("dialog", { name: "Tell the run something" });
  await dialog.getByLabel("What should the next plan know?").fill("Mention the weather.");
  await check(page, "Guidance");
  await press(dialog, "Tell it");
  await shows(page, "said: Mention the weather.");
  await press(page, "Approve");
  await waitsForApproval(page, 2);
  const plans = fake.seen.filter(({ body }) => body?.response_format?.json_schema?.name === "plan");
  assert.match(JSON.stringify(plans.at(-1).body.messages), /Mention the weather\./);
});

scenario("a run that used up its cycles tries again with a person's words, and passes", {}, async ({ t, app, page }) => {
  // Another letter each time: the same one would not be judged again.
  const letters = ["Three birds: there are three birds.", letter];
  const fake = await planned(t, app, page, { answers: { ...usualAnswers, text: () => letters.shift(), judgement: wanting(1) }, lines: "limits: { maxCycles: 1 }\n" });
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await check(page, "Verdict that failed");
  const next = page.getByRole("region", { name: "What now?" });
  await next.getByLabel("What should the next try do differently?").fill("Write it warmly.");
  await press(next, "Try again with this");
  await waitsForApproval(page, 2);
  assert.match(JSON.stringify(fake.seen.at(-1).body.messages), /Write it warmly\./);
  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
});

scenario("a criterion that nothing could meet is put right in the task of the run, which then passes", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { lines: "limits: { maxCycles: 1 }\n" });
  const words = page.getByRole("textbox", { name: "What must hold" }).nth(1);
  assert.equal(await words.inputValue(), "At most 50 words");
  await page.getByRole("button", { name: "Details of the check" }).click();
  const most = page.getByRole("group", { name: "Length in words" }).getByLabel("At most");
  await most.fill("3");
  await words.fill("At most 3 words");
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await shows(page, /1[0-9] words/);
  await press(page, "More to do with this run");
  await page.getByRole("menuitem", { name: "Use as a new task" }).click();
  // The words as they were before the run are in no file yet.
  await page.getByRole("dialog", { name: "Open another task?" }).getByRole("button", { name: /Open it|Use/ }).click();
  await words.waitFor();
  assert.equal(await words.inputValue(), "At most 3 words");
  await page.getByRole("button", { name: "Details of the check" }).click();
  await most.fill("30");
  await words.fill("At most 30 words");
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
});

scenario("results that did not pass can be accepted, and what failed stays visible", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { answers: { ...usualAnswers, judgement: wanting(9) }, lines: "limits: { maxCycles: 1 }\n" });
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await press(page, "Accept the results");
  const dialog = page.getByRole("dialog", { name: "Accept the results as they are?" });
  await dialog.getByLabel("Why?").fill("Good enough for today.");
  await check(page, "Accepting");
  await press(dialog, "Accept");
  await stands(page, "Passed");
  await shows(page, "Accepted by you.");
  await shows(page, "Good enough for today.");
  assert.ok((await page.locator("td [data-verdict=fail]").count()) > 0, "the grid still shows what did not hold");
  assert.equal(await page.getByRole("region", { name: "What now?" }).count(), 0);
});

scenario("a run that used up its tokens goes on with more of them", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { lines: "limits: { maxTokens: 200 }\n" });
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Stopped");
  await shows(page, "The tokens for this run are used up.");
  const next = page.getByRole("region", { name: "What now?" });
  await next.getByLabel("Tokens").fill("5000");
  await press(next, "Give it more and continue");
  await shows(page, "Passed in the first cycle.");
});

scenario("where a run stops can be changed while it waits", {}, async ({ t, app, page }) => {
  await planned(t, app, page);
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await page.getByRole("button", { name: /Change the limits/ }).click();
  const dialog = page.getByRole("dialog", { name: "Where this run stops" });
  await dialog.getByLabel("Cycles").fill("many");
  await press(dialog, "Change the limits");
  await dialog.getByText("Write a number, such as 0.5.").waitFor();
  await dialog.getByLabel("Cycles").fill("2");
  await check(page, "Limits");
  await press(dialog, "Change the limits");
  await shows(page, "changed where the run stops");
  await press(page, "Approve");
  await shows(page, "Passed in the first cycle.");
});

scenario("a file's rules are off until they are allowed; then each step asks, and several wait at once", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { answers: { ...usualAnswers, plan: () => twoLetters }, lines: "hooks: [{ askMe: step }]\n" });
  await shows(page, "Ask me before every step");
  const allow = page.getByRole("switch", { name: "Use these rules" });
  assert.equal(await allow.isChecked(), false);
  await check(page, "Compose with rules");
  await allow.click();
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  const bar = page.getByRole("group", { name: "2 questions wait for you" });
  await bar.waitFor();
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByRole("heading", { name: "Write the letter" }).waitFor();
  await panel.getByText("You wanted to be asked: Ask me before every step.").waitFor();
  await check(page, "Two questions");
  await press(bar, "Write the list");
  await panel.getByRole("heading", { name: "Write the list" }).waitFor();
  await press(page, "Let all 2 run");
  // The third asks on its card; the answer is given there.
  await page.getByRole("button", { name: "Let it run : Read both" }).click();
  await shows(page, "Passed in the first cycle.");
});

scenario("a rejected step ends the run and is named so; in the list the answer can be given, too", {}, async ({ t, app, page }) => {
  await planned(t, app, page, { answers: { ...usualAnswers, plan: () => twoLetters } });
  await press(page, "Add a rule");
  await page.getByRole("menuitem", { name: "Ask me before a tool is used" }).click();
  assert.equal(await page.getByRole("switch", { name: "Use these rules" }).isChecked(), true, "whoever writes a rule wants it");
  await press(page, "Make a plan");
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await page.getByRole("group", { name: "2 questions wait for you" }).waitFor();
  await press(page, "Show as a list");
  await check(page, "Questions in the list");
  await press(page, "Let it run: Write the letter");
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByRole("heading", { name: "Write the list" }).waitFor();
  await press(panel, "Reject");
  await press(page.getByRole("dialog", { name: "Reject this step?" }), "Reject the step");
  await stands(page, "Rejected");
  await shows(page, "You rejected a step, and the run ended there.");
});

scenario("Home asks before it stops a run", { natural: true }, async ({ page }) => {
  await trySample(page);
  await press(page, "Approve");
  await stands(page, "Running");
  await goTo(page, "#/");
  await press(page, "Stop Quarterly expenses");
  const dialog = page.getByRole("dialog", { name: "Stop this run?" });
  await press(dialog, "Keep going");
  await dialog.waitFor({ state: "detached" });
  await press(page, "Stop Quarterly expenses");
  await press(dialog, "Stop");
  await shows(page, /^Stopped · 1 cycle/);
});

scenario("the notices of a failed run do not repeat one another", {}, async ({ page }) => {
  await trySample(page);
  await press(page, "Reject");
  await press(page.getByRole("dialog"), "Reject the plan");
  await stands(page, "Rejected");
  await shows(page, "No cycle was judged.");
  assert.equal(await page.getByText("No file was produced.").count(), 0);
  await show(page, "Steps");
});

scenario("several questions and words for the next plan need no mouse", {}, async ({ t, app, page }) => {
  const fake = await planned(t, app, page, { answers: { ...usualAnswers, plan: () => twoLetters } });
  await press(page, "Add a rule");
  await page.getByRole("menuitem", { name: "Ask me before a tool is used" }).click();
  const enter = async (name) => {
    await tabTo(page, name);
    await page.keyboard.press("Enter");
  };
  await enter("Make a plan");
  await waitsForApproval(page, 1);
  await enter("Tell the run something");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.type("Mention the weather.");
  await page.keyboard.press("Control+Enter");
  await shows(page, "said: Mention the weather.");
  await enter("Approve");
  await page.getByRole("group", { name: "2 questions wait for you" }).waitFor();
  await enter("Write the list");
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByRole("heading", { name: "Write the list" }).waitFor();
  await enter("Let it run : Write the list");
  await panel.getByRole("heading", { name: "Write the letter" }).waitFor();
  await command(page, "show as a list");
  await page.getByRole("button", { name: "Show as a graph" }).waitFor();
  await enter("Let it run: Write the letter");
  await shows(page, "Passed in the first cycle.");
  assert.equal(fake.asked.filter((kind) => kind === "plan").length, 1);
});
