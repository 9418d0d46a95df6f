// A step wants to do something that was not granted: what it wants, why it is asked, and the four answers.

import { IconFileText, IconPencil, IconPlug, IconTerminal2, IconWorld } from "@tabler/icons-react";
import type { Access, Ask, Key } from "../../contract/index.ts";
import { accessWords } from "../../state/access.ts";
import { sentence } from "../../state/errors.ts";
import { toolName } from "../../state/toolName.ts";
import { useText } from "../../text/index.ts";
import { AllowAnswers } from "./AllowAnswers.tsx";
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
  return (
    <section aria-label={t("run.permission.title")}>
      <p className={classes.title}>{t("run.permission.title")}</p>
      <p className={classes.body}>{t("run.permission.body", { step, tool: toolName(ask.tool, t) })}</p>
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
      <AllowAnswers
        runId={runId}
        questionKey={questionKey}
        first="once"
        longer={[
          { scope: "run", hint: t("run.permission.runHint") },
          { scope: "task", hint: t("run.permission.taskHint") },
        ]}
        without={t("run.permission.whyHint")}
      />
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
