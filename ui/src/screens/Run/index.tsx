// A run: the same events drawn as steps while it works and as a verdict once it has ended.

import { Badge, Button, Modal, SegmentedControl, Skeleton, Tooltip } from "@mantine/core";
import { IconFolderOpen, IconPlayerPlay, IconPlayerStop, IconRepeat } from "@tabler/icons-react";
import { useEffect, useRef, useState } from "react";
import { type LiveRun, useContinue, useRun, useRunAgain, useRunSummary, useStop } from "../../api/runs.ts";
import { Failure } from "../../components/Failure.tsx";
import { Late } from "../../components/Late.tsx";
import { StateBadge } from "../../components/Mark.tsx";
import { Screen } from "../../components/Screen.tsx";
import { tellError } from "../../components/toast.tsx";
import { host } from "../../host/index.ts";
import { announce } from "../../shell/announce.tsx";
import { go, replace, type RunView } from "../../shell/route.ts";
import { count, short } from "../../state/format.ts";
import { stepName } from "../../state/run.ts";
import { runStatus } from "../../state/runState.ts";
import { canContinue, hasEnded, type Standing, standing, standingMark } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
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
  const stands = standing(status, driven || summary.isFetching);
  const title = run.state.header?.title ?? summary.data?.title ?? "";
  const shown = view === "auto" ? (hasEnded(status) ? "verdict" : "steps") : view;
  useAnnouncements(run, title, stands);
  useStayOnSteps(run, runId, view, status);

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
          {!hasEnded(status) && <TokenMeter run={run} />}
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
          <Actions run={run} runId={runId} stands={stands} shown={shown} />
        </>
      }
    >
      {shown === "steps" ? <Steps run={run} runId={runId} stands={stands} /> : <Verdict run={run} runId={runId} stands={stands} />}
    </Screen>
  );
}

function TokenMeter({ run }: { run: LiveRun }) {
  const t = useText();
  const used = run.state.tokensUsed;
  const limit = run.state.header?.envelope.maxTokens ?? 0;
  const part = limit > 0 ? Math.min(1, used / limit) : 0;
  const label = t("run.tokensOf", { used: count(used), limit: count(limit) });
  return (
    <Tooltip label={label}>
      <div className={classes.meter}>
        <span className={classes.meterText}>{t("common.tokens", { count: used, shown: short(used) })}</span>
        <span
          className={classes.meterTrack}
          role="meter"
          aria-label={t("run.tokensLabel")}
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={used}
          aria-valuetext={label}
        >
          <span className={classes.meterFill} data-full={part > 0.9 || undefined} style={{ width: `${part * 100}%` }} />
        </span>
      </div>
    </Tooltip>
  );
}

function Actions({ run, runId, stands, shown }: { run: LiveRun; runId: string; stands: Standing; shown: "steps" | "verdict" }) {
  const t = useText();
  const resume = useContinue();
  const again = useRunAgain();
  const { result, header } = run.state;
  const folder = header?.envelope.folder;
  const { showInFolder } = host;
  if (stands === "running" || stands === "waiting" || stands === "paused") return <StopButton runId={runId} />;
  // The steps of an interrupted run say so themselves, with the button in the sentence. What a recording does not know,
  // it does not know the next time either.
  const ofModel = header?.recording == null;
  const mayContinue = stands === "interrupted" ? shown === "verdict" : result !== null && ofModel && canContinue(result.stopReason);
  return (
    <>
      {mayContinue && (
        <Tooltip label={t("verdict.continueHint")}>
          <Button
            leftSection={<IconPlayerPlay size={15} stroke={1.6} />}
            loading={resume.isPending}
            onClick={() => resume.mutate(runId, { onSuccess: () => go({ screen: "run", runId, view: "steps" }), onError: tellError })}
          >
            {t("run.continue")}
          </Button>
        </Tooltip>
      )}
      {stands !== "interrupted" && (
        <Button
          variant="default"
          leftSection={<IconRepeat size={15} stroke={1.6} />}
          loading={again.isPending}
          onClick={() => again.mutate(runId, { onSuccess: (started) => go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError })}
        >
          {t("run.again")}
        </Button>
      )}
      {folder && showInFolder && stands !== "interrupted" && (
        <Button
          variant={mayContinue ? "default" : "filled"}
          leftSection={<IconFolderOpen size={16} stroke={1.6} />}
          onClick={() => void showInFolder(folder).catch(tellError)}
        >
          {t("common.openFolder")}
        </Button>
      )}
    </>
  );
}

function StopButton({ runId }: { runId: string }) {
  const t = useText();
  const stop = useStop();
  const [asks, setAsks] = useState(false);
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconPlayerStop size={15} stroke={1.6} />}
        loading={stop.isPending}
        onClick={() => setAsks(true)}
      >
        {t("run.stop")}
      </Button>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("run.stopTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p>{t("run.stopBody")}</p>
        <div className={classes.modalActions}>
          <Button variant="default" onClick={() => setAsks(false)}>
            {t("run.keepGoing")}
          </Button>
          <Button
            color="red"
            onClick={() => {
              setAsks(false);
              stop.mutate(runId, { onError: tellError });
            }}
          >
            {t("run.stop")}
          </Button>
        </div>
      </Modal>
    </>
  );
}

/** Reads out what changes: how the run stands, and that it waits. */
function useAnnouncements(run: LiveRun, title: string, stands: Standing): void {
  const t = useText();
  const last = useRef<Standing | null>(null);
  const ready = run.phase === "ready";
  useEffect(() => {
    if (!ready) return;
    if (last.current !== null && last.current !== stands) {
      announce(stands === "waiting" ? t("run.announce.waits", { title }) : t("run.announce.standing", { title, standing: t(`standing.${stands}`) }));
    }
    last.current = stands;
  }, [ready, stands, title, t]);

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
