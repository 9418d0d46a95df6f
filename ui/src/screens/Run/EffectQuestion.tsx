// The task's file wants the app to do something by itself: what exactly, what it may reach, and the three answers. It is
// asked before the first step, and again only when its content changes.

import type { Ask, Key } from "../../contract/index.ts";
import { effectWords } from "../../state/access.ts";
import { useText } from "../../text/index.ts";
import { AllowAnswers } from "./AllowAnswers.tsx";
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
  return (
    <AllowAnswers
      runId={runId}
      questionKey={questionKey}
      first="run"
      longer={[{ scope: "task", hint: t("run.effect.taskHint") }]}
      without={t(`run.effect.without.${ask.effect.kind}`)}
    />
  );
}
