// The steps of one cycle: the graph, the question that waits, the step that is looked at, and what happened below.

import { useCallback, useEffect, useMemo, useState } from "react";
import { type LiveRun, useAnswer } from "../../api/runs.ts";
import { Notice } from "../../components/Notice.tsx";
import { tellError } from "../../components/toast.tsx";
import type { WaitingFor } from "../../contract/index.ts";
import { type GraphNode, graphModel, nodeId, questionOf, refusedPlan, stepTitle } from "../../graph/model.ts";
import { type GraphEditing, PlanGraph } from "../../graph/PlanGraph.tsx";
import { PlanOutline } from "../../graph/PlanOutline.tsx";
import { costWords } from "../../state/cost.ts";
import { connect, disconnect, usePlanEdits } from "../../state/planEdit.ts";
import { usePreferences } from "../../state/preferences.ts";
import { askedSteps } from "../../state/questions.ts";
import { haltedBy } from "../../state/run.ts";
import { sentence } from "../../state/errors.ts";
import { entry } from "../../state/runState.ts";
import type { Standing } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { BottomPanel } from "./BottomPanel.tsx";
import { CycleStrip } from "./CycleStrip.tsx";
import { EffectAbout, EffectAnswers } from "./EffectQuestion.tsx";
import { GateQuestion } from "./GateQuestion.tsx";
import { PermissionQuestion } from "./PermissionQuestion.tsx";
import { EditorFoot, PlanEditor, useChecked } from "./PlanEditor.tsx";
import { Planning } from "./Planning.tsx";
import { PlanAbout, PlanAnswers, PlanReview } from "./PlanReview.tsx";
import { RetryWait } from "./RetryWait.tsx";
import classes from "./Run.module.css";
import { PanelHead, SidePanel } from "./SidePanel.tsx";
import { StandsStill } from "./StandsStill.tsx";
import { StepEditor } from "./StepEditor.tsx";
import { StepInspector } from "./StepInspector.tsx";
import { StepQuestion } from "./StepQuestion.tsx";
import { StoodIn } from "./StoodIn.tsx";
import { UncertainQuestion } from "./UncertainQuestion.tsx";
import { usePast } from "./LookBack.tsx";
import { useLookedAt } from "./lookedAt.ts";
import { WaitingBar } from "./WaitingBar.tsx";

interface StepsProps {
  run: LiveRun;
  runId: string;
  stands: Standing;
}

/** The view of a run while it works, and afterwards for whoever wants to look again. */
export function Steps({ run: live, runId, stands }: StepsProps) {
  const t = useText();
  const past = usePast(live);
  const { run } = past;
  const { state } = run;
  const { asList, setAsList } = usePreferences();
  const [about, setAbout] = useState(false);
  const { questions, question, shown, selected, select, chooseCycle, chooseQuestion } = useLookedAt(state);
  const cycle = state.cycles.find((one) => one.number === shown) ?? null;
  // A plan is looked up anew only when there is another one, not with every event.
  const planHash = cycle?.planHash ?? null;
  const refused = useMemo(
    () => (planHash === null ? null : refusedPlan(run.records, run.records.length, shown)),
    [run.records, shown, planHash],
  );
  const approval = question?.ask.kind === "approvePlan" && question.ask.cycle === shown ? question.ask : null;
  const { edit: anyEdit, change } = usePlanEdits();
  const edit = approval && !past.open && anyEdit?.key === question?.key ? anyEdit : null;
  const checked = useChecked(runId, edit);
  const model = useMemo(() => {
    if (!cycle) return null;
    return edit ? graphModel(state.cycles, { ...cycle, plan: edit.now }, edit.original) : graphModel(state.cycles, cycle, refused);
  }, [state.cycles, cycle, refused, edit]);
  const editKey = edit?.key ?? null;
  const editing = useMemo((): GraphEditing | undefined => {
    if (editKey === null) return undefined;
    return {
      problems: checked.problems,
      connect: (from, to) => change(editKey, (plan) => connect(plan, from, to)),
      disconnect: (from, to) => change(editKey, (plan) => disconnect(plan, from, to)),
    };
  }, [editKey, checked.problems, change]);
  const node = model?.nodes.find((candidate) => candidate.id === selected) ?? null;
  const { waiting, waitingAlso } = state;
  const asked = useMemo(() => askedSteps([...(waiting ? [waiting] : []), ...(waitingAlso ?? [])], shown), [waiting, waitingAlso, shown]);
  const nodeQuestion = node && questionOf(node, asked);
  const { mutate: answer } = useAnswer(runId);
  const allow = useCallback((one: WaitingFor) => answer({ key: one.key, answer: { kind: "approve", revisions: false } }, { onError: tellError }), [answer]);

  const { calls, header } = state;
  const costOf = useCallback(
    ({ state: of }: GraphNode) => costWords({ header }, (of?.leaves ?? []).flatMap((leaf) => entry(calls, leaf) ?? [])),
    [calls, header],
  );
  const close = useCallback(() => select(null), [select]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      // In a field with a list, the key is for the list.
      const ofList = event.target instanceof Element && event.target.closest("[aria-haspopup=listbox]") !== null;
      if (event.key !== "Escape" || event.defaultPrevented || ofList) return;
      if (selected === null) setAbout(false);
      else close();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [close, selected]);

  const halted = past.open && state.result === null ? "past" : haltedBy(stands, state.result !== null);
  const toggleAbout = () => {
    setAbout(!about || node !== null);
    select(null);
  };
  const label = t("run.graph.label", { number: shown });
  const planning = cycle !== null && (cycle.phase === "planning" || cycle.plan === null);
  const edited = edit && node && node.id === nodeId(node.step.id) ? node.step : null;
  return (
    <>
      <CycleStrip state={state} shown={shown} choose={chooseCycle} halted={halted} about={cycle?.plan && !approval ? { open: about, toggle: toggleAbout } : null} past={past} />
      {past.slider}
      {!past.open && <StandsStill runId={runId} stands={stands} />}
      <RetryWait runId={runId} state={state} />
      <StoodIn state={state} />
      {question && <WaitingBar runId={runId} state={state} questions={questions} shown={question.key} choose={chooseQuestion} />}
      <div className={classes.work}>
        <div className={classes.stage}>
          <div className={classes.canvas}>
            {cycle === null || model === null || planning ? (
              question?.ask.kind === "allowEffect" && !past.open ? (
                <Notice title={t("run.effect.before")} body={t("run.effect.beforeBody")} />
              ) : (
                <PlanningOrNothing run={run} stands={stands} cycle={cycle} past={past.open} />
              )
            ) : asList ? (
              <PlanOutline model={model} label={label} halted={halted} selected={selected} select={select} asked={asked} allow={allow} showGraph={() => setAsList(false)} problems={editing?.problems} />
            ) : (
              <PlanGraph
                key={shown}
                model={model}
                label={label}
                selected={selected}
                select={select}
                asked={asked}
                allow={allow}
                halted={halted}
                costOf={costOf}
                showList={() => setAsList(true)}
                editing={editing}
              />
            )}
          </div>
          <BottomPanel run={run} runId={runId} />
        </div>
        {edit && model ? (
          <SidePanel label={t("run.edit.title")} footer={<EditorFoot runId={runId} edit={edit} checked={checked} after={edited?.id ?? null} select={select} />}>
            {edited ? (
              <StepEditor
                key={edited.id}
                editKey={edit.key}
                plan={edit.now}
                step={edited}
                tools={checked.reply?.tools ?? []}
                models={checked.reply?.models ?? []}
                problems={checked.problems.get(edited.id) ?? []}
                close={close}
              />
            ) : (
              <PlanEditor edit={edit} checked={checked} model={model} select={select} />
            )}
          </SidePanel>
        ) : cycle && model && node ? (
          <SidePanel
            label={t("run.inspector.label")}
            footer={
              nodeQuestion?.ask.kind === "uncertainEffect" ? (
                <UncertainQuestion key={nodeQuestion.key} runId={runId} question={nodeQuestion} ask={nodeQuestion.ask} state={state} />
              ) : nodeQuestion?.ask.kind === "permission" ? (
                <PermissionQuestion
                  key={nodeQuestion.key}
                  runId={runId}
                  questionKey={nodeQuestion.key}
                  ask={nodeQuestion.ask}
                  step={stepTitle(node.step)}
                />
              ) : nodeQuestion?.ask.kind === "gate" ? (
                <GateQuestion key={nodeQuestion.key} runId={runId} questionKey={nodeQuestion.key} ask={nodeQuestion.ask} />
              ) : nodeQuestion?.ask.kind === "runStep" ? (
                <StepQuestion key={nodeQuestion.key} runId={runId} questionKey={nodeQuestion.key} ask={nodeQuestion.ask} />
              ) : question && approval ? (
                <PlanAnswers key={question.key} runId={runId} questionKey={question.key} plan={cycle.plan} recorded={state.header?.recording != null} />
              ) : null
            }
          >
            <StepInspector key={node.id} run={run} runId={runId} node={node} cycle={cycle} halted={halted} close={close} />
          </SidePanel>
        ) : question?.ask.kind === "allowEffect" ? (
          <SidePanel
            label={t("run.questions.effect")}
            footer={<EffectAnswers key={question.key} runId={runId} questionKey={question.key} ask={question.ask} />}
          >
            <EffectAbout ask={question.ask} />
          </SidePanel>
        ) : question && approval && cycle && model ? (
          <PlanReview runId={runId} questionKey={question.key} ask={approval} cycle={cycle} model={model} state={state} select={select} />
        ) : about && cycle?.plan && model && state.header ? (
          <SidePanel label={t("run.about.title", { number: shown })}>
            <PanelHead title={t("run.about.title", { number: shown })} close={() => setAbout(false)} />
            <PlanAbout cycle={cycle} model={model} state={state} envelope={state.header.envelope} select={select} />
          </SidePanel>
        ) : null}
      </div>
    </>
  );
}

interface PlanningOrNothingProps {
  run: LiveRun;
  stands: Standing;
  cycle: LiveRun["state"]["cycles"][number] | null;
  past: boolean;
}

function PlanningOrNothing({ run, stands, cycle, past }: PlanningOrNothingProps) {
  const t = useText();
  if (run.state.result === null && (past || stands !== "interrupted")) return <Planning run={run} cycle={cycle} past={past} />;
  const why = run.state.result ? [run.state.result.feedback] : (cycle?.planProblems ?? []);
  return <Notice title={t("run.graph.noPlan")} body={why.length > 0 ? why.map((one) => sentence(one, null)).join(" ") : undefined} />;
}
