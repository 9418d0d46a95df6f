// The keys that reach everywhere, as they are pressed and as they are shown.

import { useEffect } from "react";
import { usePreferences, zooms } from "../state/preferences.ts";
import { toggleCheatSheet } from "./CheatSheet.tsx";
import { openPalette } from "./Palette.tsx";
import { go } from "./route.ts";

const mac = typeof navigator !== "undefined" && navigator.userAgent.includes("Mac");
const shown = (key: string) => (mac ? `⌘${key}` : `Ctrl+${key}`);

/** Each shortcut as a person reads it. */
export const shortcuts = {
  newTask: shown("N"),
  home: shown("1"),
  runs: shown("2"),
  waiting: shown("3"),
  settings: shown(","),
  rail: shown("B"),
  palette: shown("K"),
  sheet: shown("/"),
  open: shown("O"),
  save: shown("S"),
  saveAs: mac ? "⇧⌘S" : "Ctrl+Shift+S",
  undo: shown("Z"),
  redo: mac ? "⇧⌘Z" : "Ctrl+Shift+Z",
  nextLine: mac ? "↵" : "Enter",
  close: "Esc",
  resize: "← →",
  zoomIn: shown("+"),
  zoomOut: shown("-"),
  zoomReset: shown("0"),
  send: mac ? "⌘↵" : "Ctrl+Enter",
} as const;

const actions: Record<string, () => void> = {
  n: () => go({ screen: "compose" }),
  "1": () => go({ screen: "home" }),
  "2": () => go({ screen: "runs", status: "all" }),
  "3": () => go({ screen: "runs", status: "waiting" }),
  ",": () => go({ screen: "settings" }),
  b: () => usePreferences.getState().toggleRail(),
  k: openPalette,
  "/": toggleCheatSheet,
  "+": () => zoomBy(1),
  "=": () => zoomBy(1),
  "-": () => zoomBy(-1),
  "0": () => usePreferences.getState().setZoom(100),
};

/** One step larger or smaller. */
export function zoomBy(steps: 1 | -1): void {
  const { zoom, setZoom } = usePreferences.getState();
  const next = steps > 0 ? zooms.find((percent) => percent > zoom) : zooms.findLast((percent) => percent < zoom);
  if (next !== undefined) setZoom(next);
}

/** Listens for the shortcuts while the app is shown. */
export function useShortcuts(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const held = mac ? event.metaKey : event.ctrlKey;
      if (!held || event.altKey || event.shiftKey) return;
      const action = actions[event.key.toLowerCase()];
      if (!action) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}
