// A step wants to do something that was not granted: what it wants, why it is asked, and the four answers. A no can say why,
// and the next plan is told.

import { Button, Textarea } from "@mantine/core";
import { IconFileText, IconPencil, IconPlug, IconTerminal2, IconWorld } from "@tabler/icons-react";
import { useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { Access, AllowedFor, Answer, Ask, Key } from "../../contract/index.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { accessWords } from "../../state/access.ts";
import { sentence } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import classes from "./PermissionQuestion.module.css";

interface PermissionQuestionProps {
  runId: string;
  questionKey: Key;
  ask: Extract<Ask, { kind: "permission" }>;
  step: string;
}

/** The question with its answers. */
export function PermissionQuestion({ runId, questionKey, ask, step }: PermissionQuestionProps) {
  const t = useText();
  const answer = useAnswer(runId);
  const [refuses, setRefuses] = useState(false);
  const [reason, setReason] = useState("");
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  const allow = (scope: AllowedFor) => send({ kind: "allow", scope });
  return (
    <section aria-label={t("run.permission.title")}>
      <p className={classes.title}>{t("run.permission.title")}</p>
      <p className={classes.body}>{t("run.permission.body", { step, tool: ask.tool })}</p>
      <ul className={classes.wants}>
        {ask.access.map((access) => (
          <li key={JSON.stringify(access)}>
            <AccessIcon access={access} />
            <span className={classes.verb}>{accessWords(access, t).verb}</span>
            <code className={classes.what}>{accessWords(access, t).what}</code>
          </li>
        ))}
      </ul>
      <p className={classes.reason}>{sentence(ask.reason, null)}</p>
      {refuses ? (
        <form
          className={classes.refusal}
          onSubmit={(event) => {
            event.preventDefault();
            send({ kind: "reject", reason: reason.trim() || null });
          }}
        >
          <Textarea
            label={t("run.permission.why")}
            description={t("run.permission.whyHint")}
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
      ) : (
        <>
          <div className={classes.buttons}>
            <Button loading={answer.isPending} onClick={() => allow("once")}>
              {t("run.permission.once")}
            </Button>
            <Button variant="default" disabled={answer.isPending} onClick={() => setRefuses(true)}>
              {t("run.permission.no")}
            </Button>
          </div>
          <div className={classes.more}>
            <button type="button" className={classes.wider} disabled={answer.isPending} onClick={() => allow("run")}>
              <span>{t("run.permission.run")}</span>
              <span className={classes.hint}>{t("run.permission.runHint")}</span>
            </button>
            <button type="button" className={classes.wider} disabled={answer.isPending} onClick={() => allow("task")}>
              <span>{t("run.permission.task")}</span>
              <span className={classes.hint}>{t("run.permission.taskHint")}</span>
            </button>
          </div>
        </>
      )}
    </section>
  );
}

/** What kind of thing it is. */
export function AccessIcon({ access }: { access: Access }) {
  const props = { size: 16, stroke: 1.6, "aria-hidden": true } as const;
  switch (access.kind) {
    case "read":
      return <IconFileText {...props} />;
    case "write":
    case "writeScratchpad":
      return <IconPencil {...props} />;
    case "execute":
      return <IconTerminal2 {...props} />;
    case "network":
      return <IconWorld {...props} />;
    case "server":
      return <IconPlug {...props} />;
    case "taskEffect":
      return access.effect.kind === "webhook" ? <IconWorld {...props} /> : <IconTerminal2 {...props} />;
  }
}
