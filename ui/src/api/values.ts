// Recorded values and produced files. A value never changes under its address, so it is read once.

import { useQuery } from "@tanstack/react-query";
import type { FilePreview, ValueRef } from "../contract/index.ts";
import { type HostError, host } from "../host/index.ts";

/** A recorded value: at hand when it is small, fetched when it is large and `wanted`. */
export function useValue(reference: ValueRef | null, wanted = true) {
  const small = reference !== null && isInline(reference);
  const query = useQuery<unknown, HostError>({
    queryKey: ["value", reference?.hash],
    queryFn: async () => (await host.call("artifact_read", { hash: reference?.hash ?? "" })).value,
    enabled: wanted && reference !== null && !small,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (small) return { value: reference.inline, isPending: false, error: null };
  return { value: query.data, isPending: query.isPending && query.fetchStatus !== "idle", error: query.error };
}

/** Whether the value stands in the event itself. */
export function isInline(reference: ValueRef): boolean {
  return reference.excerpt === null || reference.excerpt === undefined;
}

/** A file in the run's folder as it is now. `stamp` changes when the run has changed it. */
export function useFilePreview(runId: string, path: string, stamp: string, wanted = true) {
  return useQuery<FilePreview, HostError>({
    queryKey: ["file", runId, path, stamp],
    queryFn: () => host.call("file_preview", { runId, path }),
    enabled: wanted,
    // A person may have changed or removed it in another program meanwhile.
    refetchOnWindowFocus: "always",
  });
}

/** A file as it was before the run changed it, or as the run left it. */
export function useFileBefore(hash: string, path: string, wanted = true) {
  return useQuery<FilePreview, HostError>({
    queryKey: ["before", hash, path],
    queryFn: () => host.call("file_before", { hash, path }),
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
  });
}
