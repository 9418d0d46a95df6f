// What is done with a run less often: its task as the beginning of another one, the run as a file, the run gone.

import { ActionIcon, Button, Menu, Modal } from "@mantine/core";
import { IconDots, IconFileExport, IconFilePlus, IconPlayerRecord, IconSwitchHorizontal, IconTemplate, IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { type LiveRun, useSaveRecording } from "../../api/runs.ts";
import { useKeepTemplate } from "../../api/templates.ts";
import { DeleteRuns } from "../../components/DeleteRuns.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import { go } from "../../shell/route.ts";
import { grantedBefore, hasUnsaved, useCompose } from "../../state/compose.ts";
import { templateTitle } from "../../state/ownTemplates.ts";
import { readDraft, writeTask } from "../../state/taskSource.ts";
import { useText } from "../../text/index.ts";
import { ExportDialog } from "./ExportDialog.tsx";
import { OtherModel } from "./OtherModel.tsx";
import classes from "./Run.module.css";

/** The menu. */
export function MoreActions({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const compose = useCompose();
  const [asks, setAsks] = useState(false);
  const [picks, setPicks] = useState(false);
  const [deletes, setDeletes] = useState(false);
  const [exports, setExports] = useState(false);
  const keep = useKeepTemplate();
  const saveRecording = useSaveRecording();
  const { header } = run.state;
  if (!header) return null;
  const reuse = () => {
    setAsks(false);
    // The draft that was kept is not read over it later.
    compose.load({ source: writeTask(header.task), folder: header.envelope.folder, path: null, saved: null, ...grantedBefore(header), approvalChosen: false });
    go({ screen: "compose" });
  };
  const asked = Object.values(run.state.calls).some((call) => call.response !== null);
  const record = () =>
    saveRecording.mutate(
      { runId, suggested: `${header.title.replace(/[^\p{L}\p{N} -]/gu, "").trim() || "run"}.recording.json`, pickTitle: t("run.record.pick") },
      { onSuccess: (saved) => saved && tell(t("run.record.saved", { count: saved.calls })), onError: tellError },
    );
  const keepTemplate = () => {
    const source = writeTask(header.task);
    const title = templateTitle(readDraft(source)) ?? header.title;
    keep.mutate({ title, source }, { onSuccess: () => tell(t("compose.templates.kept", { title })), onError: tellError });
  };
  return (
    <>
      <Menu position="bottom-end" width={280}>
        <Menu.Target>
          <ActionIcon variant="default" size={36} aria-label={t("run.more")}>
            <IconDots size={17} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {!header.flow && (
            <>
              <Menu.Item leftSection={<IconFilePlus size={16} stroke={1.6} />} onClick={() => (hasUnsaved(compose) ? setAsks(true) : reuse())}>
                {t("run.reuse.open")}
              </Menu.Item>
              <Menu.Item leftSection={<IconTemplate size={16} stroke={1.6} />} onClick={keepTemplate}>
                {t("compose.templates.keep")}
              </Menu.Item>
              {header.recording === null && (
                <Menu.Item leftSection={<IconSwitchHorizontal size={16} stroke={1.6} />} onClick={() => setPicks(true)}>
                  {t("run.otherModel.open")}
                </Menu.Item>
              )}
              <Menu.Divider />
            </>
          )}
          {asked && (
            <Menu.Item leftSection={<IconPlayerRecord size={16} stroke={1.6} />} onClick={record}>
              {t("run.record.save")}
            </Menu.Item>
          )}
          <Menu.Item leftSection={<IconFileExport size={16} stroke={1.6} />} onClick={() => setExports(true)}>
            {t("run.export.open")}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={16} stroke={1.6} />} onClick={() => setDeletes(true)}>
            {t("runs.delete.open")}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {deletes && <DeleteRuns runIds={[runId]} title={header.title} close={() => setDeletes(false)} deleted={() => go({ screen: "runs", status: "all" })} />}
      {exports && <ExportDialog run={run} runId={runId} close={() => setExports(false)} />}
      {picks && <OtherModel run={run} close={() => setPicks(false)} />}
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("compose.openTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("compose.openBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button onClick={reuse}>{t("run.reuse.send")}</Button>
        </div>
      </Modal>
    </>
  );
}
