// A step that a rule wants to be asked about: what it is about to do stands above, the two answers here.

import { Button } from "@mantine/core";
import { useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { Answer, Ask, Key } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { sentence } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import { RejectDialog } from "./RejectDialog.tsx";
import classes from "./UncertainQuestion.module.css";

interface StepQuestionProps {
  runId: string;
  questionKey: Key;
  ask: Extract<Ask, { kind: "runStep" }>;
}

/** The question with its answers. */
export function StepQuestion({ runId, questionKey, ask }: StepQuestionProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const [rejects, setRejects] = useState(false);
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  return (
    <div className={classes.question}>
      <p className={classes.title}>{t("run.stepQuestion.title")}</p>
      <p className={classes.body}>{t("run.stepQuestion.rule", { rule: sentence(ask.rule, null) })}</p>
      <div className={classes.buttons}>
        <Button loading={answer.isPending} onClick={() => send({ kind: "approve", revisions: false })}>
          {t("run.stepQuestion.allow")}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => setRejects(true)}>
          {t("run.stepQuestion.reject")}
        </Button>
      </div>
      <RejectDialog what="step" opened={rejects} close={() => setRejects(false)} send={(reason) => send({ kind: "reject", reason })} />
    </div>
  );
}
