// Telling a run something while it works: the next plan is made with these words.

import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { useGuide } from "../../api/runs.ts";
import { tell, tellError } from "../../components/toast.tsx";
import { shortcuts } from "../../shell/shortcuts.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";
import { Words } from "./Words.tsx";

/** The dialog. `given` are the words that the run was told before. */
export function GuideDialog({ runId, given, opened, close }: { runId: string; given: readonly string[]; opened: boolean; close: () => void }) {
  const t = useText();
  const guide = useGuide();
  const [words, setWords] = useState("");
  const send = () =>
    guide.mutate(
      { runId, words: words.trim() },
      {
        onSuccess: () => {
          setWords("");
          close();
          tell(t("run.guide.told"));
        },
        onError: tellError,
      },
    );
  return (
    <Modal opened={opened} onClose={close} title={t("run.guide.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <Words label={t("run.guide.label")} hint={t("run.guide.hint")} value={words} change={setWords} send={send} autoFocus />
      {given.length > 0 && (
        <div className={classes.given}>
          <p>{t("run.guide.given")}</p>
          <ul>
            {given.map((one, index) => (
              <li key={index}>{one}</li>
            ))}
          </ul>
        </div>
      )}
      <div className={classes.modalActions}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button loading={guide.isPending} disabled={words.trim() === ""} onClick={send} title={shortcuts.send}>
          {t("run.guide.send")}
        </Button>
      </div>
    </Modal>
  );
}
