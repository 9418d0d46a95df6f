// What a run changed in a file: the text from before the run beside the text as the run left it.

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

/** The comparison; of a new file everything was added, and of one that went everything is gone. */
export function FileChange({ runId, file }: { runId: string; file: ChangedFile }) {
  const before = useFileBefore(file.first ?? "", file.path, file.first !== null);
  if (before.isError) return <Failure compact error={before.error} retry={() => void before.refetch()} />;
  if (file.first === null) return <WithAfter runId={runId} file={file} before={null} />;
  return before.data ? <WithAfter runId={runId} file={file} before={before.data} /> : <ListSkeleton rows={3} height={20} />;
}

function WithAfter({ runId, file, before }: { runId: string; file: ChangedFile; before: FilePreview | null }) {
  const { after } = file.last;
  const left = useFileBefore(after ?? "", file.path, after !== null);
  // Older runs did not keep what they left.
  const lacks = left.error?.code === "not_found";
  const now = useFilePreview(runId, file.path, after ?? "", lacks);
  const shown = lacks ? now : left;
  if (after === null) return <Compare file={file} before={before} after={null} />;
  if (shown.isError) return <Failure compact error={shown.error} retry={() => void shown.refetch()} />;
  return shown.data ? <Compare file={file} before={before} after={shown.data} /> : <ListSkeleton rows={3} height={20} />;
}

function Compare({ file, before, after }: { file: ChangedFile; before: FilePreview | null; after: FilePreview | null }) {
  const t = useText();
  if (after?.kind === "missing") return <Notice compact title={t("verdict.file.missing")} body={t("verdict.file.missingBody")} />;
  const [old, text] = [before === null ? "" : before.text, after === null ? "" : after.text];
  if (old === null || text === null) return <Notice compact title={t("diff.noText")} />;
  return (
    <>
      <DiffView before={old} after={text} label={t("diff.label", { path: file.path })} />
      {(before?.truncated || after?.truncated) && <Notice compact title={t("verdict.file.truncated")} />}
    </>
  );
}
