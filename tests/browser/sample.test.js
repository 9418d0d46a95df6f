// The sample, from the first start of the app to its verdict.

import assert from "node:assert/strict";
import { scenario } from "./app.js";
import { approveBoth, cells, press, show, shows, stands, step, trySample, waitsForApproval } from "./person.js";

scenario("the first start offers the sample, which fails a check, is revised and passes", {}, async ({ page }) => {
  await page.getByRole("heading", { name: "Hand over a task, get a verdict" }).waitFor();
  await trySample(page);
  await step(page, "Find expenses to check").waitFor();
  assert.equal(await page.locator("button[data-step]").count(), 8);
  assert.equal(await page.locator("button[data-step][data-mark]").count(), 0, "a first plan has no changes");
  await press(page, "Approve");

  await waitsForApproval(page, 2);
  const marked = page.locator("button[data-step][data-mark]");
  await marked.first().waitFor();
  const marks = await marked.evaluateAll((all) => all.map(({ dataset }) => `${dataset.step} ${dataset.mark}`));
  assert.deepEqual(marks, ["step_5 changed"]);
  await shows(page, "1 changed · 7 as before");
  await show(page, "Verdict");
  const [failed] = await cells(page, "Every expense is listed once");
  assert.match(failed, /^id \d+ twice \(rows \d+, \d+\); id \d+ twice/);
  await show(page, "Steps");

  await press(page, "Approve");
  await shows(page, "Passed in the second cycle.");
  await stands(page, "Passed");
});

scenario("the verdict shows evidence for each criterion in each cycle", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  await shows(page, /All \w+ criteria hold\./);
  const check = async (criterion, ...expected) => {
    const found = await cells(page, criterion);
    assert.equal(found.length, expected.length, criterion);
    for (const [index, wanted] of expected.entries()) assert.match(found[index], wanted, criterion);
  };
  await check("At most 600 words", /^\d+ words/, /^\d+ words/);
  await check("Columns are id, date, employee, category, merchant, amount, reason", /^7 columns$/, /^7 columns$/);
  await check("Every expense is listed once", /twice/, /values of id, all different$/);
  await check("The amounts add up to what the data says", /^([\d,.]+) and (?!\1)[\d,.]+/, /^[\d,.]+ in both/);
  await check("Explains in plain words where spending changed most", /^Not looked at$/, /^“.+”$/s);
  assert.equal(await page.locator("td [data-verdict=fail]").count(), 2);
});

scenario("what came out is shown as a page and as a table", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  const came = page.getByRole("region", { name: "What came out" });
  await came.getByRole("heading", { name: "Totals by category and month" }).waitFor();
  await came.getByRole("cell", { name: "Travel", exact: true }).waitFor();
  assert.match(await came.innerText(), /Spending was \d+\.\d\d in \d+ expenses/);
  await came.getByRole("tab", { name: "flagged.csv" }).click();
  await came.getByRole("columnheader", { name: "reason" }).waitFor();
  const rows = await came.getByRole("row").count();
  assert.ok(rows > 20, `${rows} rows`);
  await press(came, "Show as text");
  await came.getByText(/^id,date,employee,category,merchant,amount,reason/).waitFor();
});

scenario("a run that has ended is in the list of runs, and opens again as it was", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  const verdict = await page.locator("main table").first().innerText();
  await page.reload();
  await shows(page, "Passed in the second cycle.");
  assert.equal(await page.locator("main table").first().innerText(), verdict);

  await page.getByRole("link", { name: "Runs", exact: true }).click();
  const row = page.getByRole("row").filter({ hasText: "Quarterly expenses" });
  assert.match(await row.innerText(), /Passed[\s\S]*Recorded replies[\s\S]*2/);
  await page.reload();
  await row.getByRole("link").click();
  await shows(page, "Passed in the second cycle.");
  assert.equal(await page.locator("main table").first().innerText(), verdict);
});

scenario("each step says what it was given, what it did and what came of it", {}, async ({ page }) => {
  await trySample(page);
  await approveBoth(page);
  await show(page, "Steps");
  await step(page, "Explain the table").click();
  const panel = page.getByRole("complementary", { name: "Step" });
  await panel.getByText("Total by category, Find the largest change").waitFor();
  await panel.getByText(/Each line of the table is a category/).waitFor();
  await step(page, "Find expenses to check").click();
  await panel.getByText(/CASE/).first().waitFor();
  await page.keyboard.press("Escape");
  await panel.waitFor({ state: "detached" });
  await page.getByRole("tab", { name: /Files changed/ }).click();
  await page.getByRole("button", { name: /^flagged.csv new/ }).click();
  await page.getByRole("dialog").getByRole("columnheader", { name: "merchant" }).waitFor();
});
