// What came of asking a server: one sentence, and one button that does something about it.

import { Button } from "@mantine/core";
import type { UseMutationResult } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Mark } from "../../components/Mark.tsx";
import type { ProviderTest, Remedy, TestProvider } from "../../contract/index.ts";
import type { HostError } from "../../host/index.ts";
import { shownError } from "../../state/errors.ts";
import { testWords } from "../../state/testWords.ts";
import { useText } from "../../text/index.ts";
import classes from "./Settings.module.css";

interface TestResultProps {
  test: UseMutationResult<ProviderTest, HostError, TestProvider>;
  /** Who was asked, as a person calls it. */
  who: string;
  /** How many models there are to choose from, where nothing else was asked. */
  offers?: number | null;
  /** What each button does; a remedy that nothing is done about here has none. */
  remedies: Partial<Record<Remedy, () => void>>;
  /** Takes a person's word that the model calls tools. */
  trust?: () => void;
  /** Sets the model up to read more, where that can be done. */
  widen?: { run: () => void; busy: boolean };
}

/** The outcome of a trial. Whoever pressed a button in it that is gone since is not left nowhere. */
export function TestResult(props: TestResultProps) {
  const place = useRef<HTMLDivElement>(null);
  const { status } = props.test;
  useEffect(() => {
    if (status !== "idle" && document.activeElement === document.body) place.current?.focus({ preventScroll: true });
  }, [status]);
  if (props.test.isIdle) return null;
  return (
    <div ref={place} tabIndex={-1} className={classes.outcome}>
      <Outcome {...props} />
    </div>
  );
}

function Outcome({ test, who, offers = null, remedies, trust, widen }: TestResultProps) {
  const t = useText();
  if (test.isPending) return <Asking since={test.submittedAt} stop={test.reset} />;
  if (test.error) {
    return (
      <p className={classes.result} data-bad role="alert">
        <Mark kind="failed" />
        {shownError(test.error, t).sentence}
      </p>
    );
  }
  if (!test.data) return null;
  if (offers !== null) {
    return (
      <p className={classes.result} role="status">
        <Mark kind="done" />
        {t("settings.model.offers", { who, count: offers })}
      </p>
    );
  }
  const { ok, remedy, lacks, canWiden, callsNoTools } = test.data;
  const act = remedy && remedies[remedy];
  const { said, original } = testWords(test.data, { who, model: test.variables?.model ?? "" }, t);
  return (
    <div className={classes.result} data-bad={!ok || undefined} role={ok ? "status" : "alert"}>
      <Mark kind={!ok ? "failed" : lacks ? "uncertain" : "done"} />
      <div className={classes.said}>
        <p>{said}</p>
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
        {original !== null && (
          <details className={classes.original}>
            <summary>{t("errors.details")}</summary>
            <p lang="en">{original}</p>
          </details>
        )}
      </div>
    </div>
  );
}

/** For how long somebody has been asked, and a button to wait no longer. */
function Asking({ since, stop }: { since: number; stop: () => void }) {
  const t = useText();
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), 1000);
    return () => window.clearInterval(timer);
  }, []);
  const passed = Math.max(0, Math.floor((now - since) / 1000));
  return (
    <div className={classes.result}>
      <Mark kind="running" />
      <p className={classes.asking} role="status">
        {t("settings.model.testing")}
        {passed > 0 && (
          <span className="numbers" aria-hidden>
            {" "}
            {t("settings.model.testingFor", { count: passed })}
          </span>
        )}
      </p>
      <Button size="compact-xs" variant="default" onClick={stop}>
        {t("settings.model.testStop")}
      </Button>
    </div>
  );
}
