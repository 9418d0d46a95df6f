// What came of asking a server: one sentence, and one button that does something about it.

import { Button } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { Mark } from "../../components/Mark.tsx";
import type { ProviderTest, Remedy, TestProvider } from "../../contract/index.ts";
import type { HostError } from "../../host/index.ts";
import { sentence, shownError } from "../../state/errors.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

interface TestResultProps {
  test: UseMutationResult<ProviderTest, HostError, TestProvider>;
  /** What each button does; a remedy that nothing is done about here has none. */
  remedies: Partial<Record<Remedy, () => void>>;
  /** Takes a person's word that the model calls tools. */
  trust?: () => void;
  /** Sets the model up to read more, where that can be done. */
  widen?: { run: () => void; busy: boolean };
}

/** The outcome of a trial. */
export function TestResult({ test, remedies, trust, widen }: TestResultProps) {
  const t = useText();
  if (test.isPending) {
    return (
      <p className={classes.result} role="status">
        <Mark kind="running" />
        {t("settings.model.testing")}
      </p>
    );
  }
  if (test.error) {
    return (
      <p className={classes.result} data-bad role="alert">
        <Mark kind="failed" />
        {shownError(test.error, t).sentence}
      </p>
    );
  }
  if (!test.data) return null;
  const { ok, message, remedy, lacks, canWiden, callsNoTools } = test.data;
  const act = remedy && remedies[remedy];
  return (
    <div className={classes.result} data-bad={!ok || undefined} role={ok ? "status" : "alert"}>
      <Mark kind={!ok ? "failed" : lacks ? "uncertain" : "done"} />
      <div className={classes.said}>
        <p>
          {sentence(message, null)}
          {lacks && ` ${lacks}`}
        </p>
        {act && (
          <Button size="xs" variant="default" onClick={act}>
            {t(`settings.remedy.${remedy}`)}
          </Button>
        )}
        {callsNoTools && trust && (
          <Button size="xs" variant="default" onClick={trust}>
            {t("settings.model.trust")}
          </Button>
        )}
        {canWiden && widen && (
          <Button size="xs" variant="default" loading={widen.busy} onClick={widen.run}>
            {t("settings.model.widen")}
          </Button>
        )}
      </div>
    </div>
  );
}
