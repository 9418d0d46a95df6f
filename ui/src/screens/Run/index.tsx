// A run: the same events drawn as steps while it works and as a verdict once it has ended.

import { Badge, SegmentedControl, Skeleton, Tooltip } from "@mantine/core";
import { useEffect, useRef } from "react";
import { type LiveRun, useRun, useRunSummary } from "../../api/runs.ts";
import { Failure } from "../../components/Failure.tsx";
import { Late } from "../../components/Late.tsx";
import { StateBadge } from "../../components/Mark.tsx";
import { Screen } from "../../components/Screen.tsx";
import { announce } from "../../shell/announce.tsx";
import { replace, type RunView } from "../../shell/route.ts";
import { questionsOf, questionWords } from "../../state/questions.ts";
import { stepName } from "../../state/run.ts";
import { runStatus } from "../../state/runState.ts";
import { hasEnded, type Standing, standing, standingMark } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { RunActions } from "./Actions.tsx";
import { useRunCommands } from "./commands.ts";
import { BudgetMeter } from "./Budget.tsx";
import { FlowSteps } from "./FlowSteps.tsx";
import classes from "./Run.module.css";
import { Steps } from "./Steps.tsx";
import { Verdict } from "./Verdict.tsx";

/** The screen of one run. */
export function Run({ runId, view }: { runId: string; view: RunView }) {
  const t = useText();
  const run = useRun(runId);
  const summary = useRunSummary(runId);
  const status = runStatus(run.state);
  // The list's word on who drives comes a moment after the events; until it is there nothing is called interrupted.
  const driven = summary.data?.driven ?? true;
  const stands = standing(status, driven || summary.isFetching, run.state.result?.stopReason ?? null);
  const title = run.state.header?.title ?? summary.data?.title ?? "";
  const shown = view === "auto" ? (hasEnded(status) ? "verdict" : "steps") : view;
  useAnnouncements(run, title, stands);
  useStayOnSteps(run, runId, view, status);
  useRunCommands({ runId, shown, stands });

  if (run.phase === "failed" && run.error) {
    return (
      <Screen title={title || t("runs.title")}>
        <Failure error={run.error} retry={run.retry} />
      </Screen>
    );
  }
  if (run.phase === "loading" && run.length === 0) {
    return (
      <Screen title={title || t("run.loading")}>
        <div className={classes.loading}>
          <Late>
            <Skeleton height={36} width={420} radius={10} />
            <Skeleton height="70%" radius={10} mt={16} />
          </Late>
        </div>
      </Screen>
    );
  }
  return (
    <Screen
      title={title}
      beside={
        <>
          <StateBadge kind={standingMark[stands]}>{t(`standing.${stands}`)}</StateBadge>
          {run.state.header?.recording && (
            <Tooltip label={t("common.recordedHint")}>
              <Badge variant="default" size="lg" className={classes.recorded ?? ""}>
                {t("common.recorded")}
              </Badge>
            </Tooltip>
          )}
        </>
      }
      actions={
        <>
          {/* The verdict says it in a line of its own. */}
          {(!hasEnded(status) || shown === "steps") && <BudgetMeter run={run} runId={runId} />}
          <SegmentedControl
            size="xs"
            aria-label={t("run.views.label")}
            value={shown}
            onChange={(value) => replace({ screen: "run", runId, view: value === "verdict" ? "verdict" : "steps" })}
            data={[
              { value: "steps", label: t("run.views.steps") },
              { value: "verdict", label: t("run.views.verdict") },
            ]}
          />
          <RunActions run={run} runId={runId} title={title} stands={stands} shown={shown} />
        </>
      }
    >
      {shown === "steps" && run.state.header?.flow ? (
        <FlowSteps run={run} runId={runId} stands={stands} />
      ) : shown === "steps" ? (
        <Steps run={run} runId={runId} stands={stands} />
      ) : <Verdict run={run} runId={runId} stands={stands} />}
    </Screen>
  );
}

/** Reads out what changes: how the run stands, and that it waits. */
function useAnnouncements(run: LiveRun, title: string, stands: Standing): void {
  const t = useText();
  const last = useRef<Standing | null>(null);
  const ready = run.phase === "ready";
  useEffect(() => {
    if (!ready) return;
    if (last.current !== null && last.current !== stands && stands !== "waiting") {
      announce(t("run.announce.standing", { title, standing: t(`standing.${stands}`) }));
    }
    last.current = stands;
  }, [ready, stands, title, t]);

  // The newest question in its words, but not one that was there when the screen was opened.
  const asked = useRef<string | null | undefined>(undefined);
  const question = questionsOf(run.state).at(-1) ?? null;
  useEffect(() => {
    if (!ready) return;
    const before = asked.current;
    asked.current = question?.key ?? null;
    if (question && before !== undefined && before !== question.key) announce(t("run.announce.waits", { title, question: questionWords(question.ask, t) }));
  }, [ready, question, title, t]);

  // Each step as it comes to its end, but not those that were there when the screen was opened.
  const told = useRef<number | null>(null);
  const { records, length, state } = run;
  useEffect(() => {
    if (!ready) return;
    const from = told.current ?? length;
    told.current = length;
    const ended = records.slice(from, length).findLast((record) => record.event.type === "stepFinished")?.event;
    if (ended?.type !== "stepFinished") return;
    announce(t("run.announce.step", { step: stepName(state, ended.cycle, ended.step), status: t(`run.step.${ended.status}`) }));
  }, [ready, records, length, state, t]);
}

/** Someone who watches the steps sees the last one end before the verdict takes their place. */
function useStayOnSteps(run: LiveRun, runId: string, view: RunView, status: ReturnType<typeof runStatus>): void {
  const watched = useRef(false);
  const ended = hasEnded(status);
  useEffect(() => {
    if (run.phase !== "ready") return undefined;
    if (!ended) {
      watched.current = true;
      return undefined;
    }
    if (!watched.current || view === "verdict") return undefined;
    watched.current = false;
    if (view === "steps") {
      const timer = window.setTimeout(() => replace({ screen: "run", runId, view: "verdict" }), 1200);
      return () => window.clearTimeout(timer);
    }
    return undefined;
  }, [run.phase, ended, view, runId]);
}
