// A flow or a step that stops at a person: yes or no, or a form for the answer that it wants.

import { Button, Textarea } from "@mantine/core";
import { useMemo, useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { Markdown } from "../../components/Markdown.tsx";
import { SchemaForm } from "../../components/SchemaForm.tsx";
import { tellError } from "../../components/toast.tsx";
import type { Answer, Ask, Key } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { gateAnswer, type GateForm, gateForm, gateLacks } from "../../state/gate.ts";
import { readJson } from "../../state/value.ts";
import { useText } from "../../text/index.ts";
import classes from "./UncertainQuestion.module.css";
import { RejectDialog } from "./RejectDialog.tsx";

interface GateQuestionProps {
  runId: string;
  questionKey: Key;
  ask: Extract<Ask, { kind: "gate" }>;
}

/** The question with what answers it. */
export function GateQuestion({ runId, questionKey, ask }: GateQuestionProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const ofStep = (ask.cycle ?? 0) > 0;
  const [rejects, setRejects] = useState(false);
  const form = useMemo(() => gateForm(ask.question, t("run.gate.answer")), [ask.question, t]);
  const [filled, setFilled] = useState<Record<string, unknown>>({});
  const [typed, setTyped] = useState("");
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  const ready = readyAnswer(form, filled, typed);
  return (
    <section className={classes.question} aria-label={t(ofStep ? "run.gate.stepTitle" : "run.gate.title")}>
      <h2 className={classes.title}>{t(ofStep ? "run.gate.stepTitle" : "run.gate.title")}</h2>
      <div className={classes.asked}>
        <Markdown text={ask.text} />
      </div>
      {form.kind === "form" && <SchemaForm label={t("run.gate.answer")} schema={form.schema} args={filled} change={setFilled} />}
      {form.kind === "json" && (
        <Textarea
          label={t("run.gate.answer")}
          description={t("run.gate.asJson")}
          error={typed.trim() !== "" && ready === null ? t("run.gate.notJson") : undefined}
          classNames={{ input: "mono" }}
          autosize
          minRows={3}
          maxRows={12}
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
      )}
      <div className={classes.buttons}>
        <Button loading={answer.isPending} disabled={ready === null} onClick={() => ready && send(ready)}>
          {form.kind === "yesNo" ? t("run.gate.yes") : t("run.gate.send")}
        </Button>
        <Button variant="default" disabled={answer.isPending} onClick={() => setRejects(true)}>
          {form.kind === "yesNo" ? t("run.gate.no") : t(ofStep ? "run.gate.noAnswer" : "run.gate.refuse")}
        </Button>
      </div>
      <RejectDialog what={ofStep ? "answer" : "gate"} opened={rejects} close={() => setRejects(false)} send={(reason) => send({ kind: "reject", reason })} />
    </section>
  );
}

/** The answer as it stands; null while something is missing. */
function readyAnswer(form: GateForm, filled: Record<string, unknown>, typed: string): Answer | null {
  switch (form.kind) {
    case "yesNo":
      return { kind: "approve", revisions: false };
    case "form":
      return gateLacks(form, filled) ? null : { kind: "reply", value: gateAnswer(form, filled) };
    case "json": {
      const read = readJson(typed);
      return read ? { kind: "reply", value: read.value } : null;
    }
  }
}
