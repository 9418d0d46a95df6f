import { expect, test } from "vitest";
import type { Command } from "./commands.ts";
import { text } from "../text/index.ts";
import { menuBar, trayOf } from "./menus.ts";

const command = (id: string, keys?: string): Command => ({ id, group: "go", title: `Do ${id}`, run: () => undefined, ...(keys ? { keys } : {}) });

test("a menu has what is offered, with its keys as the system writes them", () => {
  const commands = [command("zoomIn", "Ctrl++"), command("new", "Ctrl+N"), command("settings", "⌘,"), command("elsewhere")];
  const [file, view, help] = menuBar(commands, text);
  expect(file?.entries).toEqual([
    { id: "new", title: "Do new", keys: "CmdOrCtrl+N" },
    null,
    { id: "settings", title: "Do settings", keys: "CmdOrCtrl+," },
    null,
  ]);
  expect(view?.entries.filter(Boolean)).toEqual([{ id: "zoomIn", title: "Do zoomIn", keys: "CmdOrCtrl+=" }]);
  expect(help?.entries).toEqual([]);
});

test("the tray says what is at work and what waits, and nothing where nothing is", () => {
  const { standing, entries } = trayOf({ running: 2, waiting: 1 }, text);
  expect(standing).toBe("Tepa · 2 runs are at work · 1 run waits for you");
  expect(entries.map((entry) => entry?.id ?? null)).toEqual(["runs", "waiting", null, "show", "new", null, "quit"]);
  const quiet = trayOf({ running: 0, waiting: 0 }, text);
  expect(quiet.standing).toBe("Tepa");
  expect(quiet.entries.map((entry) => entry?.id ?? null)).toEqual(["show", "new", null, "quit"]);
});
