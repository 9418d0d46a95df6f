// Why a form was not kept, below its fields: it stays until the form is sent again, and covers nothing.

import { Mark } from "../../components/Mark.tsx";
import type { HostError } from "../../host/index.ts";
import { shownError } from "../../state/errors.ts";
import { settingsSentence } from "../../state/settingsProblem.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

/** The reason, in whole sentences; nothing while there is none. */
export function FormError({ error }: { error: HostError | null }) {
  const t = useText();
  if (error === null) return null;
  const wrong = error.problems.map((problem) => settingsSentence(problem, t));
  return (
    <div className={classes.formError} role="alert">
      <Mark kind="failed" size={16} />
      <p>{wrong.length > 0 ? [...new Set(wrong)].join(" ") : shownError(error, t).sentence}</p>
    </div>
  );
}
