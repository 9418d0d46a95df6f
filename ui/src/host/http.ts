// A browser in front of the development server: the same commands over HTTP, signals as server-sent events.
// The server answers the pickers, so that a test can decide what a person would have picked.

import type { Signal } from "../contract/index.ts";
import { asHostError, unreachable } from "./error.ts";
import { notify, onPageDrop } from "./page.ts";
import type { CommandName, Host, Reply, Request } from "./types.ts";

async function post(path: string, body: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body ?? null),
    });
  } catch (cause) {
    throw unreachable(cause);
  }
  const text = await response.text();
  let value: unknown;
  try {
    value = text === "" ? null : JSON.parse(text);
  } catch (cause) {
    throw unreachable(cause);
  }
  if (!response.ok) throw asHostError(value);
  return value;
}

async function pick(path: string, body: unknown): Promise<string | null> {
  const answer = await post(path, body);
  if (typeof answer === "string") return answer;
  if (typeof answer === "object" && answer !== null && "path" in answer && typeof answer.path === "string") {
    return answer.path;
  }
  return null;
}

/** The host in a plain browser. */
export function httpHost(): Host {
  return {
    call: <K extends CommandName>(name: K, request: Request<K>) =>
      post(`/ipc/${name}`, request) as Promise<Reply<K>>,
    onSignal(listener, onReopen) {
      const source = new EventSource("/signals");
      let opened = false;
      source.addEventListener("open", () => {
        if (opened) onReopen?.();
        opened = true;
      });
      source.addEventListener("message", (event: MessageEvent<string>) => {
        listener(JSON.parse(event.data) as Signal);
      });
      return () => source.close();
    },
    pickFolder: (title) => pick("/pick/folder", { title }),
    pickFile: (kind, title) => pick("/pick/file", { kind, title }),
    saveFileAs: (suggested, title) => pick("/pick/save", { suggested, title }),
    onDrop: onPageDrop,
    notify,
    setZoom: (percent) => {
      document.documentElement.style.zoom = percent === 100 ? "" : `${percent}%`;
    },
    showInFolder: async (path) => {
      await post("/open", { path });
    },
    openPage: async (url) => {
      window.open(url, "_blank", "noopener,noreferrer");
    },
  };
}
