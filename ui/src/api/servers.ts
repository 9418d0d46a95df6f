// MCP servers: what is kept of them, and what can be done with one.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { AddedServers, McpServer } from "../contract/index.ts";
import { type HostError, host } from "../host/index.ts";

const key = ["mcp"];

/** All servers, in the order in which they were added. None is started by asking. */
export function useMcpServers() {
  return useQuery<McpServer[], HostError>({ queryKey: key, queryFn: async () => (await host.call("mcp_list", null)).servers });
}

/** Adds servers as they were pasted. */
export function useAddServers() {
  const client = useQueryClient();
  return useMutation<AddedServers, HostError, string>({
    mutationFn: (text) => host.call("mcp_add", { text }),
    onSuccess: () => client.invalidateQueries({ queryKey: key }),
  });
}

/** Starts a server and looks at what it offers. */
export function useConnectServer(name: string) {
  const client = useQueryClient();
  return useMutation<McpServer, HostError, void>({
    mutationFn: () => host.call("mcp_connect", { name }),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
}

/** Waits no more for a server that is being connected. */
export function useLeaveServer(name: string) {
  return useMutation<unknown, HostError, void>({ mutationFn: () => host.call("mcp_leave", { name }) });
}

/** Approves what was shown. */
export function useApproveServer(name: string) {
  const client = useQueryClient();
  return useMutation<McpServer, HostError, string>({
    mutationFn: (offered) => host.call("mcp_approve", { name, offered }),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
}

/** Forgets a server and what it was given. */
export function useRemoveServer(name: string) {
  const client = useQueryClient();
  return useMutation<unknown, HostError, void>({
    mutationFn: () => host.call("mcp_remove", { name }),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
}
