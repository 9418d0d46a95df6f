// A change that was under way when the app closed, and nobody can tell whether it happened: a person looks and decides.

import { Button } from "@mantine/core";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { Answer, Ask, RunState, WaitingFor } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { stepName } from "../../state/run.ts";
import { useText } from "../../text/index.ts";
import classes from "./UncertainQuestion.module.css";

interface UncertainQuestionProps {
  runId: string;
  question: WaitingFor;
  ask: Extract<Ask, { kind: "uncertainEffect" }>;
  state: RunState;
}

/** The question with its three answers. */
export function UncertainQuestion({ runId, question, ask, state }: UncertainQuestionProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const kind = isOutside(ask, state) ? "outside" : "file";
  const send = (value: Answer) => answer.mutate({ key: question.key, answer: value }, { onSuccess: focusScreen, onError: tellError });
  return (
    <div className={classes.question}>
      <p className={classes.title}>{t(`run.uncertain.${kind}.title`, { path: ask.path })}</p>
      <p className={classes.body}>{t(`run.uncertain.${kind}.body`, { step: stepName(state, ask.cycle, ask.step) })}</p>
      <div className={classes.buttons}>
        <Button loading={answer.isPending} onClick={() => send({ kind: "markDone" })} title={t(`run.uncertain.${kind}.markDoneHint`)}>
          {t("run.uncertain.markDone")}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => send({ kind: "runAgain" })} title={t(`run.uncertain.${kind}.runAgainHint`)}>
          {t("run.uncertain.runAgain")}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => send({ kind: "stopRun" })}>
          {t("run.uncertain.stopRun")}
        </Button>
      </div>
    </div>
  );
}

/** Whether it is about a command or a request rather than a file. */
function isOutside(ask: UncertainQuestionProps["ask"], state: RunState): boolean {
  const calls = Object.values(state.tools).filter(
    (call) => call?.cycle === ask.cycle && call.step === ask.step && call.tool === ask.tool,
  );
  return calls.some((call) => call?.access.some((access) => access.kind === "execute" || access.kind === "network" || access.kind === "server"));
}
