// Settings stay what they were set to, and a key shows no more of itself than its end.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scenario, temporaryFolder } from "./app.js";
import { check } from "./axe.js";
import { faults, startModel } from "./fake-model.js";
import { goTo, press, putKey, shows } from "./person.js";

const theme = (page) => page.evaluate(() => document.documentElement.dataset.mantineColorScheme);

/** Types into a field as a person does: what is there goes first, then key by key. */
async function type(field, words) {
  await field.press("ControlOrMeta+a");
  await field.press("Delete");
  await field.pressSequentially(words);
}

/** A field of a role. */
const ofRole = (page, role, field) => page.getByRole("group", { name: role }).getByLabel(field, { exact: true });

scenario("the theme changes at once, and stays when the window is opened again", { at: "#/settings" }, async ({ page }) => {
  const choice = page.getByRole("radiogroup", { name: "Theme" });
  await choice.getByText("Dark", { exact: true }).click();
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  await page.reload();
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  assert.ok(await choice.getByRole("radio", { name: "Dark" }).isChecked());
  await choice.getByText("As the system", { exact: true }).click();
  await page.locator("html[data-mantine-color-scheme=light]").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.locator("html[data-mantine-color-scheme=dark]").waitFor();
  assert.equal(await theme(page), "dark");
});

scenario("limits are kept, and are what a new task begins with", { at: "#/settings" }, async ({ page }) => {
  const card = page.getByRole("region", { name: "Limits" });
  await card.getByLabel("Cycles").fill("3");
  await card.getByLabel("Tokens").fill("20000");
  await card.getByLabel("Seconds for a tool").fill("90");
  await card.getByLabel("At once").fill("2");
  await card.getByLabel("Second tries").fill("0");
  await press(card, "Save");
  await shows(page, "Saved");
  await page.reload();
  assert.equal(await card.getByLabel("Cycles").inputValue(), "3");
  assert.equal(await card.getByLabel("Tokens").inputValue(), "20,000");
  assert.equal(await card.getByLabel("Seconds for a tool").inputValue(), "90");
  assert.equal(await card.getByLabel("At once").inputValue(), "2");
  assert.equal(await card.getByLabel("Second tries").inputValue(), "0");
  await goTo(page, "#/task");
  await shows(page, "Up to 3 cycles, 20,000 tokens; asks you before every plan.");
});

scenario("a limit that makes no sense is refused beside its field, and not kept", { at: "#/settings" }, async ({ app, page }) => {
  const card = page.getByRole("region", { name: "Limits" });
  const before = (await app.call("settings_get")).limits;
  await type(card.getByLabel("Cycles"), "0");
  await card.getByLabel("Second tries").fill("4");
  await press(card, "Save");
  await card.getByText("At least 1.", { exact: true }).waitFor();
  assert.ok(await card.getByLabel("Cycles").evaluate((field) => field === document.activeElement));
  await type(card.getByLabel("Cycles"), "2");
  for (const wrong of ["0.5 $", "1,500", "half"]) {
    await type(card.getByLabel("Money"), wrong);
    await press(card, "Save");
    await card.getByText(/^(Write a number, such as 0\.5|This could be 1\.5 or 1500)/).waitFor();
    assert.deepEqual((await app.call("settings_get")).limits, before, `${wrong} is no limit, and not none`);
  }
  await type(card.getByLabel("Money"), "0.5");
  await press(card, "Save");
  await shows(page, "Saved");
  assert.equal((await app.call("settings_get")).limits.maxCost, 0.5);
});

for (const locale of ["en-GB", "de-DE"]) {
  const [limits, money, save, kept] = locale === "de-DE" ? ["Grenzen", "Geld", "Speichern", "Gespeichert"] : ["Limits", "Money", "Save", "Saved"];
  scenario(`a sum is kept as it was typed, key by key, with a dot or a comma (${locale})`, { at: "#/settings", locale }, async ({ app, page }) => {
    const card = page.getByRole("region", { name: limits });
    for (const [typed, sum] of [["1.5", 1.5], ["0.75", 0.75], ["0.005", 0.005], ["0,75", 0.75], ["12,50", 12.5]]) {
      await type(card.getByLabel(money), typed);
      assert.equal(await card.getByLabel(money).inputValue(), typed);
      await press(card, save);
      await card.getByText(kept, { exact: true }).waitFor();
      assert.equal((await app.call("settings_get")).limits.maxCost, sum);
      await page.reload();
      assert.equal(await card.getByLabel(money).inputValue(), String(sum).replace(".", locale === "de-DE" ? "," : "."));
    }
    await type(card.getByLabel(money), "");
    await press(card, save);
    await card.getByText(kept, { exact: true }).waitFor();
    assert.equal((await app.call("settings_get")).limits.maxCost, undefined);
  });
}

scenario("a key shows its end and where it is, can be replaced, and can be removed", { at: "#/settings" }, async ({ page }) => {
  const card = page.getByRole("region", { name: "Key" });
  await putKey(page, "sk-first-key-1111");
  await card.getByText("A key ending in 1111 is kept. It is kept only until you close Tepa.").waitFor();
  await press(card, "Replace");
  assert.equal(await card.getByLabel("Key", { exact: true }).inputValue(), "");
  await card.getByLabel("Key", { exact: true }).fill("sk-second-key-2222");
  await press(card, "Keep in the keychain");
  await card.getByText("A key ending in 2222").waitFor();
  await page.reload();
  await card.getByText("A key ending in 2222").waitFor();
  await press(card, "Remove the key");
  await press(page.getByRole("dialog", { name: "Remove the key?" }), "Remove the key");
  await card.getByLabel("Key", { exact: true }).waitFor();
  await page.reload();
  await card.getByLabel("Key", { exact: true }).waitFor();
  assert.ok(!(await page.content()).includes("2222"));
});

scenario("an account wants its own key and then a model, and every task asks that one", { at: "#/settings" }, async ({ page }) => {
  const card = page.getByRole("region", { name: "Anthropic", exact: true });
  await card.getByText("Not connected").waitFor();
  await press(card, "Set up");
  const use = card.getByRole("button", { name: "Use for every task" });
  await card.getByLabel("Model", { exact: true }).fill("claude-test");
  assert.ok(await use.isDisabled(), "there is no key yet");
  await card.getByLabel("Key", { exact: true }).fill("sk-ant-of-the-test-7788");
  await press(card, /^Keep/);
  await card.getByText(/ending in 7788/).waitFor();
  await use.click();
  await card.getByText("Every task asks claude-test, unless it names another one.").waitFor();
  await page.reload();
  await card.getByText("Every task asks claude-test, unless it names another one.").waitFor();
  assert.ok(!(await page.content()).includes("sk-ant-of-the-test"), "the key does not come back");
  await press(card, "Set up");
  await press(card, "Do not use it");
  await card.getByText("A key is there. Choose a model to use it.").waitFor();
  await page.getByRole("region", { name: "OpenAI", exact: true }).getByText("Not connected").waitFor();
});

scenario("another account has a name of its own, its key and its models, and can be removed", { at: "#/settings" }, async ({ page }) => {
  const group = page.getByRole("region", { name: "Accounts", exact: true });
  await press(group, "Add another account");
  const form = group.getByRole("form", { name: "Add another account" });
  await form.getByLabel("Name").fill("router");
  const add = form.getByRole("button", { name: "Add the account" });
  assert.ok(await add.isDisabled(), "a service needs its address");
  await form.getByLabel("Address").fill("https://router.example/api/v1");
  await add.click();
  const card = page.getByRole("region", { name: "router", exact: true });
  await card.getByText("https://router.example/api/v1").waitFor();
  await page.reload();
  await press(card, "Set up");
  await card.getByLabel("Address").fill("http://router.example/api/v1");
  await card.getByRole("button", { name: "Save", exact: true }).first().click();
  // A key would travel there for everyone to read.
  await card.getByText(/everyone on the way to the server can read the key/).waitFor();
  await card.getByLabel("Key", { exact: true }).fill("sk-router-key-3344");
  await press(card, "Keep it, unencrypted on its way");
  await card.getByText(/ending in 3344/).waitFor();
  await press(card, "Remove the account");
  const asks = page.getByRole("dialog", { name: "Remove router?" });
  await asks.getByText(/Its key is deleted too/).waitFor();
  await press(asks, "Cancel");
  await card.getByText(/ending in 3344/).waitFor();
  await press(card, "Remove the account");
  await press(asks, "Remove the account");
  await shows(page, "The account and its key are gone.");
  await card.waitFor({ state: "detached" });
  // Nothing of it is found by an account of the same name.
  await press(group, "Add another account");
  await form.getByLabel("Name").fill("router");
  await form.getByLabel("Address").fill("https://router.example/api/v1");
  await add.click();
  await press(card, "Set up");
  await card.getByLabel("Key", { exact: true }).waitFor();
  assert.ok(!(await card.textContent()).includes("3344"), "the key went with the account");
});

scenario("what is not saved is still there after looking elsewhere, and is marked in the list", { at: "#/settings" }, async ({ app, page }) => {
  const card = page.getByRole("region", { name: "Limits" });
  await type(card.getByLabel("Minutes"), "77");
  await goTo(page, "#/");
  await page.getByRole("heading", { name: "Home" }).waitFor();
  await goTo(page, "#/settings");
  assert.equal(await card.getByLabel("Minutes").inputValue(), "77");
  const list = page.getByRole("navigation", { name: "Parts of the settings" });
  await list.getByRole("button", { name: /Limits.*Changes not kept yet/ }).waitFor();
  assert.equal((await app.call("settings_get")).limits.maxMinutes, undefined);
  await press(card, "Save");
  await list.getByRole("button", { name: "Limits", exact: true }).waitFor();
  assert.equal((await app.call("settings_get")).limits.maxMinutes, 77);
});

scenario("an account offers its models after a test, and a refused key leads to the field for another", { at: "#/settings" }, async ({ t, app, page }) => {
  const fake = await startModel(t);
  fake.names = ["other-1"];
  await app.call("settings_set", { ...(await app.call("settings_get")), accounts: [{ name: "router", kind: "openai_compatible", baseUrl: fake.url }] });
  await app.call("key_set", { account: "router", key: "sk-router-key-3344" });
  await page.reload();
  const card = page.getByRole("region", { name: "router", exact: true });
  await press(card, "Set up");
  await press(card, "Test connection");
  await card.getByText("It works: router offers 2 models. Choose one above.").waitFor();
  const model = card.getByLabel("Model", { exact: true });
  await model.click();
  await page.getByRole("option", { name: "tiny-1" }).click();
  // What is chosen is no search: the others are still to be had, until something is typed.
  await model.click();
  await page.getByRole("option", { name: "other-1" }).waitFor();
  await model.press("ControlOrMeta+a");
  await model.pressSequentially("tin");
  await page.getByRole("option", { name: "other-1" }).waitFor({ state: "detached" });
  await page.getByRole("option", { name: "tiny-1" }).click();
  fake.fault = faults.refusesKey;
  await press(card, "Test connection");
  await press(card, "Enter another key");
  await card.getByLabel("Key", { exact: true }).and(page.locator(":focus")).waitFor();
});

scenario("what is recommended is offered with a key only, and asks before it takes the place of other models", { at: "#/settings" }, async ({ app, page }) => {
  const before = await app.call("settings_get");
  await app.call("settings_set", { ...before, models: { judge: "gemini:gemini-3.8-flash" } });
  await page.reload();
  const card = page.getByRole("region", { name: "Anthropic", exact: true });
  await press(card, "Set up");
  await card.getByLabel("Key", { exact: true }).waitFor();
  assert.equal(await card.getByRole("button", { name: "Use what is recommended" }).count(), 0);
  await card.getByLabel("Key", { exact: true }).fill("sk-ant-of-the-test-7788");
  await press(card, "Keep in the keychain");
  await press(card, "Use what is recommended");
  const asks = page.getByRole("dialog", { name: "Use what is recommended?" });
  await asks.getByText(/instead of gemini:gemini-3\.8-flash/).waitFor();
  await press(asks, "Cancel");
  assert.equal((await app.call("settings_get")).models.judge, "gemini:gemini-3.8-flash");
  await press(card, "Use what is recommended");
  await press(asks, "Use what is recommended");
  await shows(page, /Every task asks claude-/);
  const { models } = await app.call("settings_get");
  assert.equal(models.judge, models.planner);
  assert.equal(await card.getByLabel("Model", { exact: true }).inputValue(), models.planner.replace("anthropic:", ""));
});

scenario("what a person knows of a model is kept, until it is forgotten", { at: "#/settings" }, async ({ page }) => {
  const roles = page.getByRole("region", { name: "Who does what" });
  await ofRole(page, "Judges results", "Model").fill("anthropic:claude-haiku-5-5");
  await page.keyboard.press("Escape");
  await press(roles, "Save");
  const card = page.getByRole("region", { name: "What models can do" });
  await press(card, "Enter what you know");
  await card.getByLabel("Tokens it reads at once").fill("12345");
  await press(card, "Save");
  await card.getByText(/reads 12,345 tokens.*as you entered it/).waitFor();
  await press(card, "Enter what you know");
  assert.equal(await card.getByLabel("Tokens it reads at once").inputValue(), "12,345");
  await press(card, "Use what is known");
  await card.getByText(/reads 1,000,000 tokens/).waitFor();
});

scenario("each role can have its own model, and an empty one is done by the usual", { at: "#/settings" }, async ({ page }) => {
  const card = page.getByRole("region", { name: "Who does what" });
  await ofRole(page, "Does simple steps", "Model").fill("anthropic:claude-haiku-5-5");
  await page.keyboard.press("Escape");
  await press(card, "Save");
  await shows(page, "Saved");
  await page.reload();
  assert.equal(await ofRole(page, "Does simple steps", "Model").inputValue(), "anthropic:claude-haiku-5-5");
  assert.equal(await ofRole(page, "Judges results", "Model").inputValue(), "");
  const prices = page.getByRole("region", { name: "Prices" });
  await prices.getByText(/0\.10 in, 0\.50 out/).waitFor();
  await ofRole(page, "Judges results", "Model").fill("nobody");
  await page.keyboard.press("Escape");
  await press(card, "Save");
  await card.getByText(/must be written provider:model/).waitFor();
});

scenario("how much a role thinks and what stands in for it are kept, and a stand-in that nobody has is named", { at: "#/settings" }, async ({ page }) => {
  const card = page.getByRole("region", { name: "Who does what" });
  const effort = page.getByRole("group", { name: "Makes plans" }).getByRole("combobox", { name: "Thinks" });
  await effort.click();
  await page.getByRole("option", { name: "a lot" }).click();
  await ofRole(page, "Judges results", "If it does not answer").fill("nobody:m");
  await page.keyboard.press("Escape");
  await press(card, "Save");
  await page.getByRole("group", { name: "Judges results" }).getByText(/must be written provider:model/).waitFor();
  await ofRole(page, "Judges results", "If it does not answer").fill("openai:gpt-6-luna");
  await page.keyboard.press("Escape");
  await press(card, "Save");
  await shows(page, "Saved");
  await page.reload();
  assert.equal(await ofRole(page, "Judges results", "If it does not answer").inputValue(), "openai:gpt-6-luna");
  assert.equal(await effort.inputValue(), "a lot");
  // What may be asked has its price among the others.
  await page.getByRole("region", { name: "Prices" }).getByText("openai:gpt-6-luna").waitFor();
  const account = page.getByRole("region", { name: "Anthropic", exact: true });
  await press(account, "Set up");
  await account.getByLabel("If this account does not answer").fill("gemini:gemini-3.8-flash");
  await page.keyboard.press("Escape");
  await account.getByRole("button", { name: "Save", exact: true }).click();
  await shows(page, "Saved");
  await page.reload();
  await press(account, "Set up");
  assert.equal(await account.getByLabel("If this account does not answer").inputValue(), "gemini:gemini-3.8-flash");
  // A role's own is still there: each is kept by itself.
  assert.equal(await ofRole(page, "Judges results", "If it does not answer").inputValue(), "openai:gpt-6-luna");
});

scenario("a price that a person knows counts instead of the published one, until it is forgotten", { at: "#/settings" }, async ({ page }) => {
  const roles = page.getByRole("region", { name: "Who does what" });
  await ofRole(page, "Judges results", "Model").fill("anthropic:claude-haiku-5-5");
  await page.keyboard.press("Escape");
  await press(roles, "Save");
  const card = page.getByRole("region", { name: "Prices" });
  await card.getByText(/The provider's price on/).waitFor();
  await press(card, "Enter a price");
  await card.getByLabel("A million tokens read").fill("3");
  await type(card.getByLabel("A million tokens written"), "7.5");
  await press(card, "Save");
  await card.getByText(/3\.00 in, 7\.50 out .*As you entered it\./).waitFor();
  await press(card, "Enter a price");
  await press(card, "Use the published price");
  await card.getByText(/The provider's price on/).waitFor();
});

scenario("a server that is not there says so, with a button that tries again", { at: "#/settings" }, async ({ t, page }) => {
  const card = page.getByRole("region", { name: "Your own server" });
  const fake = await startModel(t);
  fake.close();
  await card.getByLabel("Address of the server").fill(fake.url);
  await card.getByLabel("Model", { exact: true }).fill("tiny-1");
  await press(card, "Test connection");
  await card.getByText(/is the model server running\?/).waitFor();
  await press(card, "Try again");
  await card.getByText(/is the model server running\?/).waitFor();
  await card.getByLabel("Address of the server").fill("ftp://x");
  await press(card, "Test connection");
  await card.getByText(/must begin with http/).waitFor();
});

scenario("what is wrong with a form stands at the form in a whole sentence, covers nothing, and goes when it is right", { at: "#/settings" }, async ({ page }) => {
  await press(page, "Add another account");
  const form = page.getByRole("form", { name: "Add another account" });
  await form.getByLabel("Name").fill("two words");
  await form.getByRole("textbox", { name: /[Aa]ddress/ }).fill("http://127.0.0.1:9/v1");
  await press(form, "Add the account");
  await form.getByRole("alert").getByText(/^“Name” must be .*\.$/).waitFor();
  assert.equal(await page.locator(".mantine-Notification-root").count(), 0);
  await form.getByLabel("Name").fill("two-words");
  await press(form, "Add the account");
  await form.waitFor({ state: "detached" });
});

for (const theme of ["light", "dark"]) {
  scenario(`versions, a copy of the data, and facts for whoever helps are had from the settings (${theme})`, { theme, at: "#/settings" }, async ({ t, app, page }) => {
    const about = page.getByRole("region", { name: "About Tepa" });
    await about.getByText(/^3\.\d+\.\d+$/).waitFor();
    await about.getByText("in a browser").waitFor();
    const place = temporaryFolder(t, "helps");
    const file = join(place, "facts.zip");
    await app.picks({ save: [file] });
    await press(about, "Save diagnostics");
    await shows(page, "Saved as facts.zip. Have a look before you send it on.");
    assert.equal(readFileSync(file).subarray(0, 2).toString(), "PK");
    await app.picks({ folder: [place] });
    await press(page.getByRole("region", { name: "Data", exact: true }), "Make a copy");
    await shows(page, /^Copied to .*tepa-backup-/);
    const copy = readdirSync(place).find((name) => name.startsWith("tepa-backup-"));
    assert.ok(existsSync(join(place, copy, "tepa.db")));
    await check(page, `Settings with versions, ${theme}`);
  });
}
