// What nobody plans for: words of every kind pasted anywhere, and far too many of them.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { patience, scenario, temporaryFolder } from "./app.js";
import { model, startModel, usualAnswers, wanting } from "./fake-model.js";
import { connect, goTo, openTask, press, shows, stands, waitsForApproval } from "./person.js";

/** Texts that fields are not made for. */
const texts = {
  "100 kB": "word ".repeat(20_000).trim(),
  "a word of 5,000 letters": "x".repeat(5000),
  emoji: "👩‍👩‍👧‍👦 🏳️‍🌈 e\u0301 𝔘𝔫𝔦 🇩🇪",
  "right to left": "שלום \u202Egpj.exe\u202C مرحبا \u2067abc\u2069",
  "zero width": "a\u200Bb\u200Cc\u200Dd\uFEFFe\u2060f\u00ADg",
  HTML: `<b onclick="alert('ran')">bold</b><script>alert('ran')</script>&lt;i&gt;`,
  "what looks like another language": `- a: b # c 'd" | > & * ! % @ \` {{step_1}} $t(common.close) {{count}} \${x} \\n`,
};

const goal = (page) => page.getByRole("textbox", { name: "What do you want done?" });
const criterion = (page, at) => page.locator(`[data-criterion="${at}"]`);

/** Nothing of the page stands outside of the window. */
async function fits(page, place) {
  const outside = await page.evaluate(() => {
    const isWide = (one) => one.scrollWidth - one.clientWidth > 1;
    const wide = [document.documentElement, ...document.querySelectorAll("main > *")].filter(isWide);
    // The innermost ones say why.
    return wide.flatMap((one) => [one, ...one.querySelectorAll("*")].filter((part) => isWide(part) && getComputedStyle(part).overflowX === "visible")).map((part) => part.outerHTML.slice(0, 120));
  });
  assert.deepEqual(outside, [], `${place} is too wide`);
}

/** Pastes into a field as the clipboard does. */
async function paste(field, words) {
  await field.focus();
  await field.evaluate((input, pasted) => {
    const data = new DataTransfer();
    data.setData("text/plain", pasted);
    const taken = !input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
    if (!taken) document.execCommand("insertText", false, pasted);
  }, words);
}

for (const [kind, words] of Object.entries(texts)) {
  scenario(`${kind} can be pasted into every field of a task, and is kept as it is`, { at: "#/task" }, async ({ app, page }) => {
    await press(page, "Add a fact");
    const fields = [
      goal(page),
      page.getByRole("textbox", { name: "Name" }).first(),
      page.getByRole("textbox", { name: "File name" }),
      page.getByRole("textbox", { name: "What it is" }),
      criterion(page, 0),
      page.getByRole("textbox", { name: /: Value$/ }),
    ];
    for (const field of fields) await paste(field, words);
    const kept = async () => {
      for (const [index, field] of fields.entries()) assert.equal(await field.inputValue(), words, `field ${index}`);
    };
    await kept();
    await fits(page, "the letter");
    // Through the text and back.
    await page.getByText("Source", { exact: true }).click();
    await page.getByRole("textbox", { name: "Source" }).waitFor();
    await fits(page, "the source");
    await page.getByText("Letter", { exact: true }).click();
    await goal(page).waitFor();
    await kept();
    let source = "";
    for (const end = Date.now() + patience; source.length < 5 * words.length && Date.now() < end; ) {
      const { value } = await app.call("draft_get", { name: "compose" });
      source = value?.source ?? "";
    }
    const { task, problems } = await app.call("task_check", { source });
    assert.equal(task?.goal ?? problems.map(({ message }) => message).join(), words);
    await page.reload();
    await goal(page).waitFor();
    await kept();
  });
}

scenario("what was pasted is shown as it is through a whole run, and never runs out of the window", {}, async ({ t, app, page }) => {
  const all = Object.values(texts).map((text) => text.slice(0, 6000)).join(" ");
  const folder = temporaryFolder(t, "birds");
  const file = join(folder, "task.yaml");
  const task = { name: all, goal: all, context: { fact: all }, expectedOutput: [{ path: "letter.md", description: all, criteria: [all] }] };
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren and an owl.");
  writeFileSync(file, JSON.stringify(task));
  const plan = JSON.parse(usualAnswers.plan());
  plan.reasoning = all;
  for (const one of plan.steps) Object.assign(one, { name: all, description: all, expectedOutcome: all });
  const judgement = (body) => JSON.stringify({ ...JSON.parse(usualAnswers.judgement(body)), summary: all });
  const fake = await startModel(t, { ...usualAnswers, plan: () => JSON.stringify(plan), judgement });
  await connect(page, { url: fake.url, model });
  await openTask(page, app, file);
  await press(page, "Make a plan");
  await page.getByText("May this plan run?").waitFor();
  await waitsForApproval(page, 1);
  await fits(page, "the plan");
  await press(page, "Ask for changes");
  await paste(page.getByRole("textbox", { name: "What should be different?" }), texts["100 kB"]);
  await press(page, "Make another plan");
  await page.waitForFunction(() => document.querySelector("[role=log]")?.textContent.includes("asked for changes"));
  await page.getByText("May this plan run?").waitFor();
  await waitsForApproval(page, 1);
  await page.getByRole("textbox", { name: "Filter" }).fill(texts["right to left"]);
  await page.getByRole("textbox", { name: "Filter" }).fill("");
  await press(page, "Approve");
  await page.getByText("Passed in the first cycle.").waitFor();
  await fits(page, "the verdict");
  await goTo(page, "#/runs");
  const search = page.getByRole("textbox", { name: "Search" }).or(page.getByRole("searchbox"));
  for (const words of Object.values(texts)) {
    await search.first().fill(words);
    await page.waitForFunction((typed) => document.querySelector("main input")?.value === typed, await search.first().inputValue());
  }
  await search.first().fill("");
  await page.getByRole("link", { name: /word word/ }).waitFor();
  await fits(page, "the list of runs");
  await goTo(page, "#/");
  await fits(page, "Home");
  await page.keyboard.press("Control+k");
  const palette = page.getByRole("dialog").getByRole("textbox").or(page.getByRole("searchbox"));
  for (const words of Object.values(texts)) await palette.first().fill(words);
});

/** A task with as many criteria. */
function longTask(count, text = (index) => `Criterion ${index}`) {
  const criteria = Array.from({ length: count }, (_, index) => `      - ${text(index)}\n`);
  return `name: Many things\ngoal: Write a letter\ncontext: {}\nlimits: { maxCycles: 1 }\nexpectedOutput:\n  - path: letter.md\n    description: A letter\n    criteria:\n${criteria.join("")}`;
}

/** More lines than these are never drawn at once. */
const most = 200;

scenario("10,000 criteria are written and changed with only those in sight drawn", { at: "#/task" }, async ({ t, app, page }) => {
  const count = 10_000;
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "task.yaml"), longTask(count));
  await openTask(page, app, join(folder, "task.yaml"));
  await criterion(page, 3).waitFor();
  const drawn = async () => assert.ok((await page.locator("[data-criterion]").count()) < most);
  await drawn();
  await goal(page).fill("Write a letter about the birds");
  await criterion(page, 3).fill("Names the birds");
  // Enter makes the next line, and the arrows go on to lines that were not drawn.
  await criterion(page, 3).press("Enter");
  await page.keyboard.type("It");
  assert.equal(await criterion(page, 4).inputValue(), "It");
  for (let line = 5; line <= 70; line += 1) {
    await page.keyboard.press("ArrowDown");
    await page.locator(`[data-criterion="${line}"]:focus`).waitFor();
  }
  await drawn();
  // The last one, by its end.
  await page.getByRole("button", { name: "Add a fact" }).scrollIntoViewIfNeeded();
  await criterion(page, count + 1).press("ArrowUp");
  await page.locator(`[data-criterion="${count}"]:focus`).waitFor();
  assert.equal(await criterion(page, count).inputValue(), `Criterion ${count - 1}`);
  await drawn();
});

scenario("a verdict on 1,000 criteria draws only those in sight, and names the first that do not hold", {}, async ({ t, app, page }) => {
  const folder = temporaryFolder(t, "birds");
  writeFileSync(join(folder, "notes.txt"), "A heron, a wren and an owl.");
  writeFileSync(join(folder, "task.yaml"), longTask(1000));
  const fake = await startModel(t, { ...usualAnswers, judgement: wanting(1) });
  await connect(page, { url: fake.url, model });
  await openTask(page, app, join(folder, "task.yaml"));
  await page.getByRole("button", { name: "Make a plan" }).and(page.locator(":enabled")).click();
  await waitsForApproval(page, 1);
  await press(page, "Approve");
  await stands(page, "Did not pass");
  await shows(page, /^And \d+ more; the table shows all of them\.$/);
  assert.ok((await page.getByRole("row").count()) < most);
  await page.getByRole("region", { name: "What came out" }).scrollIntoViewIfNeeded();
  await page.getByRole("row", { name: /The goal is achieved/ }).waitFor();
  assert.ok((await page.getByRole("row").count()) < most);
});

scenario("a list that is pasted becomes one criterion a line, also of 10,000", { at: "#/task" }, async ({ page }) => {
  await paste(criterion(page, 0), "- Names the birds\n- Counts them\r\n\r\n3. Ends with a greeting\n");
  await page.locator('[data-criterion="2"]:focus').waitFor();
  const values = () => page.locator("[data-criterion]").evaluateAll((inputs) => inputs.map((input) => input.value));
  assert.deepEqual(await values(), ["Names the birds", "Counts them", "Ends with a greeting", ""]);
  await page.keyboard.press("Enter");
  await paste(criterion(page, 3), "a\nb");
  await page.locator('[data-criterion="4"]:focus').waitFor();
  assert.deepEqual((await values()).slice(3), ["a", "b", ""]);
  await paste(criterion(page, 5), Array.from({ length: 10_000 }, (_, index) => `* Line ${index}`).join("\n"));
  await page.locator('[data-criterion="10004"]:focus').waitFor();
  assert.equal(await criterion(page, 10_004).inputValue(), "Line 9999");
  assert.ok((await page.locator("[data-criterion]").count()) < 200);
});

scenario("10,000 things to put right are counted, and the first of them named", { at: "#/task" }, async ({ t, app, page }) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "task.yaml"), longTask(10_000, () => '""'));
  await openTask(page, app, join(folder, "task.yaml"));
  await page.getByRole("button", { name: /^[\d,]+ things to put right$/ }).click();
  await shows(page, /^and [\d,]+ more$/);
  await page.keyboard.press("Escape");
  await page.getByText("Source", { exact: true }).click();
  await page.locator(".cm-lint-marker").first().waitFor();
});
