// One run in a list on Home: how it stands, what it is called, and the one thing that can be done with it.

import { Badge, Button, Tooltip } from "@mantine/core";
import { useContinue } from "../../api/runs.ts";
import { Mark } from "../../components/Mark.tsx";
import { StopRun } from "../../components/StopRun.tsx";
import { Time } from "../../components/Time.tsx";
import { tellError } from "../../components/toast.tsx";
import type { RunSummary } from "../../contract/index.ts";
import { href } from "../../shell/route.ts";
import { folderName, short } from "../../state/format.ts";
import { moneyOf, moneyWords } from "../../state/history.ts";
import { standingMark, standingOf } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import classes from "./Home.module.css";

/** A line that opens its run, with a button where there is something to do. */
export function RunRow({ run }: { run: RunSummary }) {
  const t = useText();
  const stands = standingOf(run);
  return (
    <div className={classes.row}>
      <Mark kind={standingMark[stands]} />
      <a className={classes.link} href={href({ screen: "run", runId: run.runId, view: "auto" })}>
        <span className={classes.name}>{run.title}</span>
        <span className={classes.facts}>
          {t(`standing.${stands}`)} · {t("common.cycles", { count: run.cycles })} ·{" "}
          <span className="numbers">{t("common.tokens", { count: run.tokensUsed, shown: short(run.tokensUsed) })}</span>
          {" · "}
          {run.cost && run.cost.currency !== "" && <span className="numbers">{moneyWords(moneyOf(run))} · </span>}
          {folderName(run.folder)}
        </span>
      </a>
      {run.recorded && (
        <Tooltip label={t("common.recordedHint")}>
          <Badge variant="default" className={classes.recorded ?? ""}>
            {t("common.recorded")}
          </Badge>
        </Tooltip>
      )}
      <Time at={run.endedAtMs ?? run.startedAtMs} className={classes.when} />
      <RowAction run={run} />
    </div>
  );
}

function RowAction({ run }: { run: RunSummary }) {
  const t = useText();
  const resume = useContinue();
  const { runId, title } = run;
  switch (standingOf(run)) {
    case "waiting":
      return (
        <Button size="xs" component="a" href={href({ screen: "run", runId, view: "steps" })}>
          {t("home.review")}
        </Button>
      );
    case "running":
    case "paused":
      return <StopRun runId={runId} title={title} size="xs" named />;
    case "interrupted":
      return (
        <Button
          size="xs"
          loading={resume.isPending}
          onClick={() => resume.mutate(runId, { onError: tellError })}
          aria-label={t("home.continueRun", { title })}
        >
          {t("home.continue")}
        </Button>
      );
    case "passed":
    case "failed":
    case "rejected":
    case "stopped":
      return null;
  }
}
