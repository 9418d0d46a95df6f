// Trying a step again that failed, in a run that has ended. What the engine has for that: a flow goes on with what failed,
// and a task gets one more cycle whose planner is told; what succeeded is kept there where the new plan has it.

import { Button, Modal } from "@mantine/core";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { type LiveRun, useContinue, useGuide } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import { go } from "../../shell/route.ts";
import { waysToTryAgain } from "../../state/tryAgain.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";
import { Words } from "./Words.tsx";

interface TryAgainProps {
  run: LiveRun;
  runId: string;
  /** What the step is called, and why it failed. */
  title: string;
  why: string;
}

/** The button; nothing where the step cannot be tried again. */
export function TryAgain({ run, runId, title, why }: TryAgainProps) {
  const t = useText();
  const resume = useContinue();
  const [asks, setAsks] = useState(false);
  const way = waysToTryAgain(run.state);
  const onward = () => go({ screen: "run", runId, view: "steps" });
  if (way === null) return null;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        mt={10}
        leftSection={<IconRefresh size={14} stroke={1.6} />}
        loading={resume.isPending}
        onClick={() => (way === "guide" ? setAsks(true) : resume.mutate(runId, { onSuccess: onward, onError: tellError }))}
      >
        {t("run.tryAgain.button")}
      </Button>
      {asks && <AnotherCycle runId={runId} words={t("run.tryAgain.words", { title, why })} close={() => setAsks(false)} onward={onward} />}
    </>
  );
}

function AnotherCycle({ runId, words: proposed, close, onward }: { runId: string; words: string; close: () => void; onward: () => void }) {
  const t = useText();
  const guide = useGuide();
  const [words, setWords] = useState(proposed);
  const send = () => guide.mutate({ runId, words: words.trim() }, { onSuccess: onward, onError: tellError });
  return (
    <Modal opened onClose={close} title={t("run.tryAgain.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p className={classes.modalWords}>{t("run.tryAgain.body")}</p>
      <Words label={t("run.tryAgain.label")} value={words} change={setWords} send={send} autoFocus />
      <div className={classes.modalActions}>
        <Button variant="default" onClick={close}>
          {t("common.cancel")}
        </Button>
        <Button loading={guide.isPending} disabled={words.trim() === ""} onClick={send}>
          {t("run.tryAgain.send")}
        </Button>
      </div>
    </Modal>
  );
}
