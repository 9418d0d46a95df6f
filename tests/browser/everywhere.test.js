// What holds on every screen: the language, how large everything is, what is said beside the window, files that are
// dropped, and what was pasted from anywhere.

import assert from "node:assert/strict";
import { scenario } from "./app.js";
import { check } from "./axe.js";
import { approveBoth, goTo, press, shows, tabTo, trySample, waitsForApproval } from "./person.js";

for (const theme of ["light", "dark"]) {
  scenario(`everything speaks German when it is asked to, and again when it is opened anew (${theme})`, { theme }, async ({ page }) => {
    await trySample(page);
    await approveBoth(page);
    await goTo(page, "#/settings");
    await page.getByRole("combobox", { name: "Language" }).click();
    await page.getByRole("option", { name: "Deutsch" }).click();
    await page.getByRole("heading", { level: 1, name: "Einstellungen" }).waitFor();
    await check(page, "Einstellungen");
    await page.reload();
    await page.getByRole("heading", { level: 1, name: "Einstellungen" }).waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), "de");
    await goTo(page, "#/runs");
    await page.getByRole("heading", { level: 1, name: "Läufe" }).waitFor();
    await page.getByRole("link", { name: "Quarterly expenses" }).click();
    await shows(page, "Im zweiten Zyklus bestanden.");
    await check(page, "Urteil");
    await page.getByRole("radiogroup", { name: "Was zu sehen ist" }).getByText("Schritte").click();
    await page.getByRole("textbox", { name: "Filtern" }).fill("plan");
    await shows(page, "gaben den Plan frei");
    await goTo(page, "#/task");
    await page.getByRole("textbox", { name: "Was soll getan werden?" }).waitFor();
    await check(page, "Neue Aufgabe");
    await goTo(page, "#/");
    await page.getByRole("heading", { level: 1, name: "Start" }).waitFor();
    await check(page, "Start");
  });
}

scenario("every check and every tool of the app has German words", { at: "#/task" }, async ({ app, page }) => {
  const { checks } = await app.call("checks_list");
  const { tools } = await app.call("tools_list");
  assert.ok(checks.length > 20 && tools.length > 10);
  await goTo(page, "#/settings");
  await page.getByRole("combobox", { name: "Language" }).click();
  await page.getByRole("option", { name: "Deutsch" }).click();
  await goTo(page, "#/task");
  await page.getByRole("textbox", { name: "Was gelten muss" }).last().fill("Kurz");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Wer es prüft/ }).first().click();
  await page.getByRole("menuitem", { name: /Länge in Wörtern/ }).waitFor();
  const offered = await page.getByRole("menuitem").allInnerTexts();
  assert.ok(offered.length >= checks.length - 1, `${offered.length} are offered`);
  const english = checks.filter(({ title, description }) => offered.some((words) => words.includes(description) || words.split("\n")[0] === title));
  assert.deepEqual(english.map(({ name }) => name), []);
  await page.getByRole("menuitem", { name: /Länge in Wörtern/ }).click();
  await page.getByLabel("Höchstens").fill("90");
  await shows(page, /höchstens 90/);
  await press(page, "Regel hinzufügen");
  await page.getByRole("menuitem", { name: "Ein Werkzeug nie benutzen" }).click();
  await page.getByRole("combobox", { name: "Nie benutzen" }).click();
  await page.getByRole("option", { name: "Datei schreiben" }).waitFor();
  const named = await page.getByRole("option").allInnerTexts();
  assert.deepEqual(tools.filter(({ name }) => named.includes(name)).map(({ name }) => name), []);
});

scenario("everything becomes larger and smaller by keys, and nothing runs out of the window", {}, async ({ page }) => {
  await trySample(page);
  const zoom = () => page.evaluate(() => document.documentElement.style.zoom);
  const fits = async (place) => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 1, `${place} is ${wide} too wide`);
  };
  for (const expected of ["110%", "125%", "150%", "175%", "200%"]) {
    await page.keyboard.press("Control+=");
    await page.waitForFunction((wanted) => document.documentElement.style.zoom === wanted, expected);
  }
  await page.keyboard.press("Control+=");
  assert.equal(await zoom(), "200%");
  for (const place of ["#/", "#/runs", "#/task", "#/settings"]) {
    await goTo(page, place);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await fits(place);
  }
  await page.keyboard.press("Control+0");
  await page.waitForFunction(() => document.documentElement.style.zoom === "");
});

scenario("the system says that a run waits and has ended while one looks at something else", {}, async ({ page }) => {
  await page.evaluate(() => {
    window.said = [];
    window.Notification = class extends EventTarget {
      static permission = "granted";
      static requestPermission = async () => "granted";
      constructor(title, { body }) {
        super();
        window.said.push(`${title}: ${body}`);
      }
      close() {}
    };
    document.hasFocus = () => false;
  });
  await goTo(page, "#/settings");
  await page.getByRole("switch", { name: "Notify me when a run waits for me or has ended" }).click();
  await page.getByRole("switch", { name: "Notify me when a run waits for me or has ended", checked: true }).waitFor();
  await goTo(page, "#/");
  await press(page, "Try the sample");
  await waitsForApproval(page, 1);
  await page.waitForFunction(() => window.said.includes("Quarterly expenses: Waits for you"));
  await approveBoth(page);
  await page.waitForFunction(() => window.said.includes("Quarterly expenses: Passed"));
});

/** Drops files on the window, as `[name, text]`. */
async function drop(page, ...files) {
  const data = await page.evaluateHandle((all) => {
    const transfer = new DataTransfer();
    for (const [name, text] of all) transfer.items.add(new File([text], name));
    return transfer;
  }, files);
  await page.dispatchEvent("main", "dragover", { dataTransfer: data });
  await shows(page, "Drop a folder, a task or a text");
  await page.dispatchEvent("main", "drop", { dataTransfer: data });
}

scenario("a text that is dropped becomes a fact, and a task that is dropped is opened after a question", {}, async ({ page }) => {
  await goTo(page, "#/task");
  await page.getByRole("textbox", { name: "What do you want done?" }).waitFor();
  await drop(page, ["price list.txt", "Apples 2\nPears 3\n"]);
  await shows(page, "“price list.txt” is among what it should know.");
  await page.getByText("Source", { exact: true }).click();
  await shows(page, "price_list");
  await page.getByText("Letter", { exact: true }).click();
  await drop(page, ["picture.png", "\u0000\u0001"]);
  await shows(page, "“picture.png” has no text.");
  await drop(page, ["long.txt", "x".repeat(100_001)]);
  await shows(page, "“long.txt” is too long to be a fact");
  await drop(page, ["task.yaml", "goal: Count the birds\ncontext: {}\nexpectedOutput: A number\n"]);
  const dialog = page.getByRole("dialog", { name: "Open another task?" });
  await dialog.waitFor();
  await check(page, "A task was dropped");
  await press(dialog, "Open it");
  await page.getByRole("textbox", { name: "What do you want done?" }).and(page.getByText("Count the birds")).waitFor();
});

for (const theme of ["light", "dark"]) {
  scenario(`the tour has four steps, by keyboard, and starts only when it is asked for (${theme})`, { theme }, async ({ page }) => {
    await page.getByRole("button", { name: "Try the sample" }).waitFor();
    assert.equal(await page.getByRole("dialog").count(), 0);
    await tabTo(page, "Show me around");
    await page.keyboard.press("Enter");
    for (const title of ["Say what you want", "Read the plan, change it, approve it", "Watch it work, or go away", "Get a verdict, not a guess"]) {
      await page.getByRole("dialog", { name: title }).waitFor();
      if (title.startsWith("Say")) await check(page, "Tour");
      await tabTo(page, /^(Next|Begin)$/);
      await page.keyboard.press("Enter");
    }
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });
}
