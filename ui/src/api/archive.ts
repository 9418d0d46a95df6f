// Runs as files, and runs that go: written to a file, taken from one, deleted.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type HostError, host, type Reply } from "../host/index.ts";

/** Writes a run to a file that a person names; null when they changed their mind. */
export function useExportRun() {
  return useMutation<Reply<"run_export"> | null, HostError, { runId: string; suggested: string; pickTitle: string }>({
    mutationFn: async ({ runId, suggested, pickTitle }) => {
      const path = await host.saveFileAs(suggested, pickTitle, "run");
      return path === null ? null : host.call("run_export", { runId, path });
    },
  });
}

/** Takes a run from a file that a person picks; null when they changed their mind. */
export function useImportRun() {
  const client = useQueryClient();
  return useMutation<Reply<"run_import"> | null, HostError, { pickTitle: string }>({
    mutationFn: async ({ pickTitle }) => {
      const path = await host.pickFile("run", pickTitle);
      return path === null ? null : host.call("run_import", { path });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

/** What deleting these runs would take with it. */
export function useDeletion(runIds: readonly string[]) {
  return useQuery<Reply<"run_deletion">, HostError>({
    queryKey: ["deletion", runIds],
    queryFn: () => host.call("run_deletion", { runIds: [...runIds] }),
    gcTime: 0,
  });
}

/** Deletes runs for good. */
export function useDeleteRuns() {
  const client = useQueryClient();
  return useMutation<Reply<"run_delete">, HostError, readonly string[]>({
    mutationFn: (runIds) => host.call("run_delete", { runIds: [...runIds] }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}
