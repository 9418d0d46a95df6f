// A run as a file: whole for another computer, or as something that people and programs without Tepa can read.

import { Button, Modal, Radio, Stack } from "@mantine/core";
import { useState } from "react";
import { type ExportAs, exportForms, useExportRun } from "../../api/archive.ts";
import type { LiveRun } from "../../api/runs.ts";
import { tell, tellError } from "../../components/toast.tsx";
import { fileName, fileWords } from "../../state/format.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

/** The dialog. */
export function ExportDialog({ run, runId, close }: { run: LiveRun; runId: string; close: () => void }) {
  const t = useText();
  const write = useExportRun();
  // Half a run cannot be taken in elsewhere; how far it is can always be told.
  const ended = run.state.result !== null;
  const [as, setAs] = useState<ExportAs>(ended ? "run" : "html");
  const send = () =>
    write.mutate(
      { runId, as, name: fileWords(run.state.header?.title ?? ""), pickTitle: t("run.export.open") },
      {
        onSuccess: (done) => {
          if (!done) return;
          tell(t(as === "run" ? "run.export.done" : "run.export.written", { name: fileName(done.path) }));
          close();
        },
        onError: tellError,
      },
    );
  return (
    <Modal opened onClose={close} title={t("run.export.open")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <Radio.Group aria-label={t("run.export.open")} value={as} onChange={(value) => setAs(value as ExportAs)}>
        <Stack gap={14}>
          {exportForms.map((form) => (
            <Radio
              key={form}
              value={form}
              label={t(`run.export.forms.${form}.title`)}
              description={form === "run" && !ended ? t("run.export.notYet") : t(`run.export.forms.${form}.hint`)}
              disabled={form === "run" && !ended}
            />
          ))}
        </Stack>
      </Radio.Group>
      <div className={classes.modalActions}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button loading={write.isPending} onClick={send}>
          {t("run.export.send")}
        </Button>
      </div>
    </Modal>
  );
}
