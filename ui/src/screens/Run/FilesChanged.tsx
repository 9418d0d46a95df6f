// The files that a run changed, with how many lines came and went, what changed in each, and the way to undo it.

import { Button, Modal, Tabs } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp, IconFileText } from "@tabler/icons-react";
import { useMemo, useState } from "react";
import { useRunFiles } from "../../api/undo.ts";
import { useFileBefore, useFilePreview } from "../../api/values.ts";
import { Failure } from "../../components/Failure.tsx";
import { FileView } from "../../components/FileView.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { RunFile, RunState } from "../../contract/index.ts";
import { stepName } from "../../state/run.ts";
import { filesStamp, undonePaths } from "../../state/undo.ts";
import { useText } from "../../text/index.ts";
import classes from "./BottomPanel.module.css";
import { type ChangedFile, FileChange } from "./FileChange.tsx";
import undoClasses from "./Undo.module.css";
import { UndoDialog } from "./UndoDialog.tsx";

/** The list. */
export function FilesChanged({ state, runId, files }: { state: RunState; runId: string; files: ChangedFile[] }) {
  const t = useText();
  const [open, setOpen] = useState<ChangedFile | null>(null);
  const counted = useRunFiles(runId, filesStamp(state));
  const counts = useMemo(() => new Map(counted.data?.map((file) => [file.path, file])), [counted.data]);
  const undone = undonePaths(state);
  if (files.length === 0) return <Notice compact title={t("run.panel.noFiles")} />;
  const tag = (file: ChangedFile) => {
    if (!file.last.done) return t("run.panel.intended");
    if (undone.has(file.path)) return t("run.panel.undone");
    if (file.last.after === null) return t("run.panel.deleted");
    return file.isNew ? t("run.panel.created") : t("run.panel.changed");
  };
  return (
    <>
      <div className={undoClasses.bar}>
        <span>{t("run.panel.filesTotal", { count: files.length })}</span>
        <UndoButtons state={state} runId={runId} />
      </div>
      <ul className={classes.files}>
        {files.map((file) => (
          <li key={file.path}>
            <button type="button" onClick={() => setOpen(file)}>
              <IconFileText size={16} stroke={1.6} aria-hidden />
              <span className="mono">{file.path}</span>
              <span className={classes.tag}>{tag(file)}</span>
              <LineCount file={counts.get(file.path)} />
              <span className={classes.by}>
                {t("run.panel.byStep", { step: stepName(state, file.last.cycle, file.last.step), cycle: file.last.cycle })}
              </span>
            </button>
          </li>
        ))}
      </ul>
      <Modal
        opened={open !== null}
        onClose={() => setOpen(null)}
        title={open?.path}
        size="xl"
        closeButtonProps={{ "aria-label": t("common.close") }}
      >
        {open && <FileDialog key={open.path} runId={runId} file={open} stamp={filesStamp(state)} />}
      </Modal>
    </>
  );
}

/** *Undo changes* and *Redo*, as far as there is something to undo or to bring back; nothing before the run's end. */
export function UndoButtons({ state, runId, size = "xs" }: { state: RunState; runId: string; size?: "xs" | "sm" }) {
  const t = useText();
  const [asks, setAsks] = useState<"undo" | "redo" | null>(null);
  if (!state.result || state.files.length === 0) return null;
  const undone = undonePaths(state);
  const all = state.files.every((file) => undone.has(file.path));
  return (
    <>
      {undone.size > 0 && (
        <Button
          size={size}
          variant="default"
          title={t("undo.redoHint")}
          leftSection={<IconArrowForwardUp size={14} stroke={1.6} />}
          onClick={() => setAsks("redo")}
        >
          {t("undo.openRedo")}
        </Button>
      )}
      {!all && (
        <Button size={size} variant="default" leftSection={<IconArrowBackUp size={14} stroke={1.6} />} onClick={() => setAsks("undo")}>
          {t("undo.open")}
        </Button>
      )}
      {asks && <UndoDialog runId={runId} redo={asks === "redo"} close={() => setAsks(null)} />}
    </>
  );
}

function LineCount({ file }: { file: RunFile | undefined }) {
  const t = useText();
  if (!file) return null;
  if (file.binary) {
    return (
      <span className={undoClasses.lines}>
        <span data-kind="none">{t("run.panel.binary")}</span>
      </span>
    );
  }
  const { added, removed } = file;
  if (added === null || removed === null) return null;
  return (
    <span className={undoClasses.lines} role="img" aria-label={t("run.panel.lines", { added, removed })}>
      {(added > 0 || removed === 0) && <span data-kind="added">+{added}</span>}
      {removed > 0 && <span data-kind="removed">−{removed}</span>}
    </span>
  );
}

function FileDialog({ runId, file, stamp }: { runId: string; file: ChangedFile; stamp: string }) {
  const t = useText();
  return (
    // Of a new file everything is a change: it is read as what it is.
    <Tabs defaultValue={file.first === null ? "now" : "changes"} keepMounted={false}>
      <Tabs.List mb={12}>
        <Tabs.Tab value="changes">{t("diff.title")}</Tabs.Tab>
        <Tabs.Tab value="now">{t("run.panel.fileNow")}</Tabs.Tab>
        {file.first !== null && <Tabs.Tab value="before">{t("run.panel.fileBefore")}</Tabs.Tab>}
      </Tabs.List>
      <Tabs.Panel value="changes">
        <FileChange runId={runId} file={file} />
      </Tabs.Panel>
      <Tabs.Panel value="now">
        <FileNow runId={runId} file={file} stamp={stamp} />
      </Tabs.Panel>
      {file.first !== null && (
        <Tabs.Panel value="before">
          <FileThen hash={file.first} path={file.path} />
        </Tabs.Panel>
      )}
    </Tabs>
  );
}

function FileNow({ runId, file, stamp }: { runId: string; file: ChangedFile; stamp: string }) {
  const preview = useFilePreview(runId, file.path, `${file.last.after ?? ""} ${stamp}`);
  if (preview.isError) return <Failure compact error={preview.error} retry={() => void preview.refetch()} />;
  return preview.data ? <FileView path={file.path} preview={preview.data} /> : <ListSkeleton rows={3} height={20} />;
}

function FileThen({ hash, path }: { hash: string; path: string }) {
  const preview = useFileBefore(hash, path);
  if (preview.isError) return <Failure compact error={preview.error} retry={() => void preview.refetch()} />;
  return preview.data ? <FileView path={path} preview={preview.data} /> : <ListSkeleton rows={3} height={20} />;
}
