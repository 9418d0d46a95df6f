// The only door out of the page. Nothing else in the interface knows whether it runs in the window or in a browser.

import { httpHost } from "./http.ts";
import { tauriHost } from "./tauri.ts";
import type { Host } from "./types.ts";

export { HostError, asHostError } from "./error.ts";
export type { CommandName, Dropped, FileKind, Host, Reply, Request } from "./types.ts";

/** The host that this page was opened in. */
export const host: Host = "__TAURI_INTERNALS__" in window ? tauriHost() : httpHost();
