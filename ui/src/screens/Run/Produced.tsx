// What came out: each file in a tab with a preview, and a final answer as words.

import { Button, Tabs } from "@mantine/core";
import { IconExternalLink } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import type { LiveRun } from "../../api/runs.ts";
import { useFilePreview, useValue } from "../../api/values.ts";
import { Failure } from "../../components/Failure.tsx";
import { FileView, hasTwoFaces } from "../../components/FileView.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Markdown } from "../../components/Markdown.tsx";
import { Notice } from "../../components/Notice.tsx";
import { tellError } from "../../components/toast.tsx";
import { ValueView } from "../../components/ValueView.tsx";
import type { OutputArtifact, RunState } from "../../contract/index.ts";
import { host } from "../../host/index.ts";
import type { Place } from "../../state/evidence.ts";
import { changedFiles } from "../../state/run.ts";
import { filesStamp } from "../../state/undo.ts";
import { useText } from "../../text/index.ts";
import { FileChange } from "./FileChange.tsx";
import { UndoButtons } from "./FilesChanged.tsx";
import classes from "./Verdict.module.css";

/** What a run produced; before its end, the files that it has written so far. */
export function outputsOf(state: RunState): OutputArtifact[] {
  const written = changedFiles(state);
  if (state.result) {
    // A run that never came to be judged did not make what already lay in the folder.
    const judged = state.cycles.some((cycle) => cycle.evaluation !== null);
    return state.result.outputs.filter((output) => judged || output.value !== null || written.some((file) => file.path === output.path));
  }
  return written
    .filter((file) => file.last.done)
    .map(({ path }) => ({ path, description: "", type: "file", value: null }));
}

/** A file to look at, and a place in it. */
export interface LookAt {
  path: string;
  place: Place | null;
}

/** The tab with what changed; no file can be called so. */
const changesTab = "/";

interface ProducedProps {
  run: LiveRun;
  runId: string;
  lookAt: LookAt | null;
  setLookAt: (lookAt: LookAt | null) => void;
}

/** The produced files. */
export function Produced({ run, runId, lookAt, setLookAt }: ProducedProps) {
  const t = useText();
  const outputs = outputsOf(run.state);
  const changed = changedFiles(run.state).filter((file) => file.last.done);
  const [asSource, setAsSource] = useState(false);
  const part = useRef<HTMLElement>(null);
  useEffect(() => {
    if (lookAt?.place) part.current?.scrollIntoView({ block: "nearest" });
  }, [lookAt]);
  const inChanges = lookAt?.path === changesTab && changed.length > 0;
  const shown = outputs.find((output) => output.path === lookAt?.path) ?? outputs[0];
  if (!shown) {
    return run.state.result ? <Notice compact title={t("verdict.producedNone")} body={t("verdict.producedNoneBody")} /> : null;
  }
  return (
    <section className={classes.produced} aria-label={t("verdict.produced")} ref={part}>
      <Tabs value={inChanges ? changesTab : shown.path} onChange={(path) => setLookAt(path === null ? null : { path, place: null })} keepMounted={false}>
        <div className={classes.producedBar}>
          <Tabs.List className={classes.producedTabs ?? ""}>
            {outputs.map((output) => (
              <Tabs.Tab key={output.path} value={output.path}>
                {output.value === null ? output.path : t("verdict.answer")}
              </Tabs.Tab>
            ))}
            {changed.length > 0 && <Tabs.Tab value={changesTab}>{t("diff.title")}</Tabs.Tab>}
          </Tabs.List>
          {inChanges && <UndoButtons state={run.state} runId={runId} />}
          {!inChanges && <FileActions run={run} runId={runId} output={shown} asSource={asSource} toggle={() => setAsSource(!asSource)} />}
        </div>
        {outputs.map((output) => (
          <Tabs.Panel key={output.path} value={output.path} className={classes.producedBody ?? ""}>
            {output.description !== "" && <p className={classes.description}>{output.description}</p>}
            {output.value === null ? (
              <FileBody run={run} runId={runId} path={output.path} asSource={asSource} place={lookAt?.path === output.path ? lookAt.place : null} />
            ) : (
              <Answer output={output} />
            )}
          </Tabs.Panel>
        ))}
        {changed.length > 0 && (
          <Tabs.Panel value={changesTab} className={classes.producedBody ?? ""}>
            <div className={classes.changes}>
              {changed.map((file) => (
                <section key={file.path} aria-label={file.path}>
                  <h4>
                    {file.path} <small>{file.isNew ? t("run.panel.created") : t("run.panel.changed")}</small>
                  </h4>
                  <FileChange runId={runId} file={file} />
                </section>
              ))}
            </div>
          </Tabs.Panel>
        )}
      </Tabs>
    </section>
  );
}

function stampOf(run: LiveRun, path: string): string {
  const last = run.state.files.findLast((change) => change.path === path)?.after ?? "";
  return `${last} ${filesStamp(run.state)}`;
}

interface FileActionsProps {
  run: LiveRun;
  runId: string;
  output: OutputArtifact;
  asSource: boolean;
  toggle: () => void;
}

function FileActions({ run, runId, output, asSource, toggle }: FileActionsProps) {
  const t = useText();
  if (output.value !== null) return null;
  return <ForFile run={run} runId={runId} path={output.path} asSource={asSource} toggle={toggle} label={t("common.openFile")} />;
}

function ForFile({ run, runId, path, asSource, toggle, label }: Omit<FileActionsProps, "output"> & { path: string; label: string }) {
  const t = useText();
  const preview = useFilePreview(runId, path, stampOf(run, path));
  const folder = run.state.header?.envelope.folder;
  const { showInFolder } = host;
  if (!preview.data || preview.data.kind === "missing") return null;
  return (
    <>
      {hasTwoFaces(path, preview.data) && (
        <Button size="xs" variant="default" onClick={toggle} aria-pressed={asSource}>
          {asSource ? t("verdict.file.rendered") : t("verdict.file.source")}
        </Button>
      )}
      {folder && showInFolder && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconExternalLink size={14} stroke={1.6} />}
          onClick={() => void showInFolder(`${folder}/${path}`).catch(tellError)}
        >
          {label}
        </Button>
      )}
    </>
  );
}

function FileBody({ run, runId, path, asSource, place }: { run: LiveRun; runId: string; path: string; asSource: boolean; place: Place | null }) {
  const preview = useFilePreview(runId, path, stampOf(run, path));
  if (preview.isError) return <Failure compact error={preview.error} retry={() => void preview.refetch()} />;
  return preview.data ? (
    <FileView path={path} preview={preview.data} asSource={asSource} place={place} />
  ) : (
    <ListSkeleton rows={4} height={20} />
  );
}

function Answer({ output }: { output: OutputArtifact }) {
  const t = useText();
  const { value, error } = useValue(output.value);
  if (error) return <Failure compact error={error} />;
  if (value === undefined) return <ListSkeleton rows={3} height={20} />;
  return typeof value === "string" ? <Markdown text={value} /> : <ValueView value={value} label={t("verdict.answer")} />;
}
