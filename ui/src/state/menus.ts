// What stands in the menus of the system, made of the commands that are there from everywhere.

import type { MenuBar, MenuEntry, Tray } from "../host/types.ts";
import type { Text } from "../text/index.ts";
import type { Command } from "./commands.ts";

/** What is chosen in each menu, by its command's name; `null` is a line. */
const inside = {
  file: ["new", "sample", null, "settings", null, "quit"],
  view: ["home", "runs", "waiting", null, "palette", null, "rail", "density", null, "zoomIn", "zoomOut"],
  help: ["tour", "sheet"],
} as const;
const menus = ["file", "view", "help"] as const;

/** How many runs are at work, and how many wait for the person. */
export interface AtWork {
  running: number;
  waiting: number;
}

/** The menus above the page, in the person's language. A command that nobody offers is left out. */
export function menuBar(commands: readonly Command[], t: Text): MenuBar {
  const entry = (id: string | null): MenuEntry[] => {
    if (id === null) return [null];
    const command = commands.find((one) => one.id === id);
    return command ? [{ id, title: command.title, ...(command.keys ? { keys: accelerator(command.keys) } : {}) }] : [];
  };
  return menus.map((menu) => ({ title: t(`menu.${menu}`), entries: inside[menu].flatMap(entry) }));
}

/** The tray: what is at work, what waits, and the way back to the window. */
export function trayOf({ running, waiting }: AtWork, t: Text): Tray {
  const runs = [
    ...(running > 0 ? [{ id: "runs", title: t("menu.running", { count: running }) }] : []),
    ...(waiting > 0 ? [{ id: "waiting", title: t("app.waitingCount", { count: waiting }) }] : []),
  ];
  return {
    standing: [t("app.name"), ...runs.map(({ title }) => title)].join(" · "),
    entries: [
      ...runs,
      ...(runs.length > 0 ? [null] : []),
      { id: "show", title: t("menu.show") },
      { id: "new", title: t("app.newTask") },
      null,
      { id: "quit", title: t("menu.quit") },
    ],
  };
}

/** Keys as the system writes them, from how they are shown: `Ctrl+,` and `⌘,` are both `CmdOrCtrl+,`. */
function accelerator(shown: string): string {
  const key = shown.replace(/^(Ctrl\+|⌘)/u, "");
  return `CmdOrCtrl+${key === "+" ? "=" : key}`;
}
