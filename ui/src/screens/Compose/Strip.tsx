// What stands between a task and its plan, above the letter: it covers nothing, and has the button that helps.

import { Button, CloseButton } from "@mantine/core";
import type { ReactNode } from "react";
import { Mark } from "../../components/Mark.tsx";
import type { HostError } from "../../host/index.ts";
import { go } from "../../shell/route.ts";
import { shownError } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import classes from "./Compose.module.css";

/** Why no plan was asked for. */
export function Refused({ error, again, close }: { error: HostError; again: () => void; close: () => void }) {
  const t = useText();
  const shown = shownError(error, t);
  return (
    <div className={classes.strip} data-bad={shown.severity === "error" || undefined} role="alert">
      <Mark kind={shown.severity === "error" ? "failed" : "uncertain"} />
      <div>
        <p>{shown.sentence}</p>
        {shown.original !== shown.sentence && (
          <details>
            <summary>{t("errors.details")}</summary>
            <p lang="en">{shown.original}</p>
          </details>
        )}
      </div>
      {shown.remedy === "settings" ? (
        <ToSettings>{t("errors.toSettings")}</ToSettings>
      ) : (
        (shown.remedy === "retry" || shown.remedy === "keychain") && (
          <Button size="xs" variant="default" onClick={again}>
            {t(shown.remedy === "keychain" ? "errors.unlock" : "errors.again")}
          </Button>
        )
      )}
      <CloseButton aria-label={t("common.close")} onClick={close} />
    </div>
  );
}

/** That there is nobody to ask for a plan. */
export function NoModel() {
  const t = useText();
  return (
    <div className={classes.strip} role="status">
      <Mark kind="uncertain" />
      <div>
        <p>{t("compose.noModel")}</p>
      </div>
      <ToSettings>{t("compose.connect")}</ToSettings>
    </div>
  );
}

function ToSettings({ children }: { children: ReactNode }) {
  return (
    <Button size="xs" variant="default" onClick={() => go({ screen: "settings" })}>
      {children}
    </Button>
  );
}
