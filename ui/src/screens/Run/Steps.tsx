// The steps of one cycle: the graph, the question that waits, the step that is looked at, and what happened below.

import { Button } from "@mantine/core";
import { useCallback, useEffect, useMemo, useState } from "react";
import { type LiveRun, useContinue } from "../../api/runs.ts";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { tellError } from "../../components/toast.tsx";
import { graphModel, nodeId, refusedPlan } from "../../graph/model.ts";
import { PlanGraph } from "../../graph/PlanGraph.tsx";
import { PlanOutline } from "../../graph/PlanOutline.tsx";
import { usePreferences } from "../../state/preferences.ts";
import type { Halted } from "../../state/run.ts";
import type { Standing } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { BottomPanel } from "./BottomPanel.tsx";
import { CycleStrip } from "./CycleStrip.tsx";
import { Planning } from "./Planning.tsx";
import { PlanAnswers, PlanReview } from "./PlanReview.tsx";
import classes from "./Run.module.css";
import { SidePanel } from "./SidePanel.tsx";
import { StepInspector } from "./StepInspector.tsx";
import { UncertainQuestion } from "./UncertainQuestion.tsx";

interface StepsProps {
  run: LiveRun;
  runId: string;
  stands: Standing;
}

/** What a person chose to look at, for as long as `scope` stays what it is. */
interface Choice {
  scope: string;
  cycle: number;
  selected: string | null;
}

/** The view of a run while it works, and afterwards for whoever wants to look again. */
export function Steps({ run, runId, stands }: StepsProps) {
  const t = useText();
  const { state } = run;
  const { asList, setAsList } = usePreferences();
  const latest = state.cycles.at(-1)?.number ?? 0;
  const question = state.waiting;
  // A new cycle is followed as it begins, and a question is looked at where it stands: what a person chose counts only
  // until then.
  const scope = `${latest} ${question?.key ?? ""}`;
  const [choice, setChoice] = useState<Choice | null>(null);
  const current = choice?.scope === scope ? choice : null;
  const askedIn = question && question.ask.kind !== "gate" ? question.ask.cycle : null;
  const shown = current?.cycle ?? askedIn ?? latest;
  const asked = question?.ask.kind === "uncertainEffect" ? nodeId(question.ask.step) : null;
  const selected = current ? current.selected : asked;
  const cycle = state.cycles.find((one) => one.number === shown) ?? null;
  // A plan is looked up anew only when there is another one, not with every event.
  const planHash = cycle?.planHash ?? null;
  const refused = useMemo(
    () => (planHash === null ? null : refusedPlan(run.records, run.records.length, shown)),
    [run.records, shown, planHash],
  );
  const model = useMemo(() => (cycle ? graphModel(state.cycles, cycle, refused) : null), [state.cycles, cycle, refused]);
  const node = model?.nodes.find((candidate) => candidate.id === selected) ?? null;
  const asking = question?.ask.kind === "uncertainEffect" && question.ask.cycle === shown ? nodeId(question.ask.step) : null;

  const select = useCallback((id: string | null) => setChoice({ scope, cycle: shown, selected: id }), [scope, shown]);
  const close = useCallback(() => select(null), [select]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) close();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [close]);

  const halted: Halted = stands === "interrupted" ? "interrupted" : state.result ? "stopped" : null;
  const choose = (number: number) => setChoice({ scope, cycle: number, selected: null });
  const label = t("run.graph.label", { number: shown });
  const planning = cycle !== null && (cycle.phase === "planning" || cycle.plan === null);
  const approval = question?.ask.kind === "approvePlan" && question.ask.cycle === shown ? question.ask : null;
  return (
    <>
      <CycleStrip state={state} shown={shown} choose={choose} halted={halted} />
      {stands === "interrupted" && <Interrupted runId={runId} />}
      <div className={classes.work}>
        <div className={classes.stage}>
          <div className={classes.canvas}>
            {cycle === null || model === null || planning ? (
              <PlanningOrNothing run={run} stands={stands} cycle={cycle} />
            ) : asList ? (
              <PlanOutline model={model} label={label} halted={halted} selected={selected} select={select} showGraph={() => setAsList(false)} />
            ) : (
              <PlanGraph
                key={shown}
                model={model}
                label={label}
                selected={selected}
                select={select}
                asking={asking}
                halted={halted}
                showList={() => setAsList(true)}
              />
            )}
          </div>
          <BottomPanel run={run} runId={runId} />
        </div>
        {cycle && model && node ? (
          <SidePanel
            label={t("run.inspector.label")}
            footer={
              question?.ask.kind === "uncertainEffect" && asking === node.id ? (
                <UncertainQuestion runId={runId} question={question} ask={question.ask} state={state} />
              ) : question && approval ? (
                <PlanAnswers key={question.key} runId={runId} questionKey={question.key} recorded={state.header?.recording != null} />
              ) : null
            }
          >
            <StepInspector key={node.id} run={run} node={node} cycle={cycle} halted={halted} close={close} />
          </SidePanel>
        ) : question && approval && cycle && model ? (
          <PlanReview runId={runId} questionKey={question.key} ask={approval} cycle={cycle} model={model} state={state} select={select} />
        ) : null}
      </div>
    </>
  );
}

function PlanningOrNothing({ run, stands, cycle }: { run: LiveRun; stands: Standing; cycle: LiveRun["state"]["cycles"][number] | null }) {
  const t = useText();
  if (run.state.result === null && stands !== "interrupted") return <Planning run={run} cycle={cycle} />;
  return (
    <Notice
      title={t("run.graph.noPlan")}
      body={run.state.result?.feedback ?? (cycle && cycle.planProblems.length > 0 ? cycle.planProblems.join(" ") : undefined)}
    />
  );
}

function Interrupted({ runId }: { runId: string }) {
  const t = useText();
  const resume = useContinue();
  return (
    <div className={classes.notice} role="status">
      <Mark kind="interrupted" />
      <p>
        {t("run.interrupted")} <small>{t("run.interruptedBody")}</small>
      </p>
      <Button size="xs" loading={resume.isPending} onClick={() => resume.mutate(runId, { onError: tellError })}>
        {t("run.continue")}
      </Button>
    </div>
  );
}
