// What a run changed in a file: the text from before the run beside the text as it is now.

import { useFileBefore, useFilePreview } from "../../api/values.ts";
import { DiffView } from "../../components/DiffView.tsx";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { FilePreview } from "../../contract/index.ts";
import type { changedFiles } from "../../state/run.ts";
import { useText } from "../../text/index.ts";

/** A file that a run changed. */
export type ChangedFile = ReturnType<typeof changedFiles>[number];

/** The comparison; of a new file everything was added. */
export function FileChange({ runId, file }: { runId: string; file: ChangedFile }) {
  if (file.first === null) return <Compare runId={runId} file={file} before={null} />;
  return <WithBefore runId={runId} file={file} hash={file.first} />;
}

function WithBefore({ runId, file, hash }: { runId: string; file: ChangedFile; hash: string }) {
  const before = useFileBefore(hash, file.path);
  if (before.isError) return <Failure compact error={before.error} retry={() => void before.refetch()} />;
  return before.data ? <Compare runId={runId} file={file} before={before.data} /> : <ListSkeleton rows={3} height={20} />;
}

function Compare({ runId, file, before }: { runId: string; file: ChangedFile; before: FilePreview | null }) {
  const t = useText();
  const now = useFilePreview(runId, file.path, file.last.after ?? "");
  if (now.isError) return <Failure compact error={now.error} retry={() => void now.refetch()} />;
  if (!now.data) return <ListSkeleton rows={3} height={20} />;
  if (now.data.kind === "missing") return <Notice compact title={t("verdict.file.missing")} body={t("verdict.file.missingBody")} />;
  const [old, text] = [before === null ? "" : before.text, now.data.text];
  if (old === null || text === null) return <Notice compact title={t("diff.noText")} />;
  return (
    <>
      <DiffView before={old} after={text} label={t("diff.label", { path: file.path })} />
      {(before?.truncated || now.data.truncated) && <Notice compact title={t("verdict.file.truncated")} />}
    </>
  );
}
