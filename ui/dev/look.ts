// Takes a picture of every screen in both themes and both sizes, and lets axe look at each.
// Start `npx vite --mode mock` first; then `node dev/look.ts <folder> [name of one place]`.

import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";

const base = "http://127.0.0.1:5173";
const folder = process.argv[2] ?? "look";
const only = process.argv[3];
const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Shot {
  name: string;
  scenario: string;
  hash: string;
  act?: (page: Page) => Promise<void>;
}

const shots: Shot[] = [
  { name: "first", scenario: "first", hash: "#/" },
  { name: "home", scenario: "busy", hash: "#/" },
  { name: "runs", scenario: "busy", hash: "#/runs" },
  { name: "runs-empty", scenario: "first", hash: "#/runs" },
  { name: "runs-down", scenario: "down", hash: "#/runs" },
  { name: "run-ask", scenario: "busy", hash: "#/runs/ask1" },
  { name: "run-ask2", scenario: "busy", hash: "#/runs/ask2" },
  { name: "run-reject", scenario: "busy", hash: "#/runs/ask2", act: (page) => page.click("text=Reject") },
  { name: "run-menu", scenario: "busy", hash: "#/runs/ask2", act: (page) => page.click('button[aria-label="More ways to approve"]') },
  { name: "compose-menu", scenario: "compose", hash: "#/task", act: (page) => page.click("button[data-by] >> nth=0") },
  { name: "compose-query", scenario: "compose", hash: "#/task", act: (page) => page.click("button[data-details] >> nth=4") },
  { name: "run-live", scenario: "busy", hash: "#/runs/running", act: (page) => page.click('button[data-step="step_4"]') },
  { name: "run-sql", scenario: "busy", hash: "#/runs/passed/steps", act: (page) => page.click('button[data-step="step_3"]') },
  { name: "run-interrupted", scenario: "busy", hash: "#/runs/interrupted" },
  { name: "run-files", scenario: "busy", hash: "#/runs/passed/steps", act: (page) => page.click('[role="tab"]:nth-child(2)') },
  { name: "run-list", scenario: "busy", hash: "#/runs/ask2", act: async (page) => page.click('button[aria-label="Show as a list"]') },
  { name: "verdict", scenario: "busy", hash: "#/runs/passed" },
  { name: "verdict-failed", scenario: "busy", hash: "#/runs/failed" },
  { name: "compose", scenario: "first", hash: "#/task" },
  { name: "compose-full", scenario: "compose", hash: "#/task" },
  { name: "compose-check", scenario: "compose", hash: "#/task", act: (page) => page.click("button[data-details] >> nth=1") },
  { name: "compose-source", scenario: "compose", hash: "#/task", act: (page) => page.click("text=Source") },
  { name: "settings", scenario: "first", hash: "#/settings" },
];

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});
mkdirSync(folder, { recursive: true });
let violations = 0;
const sizes = [[1280, 800], [1920, 1080]] as const;
for (const [width, height] of sizes) {
  for (const theme of ["light", "dark"] as const) {
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(5000);
    page.setDefaultNavigationTimeout(60_000);
    page.on("pageerror", (error) => console.log(`  error: ${error.message}`));
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("500")) console.log(`  console: ${message.text().slice(0, 300)}`);
    });
    for (const shot of shots) {
      if (only && !shot.name.startsWith(only)) continue;
      await fetch(`${base}/mock`, { method: "POST", body: JSON.stringify({ scenario: shot.scenario }) });
      await page.goto(`${base}/`);
      await page.evaluate(() => localStorage.clear());
      await page.goto(`${base}/${shot.hash}`);
      await page.reload();
      await page.waitForLoadState("networkidle").catch(() => undefined);
      await page.waitForTimeout(500);
      try {
        await shot.act?.(page);
      } catch (error) {
        console.log(`  ${shot.name}: ${String(error).slice(0, 200)}`);
      }
      await page.waitForTimeout(300);
      await page.screenshot({ path: join(folder, `${shot.name}-${theme}-${width}.png`) });
      if (width === 1280) {
        await page.mouse.move(2, 2);
        await page.waitForTimeout(200);
        await page.addScriptTag({ path: axe });
        const found = await page.evaluate(async () => {
          const { axe: run } = window as unknown as { axe: { run: () => Promise<{ violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
          return (await run.run()).violations.map((one) => `${one.id}: ${one.help}\n      ${one.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 160)}  ${node.failureSummary.slice(0, 220).replaceAll("\n", " ")}`).join("\n      ")}`);
        });
        violations += found.length;
        if (found.length > 0) console.log(`${shot.name} ${theme}\n    ${found.join("\n    ")}`);
      }
    }
    await context.close();
  }
}
await browser.close();
console.log(`${violations} axe violations`);
