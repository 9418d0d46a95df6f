// The verdict: one sentence, what is missing, the evidence for each criterion in each cycle, and what came out.

import { Button } from "@mantine/core";
import { useState } from "react";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Column } from "../../components/Screen.tsx";
import type { LiveRun } from "../../api/runs.ts";
import type { CriterionResult } from "../../contract/index.ts";
import { criterionWords, type TaskCriterion } from "../../state/criteria.ts";
import { costAtLeast } from "../../state/cost.ts";
import { sentence, shownError } from "../../state/errors.ts";
import { failedCall, failedWords } from "../../state/failedCall.ts";
import { placeOf } from "../../state/evidence.ts";
import { count, duration } from "../../state/format.ts";
import { changedFiles } from "../../state/run.ts";
import type { Standing } from "../../state/standing.ts";
import { go } from "../../shell/route.ts";
import { missing, verdictGrid, verdictSentence } from "../../state/verdict.ts";
import { WorkClock } from "../../state/workTime.ts";
import { useText } from "../../text/index.ts";
import { ResultActions } from "./Actions.tsx";
import { UndoButtons } from "./FilesChanged.tsx";
import { NextMove } from "./NextMove.tsx";
import { type LookAt, outputsOf, Produced } from "./Produced.tsx";
import { RemedyButton } from "./RemedyButton.tsx";
import classes from "./Verdict.module.css";
import { VerdictGrid } from "./VerdictGrid.tsx";

/** More than these are found in the table. */
const mostMissing = 30;

/** The verdict of a run. */
export function Verdict({ run, runId, stands }: { run: LiveRun; runId: string; stands: Standing }) {
  const t = useText();
  const { state } = run;
  const { result } = state;
  const grid = verdictGrid(state);
  const [lookAt, setLookAt] = useState<LookAt | null>(null);
  const files = outputsOf(state).filter((output) => output.value === null);
  const showPlace = (criterion: TaskCriterion, found: CriterionResult) => {
    // Evidence about the whole can stand in any file; where there is just one, it is there.
    const path = criterion.path ?? (files.length === 1 ? files[0]?.path : undefined);
    const place = placeOf(found);
    return path !== undefined && place && files.some((file) => file.path === path) ? () => setLookAt({ path, place }) : null;
  };
  const last = state.cycles.findLast((cycle) => cycle.evaluation !== null)?.evaluation ?? null;
  const lacking = result && result.status !== "pass" ? missing(state) : [];
  const heading = verdictSentence(state, t);
  const said = result?.status === "pass" ? (last?.summary ?? result.feedback) : (result?.feedback ?? null);
  // What the sentence above says already is not said again.
  const words = said === heading ? null : said;
  return (
    <Column>
      <div className={classes.top}>
        <div>
          <h2 className={classes.sentence}>{heading}</h2>
          <Facts run={run} />
        </div>
        {result && stands !== "interrupted" && (
          <div className={classes.actions}>
            <UndoButtons state={state} runId={runId} size="sm" />
            <ResultActions run={run} runId={runId} />
          </div>
        )}
      </div>
      {!result && stands !== "interrupted" && <p className={classes.words}>{t("verdict.runningBody")}</p>}
      {result?.stopReason === "error" && <WhatFailed run={run} runId={runId} message={result.feedback} />}
      {lacking.length > 0 ? (
        <section className={classes.missing} aria-label={t("verdict.missingTitle")}>
          <ul>
            {lacking.slice(0, mostMissing).map(({ criterion, result: found }) => (
              <li key={criterion.id}>
                <Mark kind={found.verdict === "unknown" ? "unsure" : "failed"} />
                <span>
                  {criterionWords(criterion, t)}
                  <small>{found.evidence}</small>
                </span>
              </li>
            ))}
          </ul>
          {lacking.length > mostMissing && <p>{t("verdict.missingMore", { count: lacking.length - mostMissing })}</p>}
        </section>
      ) : null}
      {/* A check's evidence is its complaint; a judge quotes what it looked at, and says here what it misses. */}
      {words && result?.stopReason !== "error" && (lacking.length === 0 || lacking.some(({ result: found }) => found.by === "model")) && <p className={classes.words}>{words}</p>}
      <NextMove key={result === null ? "open" : state.lastSeq} run={run} runId={runId} />
      {grid.cycles.length > 0 && <VerdictGrid grid={grid} showPlace={showPlace} />}
      {grid.cycles.length === 0 && result && outputsOf(state).length === 0 ? (
        <Notice compact title={t("verdict.none")} body={t("verdict.noneBody")} />
      ) : (
        <Produced run={run} runId={runId} lookAt={lookAt} setLookAt={setLookAt} />
      )}
    </Column>
  );
}

/** Why a run ended with an error, from the model call that failed last, with the button that helps. */
function WhatFailed({ run, runId, message }: { run: LiveRun; runId: string; message: string }) {
  const t = useText();
  const failed = failedCall(run.state);
  const same = failed !== null && message.includes(failed.message);
  const refused = (run.state.cycles.at(-1)?.planProblems ?? []).filter((problem) => message.includes(problem));
  const shown = shownError({ code: same ? failed.code : refused.length > 0 ? "plan_invalid" : "", message, hint: null, retryable: false }, t);
  const worded = same ? failedWords(failed, t) : null;
  const originals = refused.length > 0 ? refused : [message];
  return (
    <div className={classes.failure}>
      <p>{worded ?? shown.sentence}</p>
      {originals
        .map((original) => sentence(original, null))
        .filter((original) => original !== shown.sentence || worded !== null)
        .map((original) =>
          worded === null ? (
            <p key={original} className={classes.original}>
              {original}
            </p>
          ) : (
            <details key={original} className={classes.original}>
              <summary>{t("errors.details")}</summary>
              <p lang="en">{original}</p>
            </details>
          ),
        )}
      {same && failed.remedy !== null && run.state.header?.recording === null ? (
        <RemedyButton remedy={failed.remedy} model={failed.model} run={run} runId={runId} />
      ) : shown.remedy === "settings" && run.state.header?.recording === null && (
        <Button size="xs" variant="default" onClick={() => go({ screen: "settings" })}>
          {t("errors.toSettings")}
        </Button>
      )}
    </div>
  );
}

function Facts({ run }: { run: LiveRun }) {
  const t = useText();
  const [clock] = useState(() => new WorkClock());
  const { state } = run;
  const files = changedFiles(state).filter((file) => file.last.done).length;
  const evaluation = state.cycles.findLast((cycle) => cycle.evaluation !== null)?.evaluation;
  const facts = [
    state.startedAtMs > 0 && t("verdict.facts.work", { time: duration(clock.upTo(run.records, run.length)) }),
    t("common.tokens", { count: state.tokensUsed, shown: count(state.tokensUsed) }),
    costAtLeast(state, Object.values(state.calls), t),
    t("common.cycles", { count: state.cycles.length }),
    // A file from before may fulfil the criteria: then it was not this run that made it.
    files > 0 ? t("verdict.facts.files", { count: files }) : state.result?.status === "pass" && outputsOf(state).some((output) => output.value === null) && t("verdict.facts.noFiles"),
    evaluation && evaluation.score < 1 && t("verdict.score", { score: Math.round(evaluation.score * 100) }),
  ].filter(Boolean);
  return <p className={classes.facts}>{facts.join(" · ")}</p>;
}
