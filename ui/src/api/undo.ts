// What a run changed in files, and taking it back.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ChosenFile, RunFile, UndoPreview, UndoResult } from "../contract/index.ts";
import { type HostError, host } from "../host/index.ts";

/** The files that a run changed, with their lines counted. `stamp` changes when the run or an undo changed one. */
export function useRunFiles(runId: string, stamp: string) {
  return useQuery<RunFile[], HostError>({
    queryKey: ["files", runId, stamp],
    queryFn: async () => (await host.call("run_files", { runId })).files,
    // What was counted stays in sight while it is counted anew.
    placeholderData: (before) => before,
  });
}

/** What an undo or a redo would do now. It is looked at anew each time: files change without telling anybody. */
export function useUndoPreview(runId: string, redo: boolean, wanted: boolean) {
  return useQuery<UndoPreview, HostError>({
    queryKey: ["undo", runId, redo],
    queryFn: () => host.call("run_undo_preview", { runId, redo }),
    enabled: wanted,
    gcTime: 0,
    staleTime: 0,
  });
}

/** An undo, or a redo. */
export interface Undo {
  runId: string;
  redo: boolean;
  files: ChosenFile[];
  stamp: string;
}

function useFilesRefresh(): () => void {
  const client = useQueryClient();
  return () => {
    for (const key of ["file", "undo", "files", "run"]) void client.invalidateQueries({ queryKey: [key] });
  };
}

/** Undoes what a run changed in files, or brings it again. */
export function useUndo() {
  const onSettled = useFilesRefresh();
  return useMutation<UndoResult, HostError, Undo>({ mutationFn: (request) => host.call("run_undo", request), onSettled });
}

/** Takes an undo or a redo back at once: the same files, as they are now. */
export function useTakeBack() {
  const onSettled = useFilesRefresh();
  return useMutation<UndoResult, HostError, { runId: string; done: UndoResult }>({
    mutationFn: async ({ runId, done }) => {
      const redo = !done.redo;
      const { stamp } = await host.call("run_undo_preview", { runId, redo });
      const files = [...done.restored, ...done.deleted, ...done.merged].map((path) => ({ path, choice: null }));
      return host.call("run_undo", { runId, redo, files, stamp });
    },
    onSettled,
  });
}

/** Finishes an undo that was broken off. */
export function useFinishUndo() {
  const onSettled = useFilesRefresh();
  return useMutation<UndoResult, HostError, string>({ mutationFn: (runId) => host.call("run_undo_finish", { runId }), onSettled });
}
