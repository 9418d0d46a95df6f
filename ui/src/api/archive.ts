// Runs as files, and runs that go: written to a file, taken from one, deleted.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ExportForm } from "../contract/index.ts";
import { type HostError, host, type Reply } from "../host/index.ts";

/** As what a run is saved: whole, or for those who do not have the app. */
export type ExportAs = "run" | ExportForm;

/** How the files of each end. */
const endings: Record<ExportAs, string> = { run: "tepa", html: "html", markdown: "md", steps: "csv", calls: "jsonl" };

/** All of them, in the order in which a person chooses. */
export const exportForms = Object.keys(endings) as readonly ExportAs[];

/** Writes a run to a file that a person names; null when they changed their mind. */
export function useExportRun() {
  return useMutation<Reply<"run_export"> | null, HostError, { runId: string; as: ExportAs; name: string; pickTitle: string }>({
    mutationFn: async ({ runId, as, name, pickTitle }) => {
      const path = await host.saveFileAs(`${name}.${endings[as]}`, pickTitle, as === "run" ? "run" : "report");
      return path === null ? null : host.call("run_export", { runId, path, form: as === "run" ? null : as });
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

/** Takes a run from the file at a place that the system named. */
export function useImportFile() {
  const client = useQueryClient();
  return useMutation<Reply<"run_import">, HostError, string>({
    mutationFn: (path) => host.call("run_import", { path }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["runs"] }),
  });
}

/** The file that the system handed to the app, if there is one; each is given out once. */
export async function handedFile(): Promise<string | null> {
  return (await host.call("file_handed", null))?.path ?? null;
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
