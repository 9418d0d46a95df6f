// A file that somebody edited after a run, in its three versions: before the run, after it, and now.

import { SegmentedControl } from "@mantine/core";
import { useState } from "react";
import { useFileBefore, useFilePreview } from "../../api/values.ts";
import { DiffView } from "../../components/DiffView.tsx";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { FilePreview, UndoFile } from "../../contract/index.ts";
import type { HostError } from "../../host/index.ts";
import { useText } from "../../text/index.ts";
import classes from "./Undo.module.css";

interface Version {
  data: FilePreview | null | undefined;
  error: HostError | null;
}

/** What the run changed, or what was changed since. */
export function ThreeWays({ runId, file, redo }: { runId: string; file: UndoFile; redo: boolean }) {
  const t = useText();
  const [side, setSide] = useState<"yours" | "theirs">(file.standing === "edited" ? "yours" : "theirs");
  const to = useVersion(file.to, file.path);
  const left = useVersion(file.left, file.path);
  const preview = useFilePreview(runId, file.path, file.now ?? "");
  const now: Version = { data: file.now === null ? null : preview.data, error: preview.error };
  const [before, after] = side === "yours" ? [left, now] : [to, left];
  return (
    <div className={classes.compare}>
      <SegmentedControl
        size="xs"
        aria-label={t("undo.compareLabel", { path: file.path })}
        value={side}
        onChange={(value) => setSide(value === "yours" ? "yours" : "theirs")}
        data={[
          { value: "yours", label: t("undo.yours") },
          { value: "theirs", label: redo ? t("undo.theirsRedo") : t("undo.theirs") },
        ]}
      />
      <Versions before={before} after={after} path={file.path} />
    </div>
  );
}

/** The recorded bytes at an address; null for no file at all. */
function useVersion(hash: string | null, path: string): Version {
  const query = useFileBefore(hash ?? "", path, hash !== null);
  return { data: hash === null ? null : query.data, error: query.error };
}

function Versions({ before, after, path }: { before: Version; after: Version; path: string }) {
  const t = useText();
  const error = before.error ?? after.error;
  if (error) return <Failure compact error={error} />;
  if (before.data === undefined || after.data === undefined) return <ListSkeleton rows={3} height={20} />;
  const [old, text] = [textOf(before.data), textOf(after.data)];
  if (old === null || text === null) return <Notice compact title={t("diff.noText")} />;
  return <DiffView before={old} after={text} label={t("diff.label", { path })} />;
}

function textOf(preview: FilePreview | null): string | null {
  return preview === null || preview.kind === "missing" ? "" : preview.text;
}
