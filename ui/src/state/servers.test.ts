import { expect, test } from "vitest";
import type { McpServer } from "../contract/index.ts";
import { inShort, missingValues, reachedBy, standingOf } from "./servers.ts";

const server: McpServer = {
  name: "time",
  launch: { kind: "program", command: "uvx", args: ["mcp-server-time", "--zone", "Central European"], variables: ["TOKEN", "URL"] },
  values: ["TOKEN"],
  addedAtMs: 1,
  approved: null,
  approvedAtMs: null,
  offered: null,
  running: false,
  problem: null,
  log: [],
};

const offered = { tools: [], hash: "sha256:1", changes: [{ tool: "now", before: null, after: { description: "", parameters: {} } }] };

test("a server stands where a person can do the next thing about it", () => {
  expect(standingOf(server)).toBe("added");
  expect(standingOf({ ...server, offered })).toBe("offers");
  expect(standingOf({ ...server, approved: [] })).toBe("ready");
  expect(standingOf({ ...server, approved: [], offered: { ...offered, changes: [] } })).toBe("ready");
  expect(standingOf({ ...server, approved: [], offered })).toBe("changed");
  const problem = { code: "mcp_not_started", message: "", hint: null, retryable: false, problems: [] };
  expect(standingOf({ ...server, approved: [], offered, problem })).toBe("failed");
});

test("how a server is reached reads as one would type it", () => {
  expect(reachedBy(server.launch)).toBe('uvx mcp-server-time --zone "Central European"');
  expect(reachedBy({ kind: "address", url: "https://a.org/mcp", headers: [] })).toBe("https://a.org/mcp");
});

test("values that are not kept any more are named", () => {
  expect(missingValues(server)).toEqual(["URL"]);
  expect(missingValues({ ...server, launch: { ...server.launch, hidden: ["api-key"] } })).toEqual(["URL", "api-key"]);
  expect(missingValues({ ...server, launch: { kind: "address", url: "https://a.org", headers: ["TOKEN"] } })).toEqual([]);
});

test("a tool is shown by its first sentence", () => {
  expect(inShort({ description: "Get the time.\n\nArgs: zone, e.g. Europe" })).toBe("Get the time.");
  expect(inShort({ description: "" })).toBe("");
  expect(inShort({ description: "x".repeat(400) }).length).toBe(161);
});
