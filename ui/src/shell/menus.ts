// The menu bar and the tray of the system. A browser has neither.

import { useEffect, useRef } from "react";
import { useRuns } from "../api/runs.ts";
import { host } from "../host/index.ts";
import { type Command, offered } from "../state/commands.ts";
import { menuBar, trayOf } from "../state/menus.ts";
import { standingOf } from "../state/standing.ts";
import { useText } from "../text/index.ts";
import { openPalette } from "./Palette.tsx";
import { shortcuts } from "./shortcuts.ts";

/** Keeps the menus as the page is, and does what is chosen in them. Called once, by the shell. */
export function useMenus(): void {
  const t = useText();
  const runs = useRuns({ status: [], text: "" }).data;
  const waiting = runs?.filter((run) => standingOf(run) === "waiting").length ?? 0;
  const running = runs?.filter((run) => standingOf(run) === "running").length ?? 0;
  // The system draws a menu anew when it is told to, also while a person has it open.
  const shown = useRef({ bar: "", tray: "" });
  useEffect(() => {
    const own: Command[] = [
      { id: "palette", group: "window", title: t("palette.title"), keys: shortcuts.palette, run: openPalette },
      { id: "quit", group: "window", title: t("menu.quit"), run: () => undefined },
    ];
    const bar = menuBar([...offered(), ...own], t);
    const tray = trayOf({ running, waiting }, t);
    const now = { bar: JSON.stringify(bar), tray: JSON.stringify(tray) };
    if (now.bar !== shown.current.bar) host.setMenuBar?.(bar);
    if (now.tray !== shown.current.tray) host.setTray?.(tray);
    shown.current = now;
  });
  useEffect(
    () =>
      host.onMenu?.((id) => {
        if (id === "palette") openPalette();
        else offered().find((command) => command.id === id)?.run();
      }),
    [],
  );
}
