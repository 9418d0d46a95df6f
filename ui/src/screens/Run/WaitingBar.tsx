// Several questions at once: each by its name, one of them looked at, and one button where one answer fits all.

import { Button } from "@mantine/core";
import { useAnswer } from "../../api/runs.ts";
import { Mark } from "../../components/Mark.tsx";
import { tellError } from "../../components/toast.tsx";
import type { Key, RunState, WaitingFor } from "../../contract/index.ts";
import { questionName } from "../../state/questions.ts";
import { useText } from "../../text/index.ts";
import classes from "./WaitingBar.module.css";

interface WaitingBarProps {
  runId: string;
  state: RunState;
  questions: readonly WaitingFor[];
  shown: Key;
  choose: (question: WaitingFor) => void;
}

/** The bar; nothing while there is one question or none, which stands in its own place. */
export function WaitingBar({ runId, state, questions, shown, choose }: WaitingBarProps) {
  const t = useText();
  const answer = useAnswer(runId);
  if (questions.length < 2) return null;
  const steps = questions.filter(({ ask }) => ask.kind === "runStep");
  const allowAll = () => {
    for (const { key } of steps) answer.mutate({ key, answer: { kind: "approve", revisions: false } }, { onError: tellError });
  };
  return (
    <div className={classes.bar} role="group" aria-label={t("run.questions.count", { count: questions.length })}>
      <Mark kind="person" />
      <span className={classes.count}>{t("run.questions.count", { count: questions.length })}</span>
      <ul className={classes.list}>
        {questions.map((question) => (
          <li key={question.key}>
            <button type="button" className={classes.question} aria-pressed={question.key === shown} onClick={() => choose(question)}>
              {questionName(question, state, t)}
            </button>
          </li>
        ))}
      </ul>
      {steps.length === questions.length && (
        <Button size="xs" variant="default" loading={answer.isPending} onClick={allowAll}>
          {t("run.questions.allowAll", { count: steps.length })}
        </Button>
      )}
    </div>
  );
}
