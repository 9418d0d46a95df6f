// What the task would have the app do by itself: commands and addresses, each whole, off until a person allows exactly it.
// What is not allowed here the run asks about before its first step.

import { Switch } from "@mantine/core";
import type { AskedEffect } from "../../contract/index.ts";
import { effectWords } from "../../state/access.ts";
import { useCompose } from "../../state/compose.ts";
import { useText } from "../../text/index.ts";
import classes from "./Rules.module.css";

/** The list, with a switch for each. */
export function Effects({ effects }: { effects: readonly AskedEffect[] }) {
  const t = useText();
  const { allowedEffects, allowEffect } = useCompose();
  return (
    <>
      <p className={classes.intro}>{t("effects.intro")}</p>
      <ul className={classes.effects}>
        {effects.map(({ effect, hash, allowed }) => {
          const { verb, what } = effectWords(effect, t);
          return (
            <li key={hash}>
              <div>
                <p className={classes.verb}>{verb}</p>
                <code className={classes.what}>{what}</code>
              </div>
              {allowed ? (
                <span className={classes.verb}>{t("effects.kept")}</span>
              ) : (
                <Switch
                  size="sm"
                  label={t("effects.allow")}
                  labelPosition="left"
                  aria-label={`${t("effects.allow")}: ${verb} ${what}`}
                  checked={allowedEffects.includes(hash)}
                  onChange={(event) => allowEffect(hash, event.currentTarget.checked)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
