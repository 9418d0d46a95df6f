// The answers to what a run or its task wants to do: yes for now, yes for longer, or no. A no can say why, and the next plan
// is told.

import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { AllowedFor, Answer, Key } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { useText } from "../../text/index.ts";
import classes from "./PermissionQuestion.module.css";

interface AllowAnswersProps {
  runId: string;
  questionKey: Key;
  /** The yes that is offered first. */
  first: AllowedFor;
  /** Those that last longer, each with what it means. */
  longer: readonly { scope: AllowedFor; hint: string }[];
  /** What a no leads to. */
  without: string;
}

/** The buttons, or the words of a no. */
export function AllowAnswers({ runId, questionKey, first, longer, without }: AllowAnswersProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const [refuses, setRefuses] = useState(false);
  const [reason, setReason] = useState("");
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  if (refuses) {
    return (
      <form
        className={classes.refusal}
        onSubmit={(event) => {
          event.preventDefault();
          send({ kind: "reject", reason: reason.trim() || null });
        }}
      >
        <Textarea
          label={t("run.permission.why")}
          description={without}
          autosize
          minRows={2}
          maxRows={5}
          data-autofocus
          autoFocus
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <div className={classes.buttons}>
          <Button type="submit" color="red" loading={answer.isPending}>
            {t("run.permission.refuse")}
          </Button>
          <Button variant="default" disabled={answer.isPending} onClick={() => setRefuses(false)}>
            {t("common.cancel")}
          </Button>
        </div>
      </form>
    );
  }
  return (
    <>
      <div className={classes.buttons}>
        <Button loading={answer.isPending} onClick={() => send({ kind: "allow", scope: first })}>
          {t(`run.permission.${first}`)}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => setRefuses(true)}>
          {t("run.permission.no")}
        </Button>
      </div>
      <div className={classes.more}>
        {longer.map(({ scope, hint }) => (
          <button key={scope} type="button" className={classes.wider} disabled={answer.isPending} onClick={() => send({ kind: "allow", scope })}>
            <span>{t(`run.permission.${scope}`)}</span>
            <span className={classes.hint}>{hint}</span>
          </button>
        ))}
      </div>
    </>
  );
}
