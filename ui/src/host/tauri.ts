// The desktop window: its command and events, and the dialog and opener plugins.

import { invoke } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { open, save } from "@tauri-apps/plugin-dialog";
import { openUrl, revealItemInDir } from "@tauri-apps/plugin-opener";
import type { Signal } from "../contract/index.ts";
import { asHostError } from "./error.ts";
import { notify } from "./page.ts";
import type { CommandName, FileKind, Host, Reply, Request } from "./types.ts";

const filters: Record<FileKind, { name: string; extensions: string[] }[]> = {
  task: [{ name: "Task", extensions: ["yaml", "yml", "json"] }],
  run: [{ name: "Run", extensions: ["tepa"] }],
  recording: [{ name: "Recording", extensions: ["json"] }],
  context: [],
  report: [],
};

/** The host inside the desktop window. */
export function tauriHost(): Host {
  return {
    async call<K extends CommandName>(name: K, request: Request<K>): Promise<Reply<K>> {
      try {
        return await invoke<Reply<K>>("ipc", { name, request });
      } catch (thrown) {
        throw asHostError(thrown);
      }
    },
    onSignal(listener) {
      const stop = listen<Signal>("signal", (event) => listener(event.payload));
      return () => void stop.then((unlisten) => unlisten());
    },
    pickFolder: (title) => open({ directory: true, multiple: false, title }),
    pickFile: (kind: FileKind, title) =>
      open({ directory: false, multiple: false, title, ...(filters[kind].length > 0 ? { filters: filters[kind] } : {}) }),
    saveFileAs: (suggested, title, kind = "task") => save({ defaultPath: suggested, title, filters: filters[kind] }),
    onDrop(dropped, over) {
      const stop = getCurrentWebview().onDragDropEvent(({ payload }) => {
        over(payload.type === "enter" || payload.type === "over");
        if (payload.type === "drop") dropped(payload.paths.map((path) => ({ name: path.split(/[\\/]/).at(-1) ?? path, path })));
      });
      return () => void stop.then((unlisten) => unlisten());
    },
    notify,
    setMenuBar: (bar) => void invoke("menu_bar", { bar }),
    setTray: (tray) => void invoke("menu_tray", { tray }),
    onMenu(chosen) {
      const stop = listen<string>("menu", (event) => chosen(event.payload));
      return () => void stop.then((unlisten) => unlisten());
    },
    setZoom: (percent) => void getCurrentWebview().setZoom(percent / 100),
    showInFolder: (path) => revealItemInDir(path),
    openPage: (url) => openUrl(url),
  };
}
