// How an MCP server stands, decided from what the app knows of it.

import type { Launch, McpServer, ServerTool } from "../contract/index.ts";

/** What a person can do about a server next. */
export type ServerStanding = "added" | "offers" | "ready" | "changed" | "failed";

/** How a server stands: a failure says most, then a change, then what is still to be approved. */
export function standingOf(server: McpServer): ServerStanding {
  if (server.problem !== null) return "failed";
  if (server.approved === null) return server.offered === null ? "added" : "offers";
  return server.offered !== null && server.offered.changes.length > 0 ? "changed" : "ready";
}

/** The command line or the address, as one line. */
export function reachedBy(launch: Launch): string {
  return launch.kind === "address" ? launch.url : [launch.command, ...launch.args].map(quoted).join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `"${word}"`;
}

/** The names of the values that belong to a server and are not kept any more. */
export function missingValues(server: McpServer): string[] {
  const named = server.launch.kind === "address" ? server.launch.headers : server.launch.variables;
  const names = [...named, ...(server.launch.hidden ?? [])];
  return names.filter((name) => !server.values.includes(name));
}

/** The first sentence of what a tool is said to do, on one line. */
export function inShort(tool: Pick<ServerTool, "description">): string {
  const line = tool.description.replace(/\s+/g, " ").trim();
  const end = line.search(/[.!?。](\s|$)/);
  const first = end === -1 ? line : line.slice(0, end + 1);
  return first.length > 160 ? `${first.slice(0, 160).trimEnd()}…` : first;
}
