// Taking back what a run changed in files: first what would happen to each, then what happened, with the way back.

import { Button, Checkbox, Modal, SegmentedControl } from "@mantine/core";
import { IconArrowBackUp, IconArrowForwardUp } from "@tabler/icons-react";
import { useState } from "react";
import { useFinishUndo, useTakeBack, useUndo, useUndoPreview } from "../../api/undo.ts";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { tellError } from "../../components/toast.tsx";
import type { UndoChoice, UndoFile, UndoPreview, UndoResult } from "../../contract/index.ts";
import { type Chosen, canBeTouched, choiceOf, needsChoice, nothingChosen, request, touched } from "../../state/undo.ts";
import { useText } from "../../text/index.ts";
import runClasses from "./Run.module.css";
import { ThreeWays } from "./ThreeWays.tsx";
import classes from "./Undo.module.css";

interface UndoDialogProps {
  runId: string;
  /** Whether what was undone is brought again. */
  redo: boolean;
  close: () => void;
}

/** The dialog, from the preview to the result. */
export function UndoDialog({ runId, redo, close }: UndoDialogProps) {
  const t = useText();
  const [done, setDone] = useState<UndoResult | null>(null);
  const title = done ? (done.redo ? t("undo.doneRedo") : t("undo.done")) : redo ? t("undo.titleRedo") : t("undo.title");
  return (
    <Modal opened onClose={close} title={title} size={720} closeButtonProps={{ "aria-label": t("common.close") }}>
      {done ? <Result runId={runId} done={done} setDone={setDone} close={close} /> : <Choose runId={runId} redo={redo} close={close} setDone={setDone} />}
    </Modal>
  );
}

function Choose({ runId, redo, close, setDone }: UndoDialogProps & { setDone: (done: UndoResult) => void }) {
  const t = useText();
  const preview = useUndoPreview(runId, redo, true);
  const finish = useFinishUndo();
  const undo = useUndo();
  const [chosen, setChosen] = useState<Chosen>(nothingChosen);
  if (preview.isError) return <Failure compact error={preview.error} retry={() => void preview.refetch()} />;
  if (!preview.data) return <ListSkeleton rows={4} height={36} />;
  const { data } = preview;
  if (data.unfinished) {
    const action = (
      <Button loading={finish.isPending} onClick={() => finish.mutate(runId, { onSuccess: setDone, onError: tellError })}>
        {t("undo.finish")}
      </Button>
    );
    return <Notice compact title={t("undo.unfinished")} action={action} />;
  }
  const count = touched(data, chosen).length;
  // What changed while one looked is looked at again.
  const send = () =>
    undo.mutate(
      { runId, redo, files: request(data, chosen), stamp: data.stamp },
      {
        onSuccess: setDone,
        onError: (error) => {
          tellError(error);
          void preview.refetch();
        },
      },
    );
  const nothing = !data.files.some(canBeTouched);
  return (
    <>
      <p className={classes.body}>{redo ? t("undo.bodyRedo") : t("undo.body")}</p>
      {nothing && <Notice compact title={redo ? t("undo.nothingRedo") : t("undo.nothing")} />}
      <ul className={classes.files} aria-label={t("undo.files")}>
        {data.files.map((file) => (
          <Row key={file.path} runId={runId} file={file} redo={redo} chosen={chosen} setChosen={setChosen} />
        ))}
      </ul>
      {!redo && <Folders preview={data} chosen={chosen} />}
      <div className={runClasses.modalActions}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button
          leftSection={redo ? <IconArrowForwardUp size={16} stroke={1.6} /> : <IconArrowBackUp size={16} stroke={1.6} />}
          loading={undo.isPending}
          disabled={count === 0}
          onClick={send}
        >
          {redo ? t("undo.sendRedo", { count }) : t("undo.send", { count })}
        </Button>
      </div>
    </>
  );
}

/** The folders that the run made around files that will go. */
function Folders({ preview, chosen }: { preview: UndoPreview; chosen: Chosen }) {
  const t = useText();
  const going = touched(preview, chosen).filter((file) => file.to === null);
  const folders = preview.folders.filter((folder) => going.some((file) => file.path.startsWith(`${folder}/`)));
  if (folders.length === 0) return null;
  return <p className={classes.note}>{t("undo.folder", { path: folders.join(", ") })}</p>;
}

interface RowProps {
  runId: string;
  file: UndoFile;
  redo: boolean;
  chosen: Chosen;
  setChosen: (chosen: Chosen) => void;
}

function Row({ runId, file, redo, chosen, setChosen }: RowProps) {
  const t = useText();
  const [compares, setCompares] = useState(false);
  const asks = needsChoice(file);
  const usable = canBeTouched(file);
  const words = t(`undo.${redo ? "standingRedo" : "standing"}.${file.isLink && file.standing === "edited" ? "link" : file.standing}`);
  const toggle = () => {
    const without = new Set(chosen.without);
    if (!without.delete(file.path)) without.add(file.path);
    setChosen({ ...chosen, without });
  };
  const choose = (choice: UndoChoice) => setChosen({ ...chosen, choices: new Map(chosen.choices).set(file.path, choice) });
  return (
    <li className={classes.row} data-asks={asks || undefined} data-quiet={!usable || undefined}>
      <div className={classes.line}>
        {asks ? (
          <Mark kind="person" />
        ) : (
          <Checkbox
            size="xs"
            checked={usable && !chosen.without.has(file.path)}
            disabled={!usable}
            onChange={toggle}
            aria-label={t(redo ? "undo.pickRedo" : "undo.pick", { path: file.path })}
          />
        )}
        <span className={classes.path}>{file.path}</span>
        <span className={classes.standing}>{words}</span>
      </div>
      {asks && (
        <div className={classes.choice}>
          <SegmentedControl
            size="xs"
            aria-label={t("undo.choice.label", { path: file.path })}
            value={choiceOf(file, chosen)}
            onChange={(value) => choose(value as UndoChoice)}
            data={[
              { value: "keep", label: t("undo.choice.keep") },
              ...(file.merging === "clean" ? [{ value: "merge", label: t("undo.choice.merge") }] : []),
              { value: "restore", label: t("undo.choice.restore") },
            ]}
          />
          <Button size="xs" variant="subtle" onClick={() => setCompares(!compares)} aria-expanded={compares}>
            {compares ? t("undo.hideCompare") : t("undo.compare")}
          </Button>
          {(file.merging === "overlaps" || file.merging === "impossible") && <p className={classes.note}>{t(`undo.choice.${file.merging}`)}</p>}
        </div>
      )}
      {compares && <ThreeWays runId={runId} file={file} redo={redo} />}
    </li>
  );
}

const kinds = ["restored", "merged", "deleted", "folders", "kept"] as const;

function Result({ runId, done, setDone, close }: { runId: string; done: UndoResult; setDone: (done: UndoResult) => void; close: () => void }) {
  const t = useText();
  const back = useTakeBack();
  const changed = done.restored.length + done.deleted.length + done.merged.length > 0;
  return (
    <>
      <ul className={classes.files} aria-label={t("undo.files")}>
        {kinds.flatMap((kind) =>
          done[kind].map((path) => (
            <li key={`${kind} ${path}`} className={classes.row} data-quiet={kind === "kept" || undefined}>
              <div className={classes.line}>
                <Mark kind={kind === "kept" ? "skipped" : "done"} />
                <span className={classes.path}>{path}</span>
                <span className={classes.standing}>{t(`undo.result.${kind}`)}</span>
              </div>
            </li>
          )),
        )}
        {done.left.map((file) => (
          <li key={`left ${file.path}`} className={classes.row} data-asks>
            <div className={classes.line}>
              <Mark kind="failed" />
              <span className={classes.path}>{file.path}</span>
            </div>
            <p className={classes.note}>{t("undo.left", { why: file.why })}</p>
          </li>
        ))}
      </ul>
      <div className={runClasses.modalActions}>
        {changed && (
          <Button
            variant="default"
            leftSection={done.redo ? <IconArrowBackUp size={16} stroke={1.6} /> : <IconArrowForwardUp size={16} stroke={1.6} />}
            loading={back.isPending}
            onClick={() => back.mutate({ runId, done }, { onSuccess: setDone, onError: tellError })}
          >
            {done.redo ? t("undo.open") : t("undo.openRedo")}
          </Button>
        )}
        <Button onClick={close} data-autofocus>
          {t("common.close")}
        </Button>
      </div>
    </>
  );
}
