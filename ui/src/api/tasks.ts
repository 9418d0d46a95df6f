// Tasks as text: what is wrong with them, opening, saving, and the draft that keeps itself.

import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef } from "react";
import type { CheckedTask, OpenedTask } from "../contract/index.ts";
import { type HostError, host } from "../host/index.ts";
import { type ComposeDraft, isUntouched, readKept, useCompose } from "../state/compose.ts";

const draftName = "compose";

/** What the app says about a text, a moment after the last change. */
export function useTaskCheck(source: string, folder: string | null) {
  const [settled] = useDebouncedValue(source, 250);
  const query = useQuery<CheckedTask, HostError>({
    queryKey: ["check", settled, folder],
    queryFn: () => host.call("task_check", { source: settled, ...(folder === null ? {} : { folder }) }),
    placeholderData: keepPreviousData,
    gcTime: 10_000,
    staleTime: Number.POSITIVE_INFINITY,
    // What was allowed for the task meanwhile is said anew to whoever comes back to it.
    refetchOnMount: "always",
  });
  return { problems: query.data?.problems ?? [], task: query.data?.task ?? null, effects: query.data?.effects ?? [], settled: settled === source && !query.isFetching, error: query.error };
}

/** Lets a person pick a task's file, and reads it. Null when they changed their mind. */
export function useOpenTask() {
  return useMutation<OpenedTask | null, HostError, string>({
    mutationFn: async (title) => {
      const path = await host.pickFile("task", title);
      return path === null ? null : host.call("task_open", { path });
    },
  });
}

/** Writes a task's text to a file; asks where when there is no file yet or another one is wanted. */
export function useSaveTask() {
  return useMutation<string | null, HostError, { source: string; path: string | null; suggested: string; title: string }>({
    mutationFn: async ({ source, path, suggested, title }) => {
      const target = path ?? (await host.saveFileAs(suggested, title));
      if (target === null) return null;
      await host.call("task_save", { path: target, source });
      return target;
    },
  });
}

const keepAfter = 500;
const keepAgainAfter = 3000;

function keepWhatWaits(waits: { current: ComposeDraft | null }, keptAs: (isKept: boolean) => void): void {
  const draft = waits.current;
  waits.current = null;
  if (!draft) return;
  host.call("draft_set", { name: draftName, value: isUntouched(draft) ? null : draft }).then(
    () => keptAs(true),
    () => {
      keptAs(false);
      // Newer words go first; they have a time of their own.
      if (waits.current !== null) return;
      waits.current = draft;
      window.setTimeout(() => keepWhatWaits(waits, keptAs), keepAgainAfter);
    },
  );
}

/** Reads the kept draft once, and keeps every change a moment after it was made; what could not be kept is tried again. */
export function useKeptDraft(): void {
  const { loaded, source, folder, path, saved, rulesAllowed, allowedEffects, approvalChosen, load, keptAs } = useCompose();
  const asked = useRef(false);
  useEffect(() => {
    if (loaded || asked.current) return;
    asked.current = true;
    host.call("draft_get", { name: draftName }).then(
      (draft) => load(readKept(draft.value)),
      () => load(null),
    );
  }, [loaded, load]);
  // The words that wait to be kept; they do not wait when the composer or the window is left.
  const waits = useRef<ComposeDraft | null>(null);
  const keep = useCallback(() => keepWhatWaits(waits, keptAs), [keptAs]);
  useEffect(() => {
    window.addEventListener("pagehide", keep);
    return () => {
      window.removeEventListener("pagehide", keep);
      keep();
    };
  }, [keep]);
  useEffect(() => {
    if (!loaded) return undefined;
    waits.current = { source, folder, path, saved, rulesAllowed, allowedEffects, approvalChosen };
    const timer = window.setTimeout(keep, keepAfter);
    return () => window.clearTimeout(timer);
  }, [loaded, source, folder, path, saved, rulesAllowed, allowedEffects, approvalChosen, keep]);
}
