// The task's file wants the app to do something by itself: what exactly, what it may reach, and the three answers. It is
// asked before the first step, and again only when its content changes.

import { Button, Textarea } from "@mantine/core";
import { useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { Answer, Ask, Key } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { effectWords } from "../../state/access.ts";
import { useText } from "../../text/index.ts";
import { AccessIcon } from "./PermissionQuestion.tsx";
import classes from "./PermissionQuestion.module.css";

interface EffectQuestionProps {
  runId: string;
  questionKey: Key;
  ask: Extract<Ask, { kind: "allowEffect" }>;
}

/** What is asked for, whole. */
export function EffectAbout({ ask }: Pick<EffectQuestionProps, "ask">) {
  const t = useText();
  const { verb, what } = effectWords(ask.effect, t);
  return (
    <section aria-label={t(`run.effect.title.${ask.effect.kind}`)}>
      <h2 className={classes.title}>{t(`run.effect.title.${ask.effect.kind}`)}</h2>
      <p className={classes.body}>{t("run.effect.body")}</p>
      <ul className={classes.wants} data-whole>
        <li>
          <AccessIcon access={{ kind: "taskEffect", effect: ask.effect }} />
          <span className={classes.verb}>{verb}</span>
          <code className={classes.what}>{what}</code>
        </li>
      </ul>
      <p className={classes.reason}>{t(`run.effect.reaches.${ask.effect.kind}`)}</p>
      <p className={classes.reason}>{t(`run.effect.without.${ask.effect.kind}`)}</p>
    </section>
  );
}

/** The answers. */
export function EffectAnswers({ runId, questionKey, ask }: EffectQuestionProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const [refuses, setRefuses] = useState(false);
  const [reason, setReason] = useState("");
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  if (refuses) {
    return (
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send({ kind: "reject", reason: reason.trim() || null });
        }}
      >
        <Textarea
          label={t("run.permission.why")}
          description={t(`run.effect.without.${ask.effect.kind}`)}
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
        <Button loading={answer.isPending} onClick={() => send({ kind: "allow", scope: "run" })}>
          {t("run.permission.run")}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => setRefuses(true)}>
          {t("run.permission.no")}
        </Button>
      </div>
      <div className={classes.more}>
        <button type="button" className={classes.wider} disabled={answer.isPending} onClick={() => send({ kind: "allow", scope: "task" })}>
          <span>{t("run.permission.task")}</span>
          <span className={classes.hint}>{t("run.effect.taskHint")}</span>
        </button>
      </div>
    </>
  );
}
