// A flow's run: its steps in the order in which they began, the question that waits, and what came of each.

import { ActionIcon, Tooltip } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import type { LiveRun } from "../../api/runs.ts";
import type { WaitingFor } from "../../contract/index.ts";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { RecordedValue } from "../../components/ValueView.tsx";
import outline from "../../graph/PlanOutline.module.css";
import { type FlowVisit, flowVisits } from "../../state/flow.ts";
import { duration } from "../../state/format.ts";
import { questionsOf } from "../../state/questions.ts";
import { type Halted, haltedBy, markOfStep } from "../../state/run.ts";
import type { Standing } from "../../state/standing.ts";
import { sentence } from "../../state/errors.ts";
import { type Text, useText } from "../../text/index.ts";
import { BottomPanel } from "./BottomPanel.tsx";
import { EffectAbout, EffectAnswers } from "./EffectQuestion.tsx";
import { GateQuestion } from "./GateQuestion.tsx";
import { PermissionQuestion } from "./PermissionQuestion.tsx";
import classes from "./Run.module.css";
import { SidePanel } from "./SidePanel.tsx";
import { StandsStill } from "./StandsStill.tsx";
import inspector from "./StepInspector.module.css";
import { TryAgain } from "./TryAgain.tsx";
import { WaitingBar } from "./WaitingBar.tsx";

/** The view of a flow's run. */
export function FlowSteps({ run, runId, stands }: { run: LiveRun; runId: string; stands: Standing }) {
  const t = useText();
  const { state } = run;
  const questions = questionsOf(state);
  const [chosen, setChosen] = useState<string | null>(null);
  const question = questions.find(({ key }) => key === chosen) ?? questions[0] ?? null;
  const [selected, setSelected] = useState<string | null>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) setSelected(null);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  const visits = flowVisits(state, questions);
  const visit = visits.find(({ key }) => key === selected) ?? null;
  const gate = visit ? visit.question : question;
  const halted = haltedBy(stands, state.result !== null);
  return (
    <>
      <StandsStill runId={runId} stands={stands} />
      {question && (
        <WaitingBar
          runId={runId}
          state={state}
          questions={questions}
          shown={gate?.key ?? ""}
          choose={({ key }) => {
            setChosen(key);
            setSelected(null);
          }}
        />
      )}
      <div className={classes.work}>
        <div className={classes.stage}>
          <div className={classes.canvas}>
            {visits.length === 0 ? (
              <Notice title={t("run.flow.none")} />
            ) : (
              <div className={outline.outline}>
                <ol className={outline.list} aria-label={t("run.flow.label")}>
                  {visits.map((one) => (
                    <li key={one.key}>
                      <button
                        type="button"
                        className={outline.item}
                        style={{ paddingLeft: 16 + one.depth * 24 }}
                        aria-pressed={one.key === selected}
                        onClick={() => setSelected(one.key === selected ? null : one.key)}
                      >
                        <Mark kind={one.question ? "person" : markOfStep(one.phase.status, halted)} />
                        <span className={outline.name}>{one.name}</span>
                        <span className={outline.facts}>{factsOf(one, halted, t)}</span>
                      </button>
                    </li>
                  ))}
                </ol>
              </div>
            )}
          </div>
          <BottomPanel run={run} runId={runId} />
        </div>
        {visit || gate ? (
          <SidePanel
            label={t("run.inspector.label")}
            footer={gate && visit ? <Question runId={runId} question={gate} /> : null}
          >
            {visit ? (
              <Visit run={run} runId={runId} visit={visit} halted={halted} close={() => setSelected(null)} />
            ) : (
              gate && <Question runId={runId} question={gate} />
            )}
          </SidePanel>
        ) : null}
      </div>
    </>
  );
}

/** What a flow asks: the answer of a gate, or a permission. */
function Question({ runId, question }: { runId: string; question: WaitingFor }) {
  const { key, ask } = question;
  if (ask.kind === "gate") return <GateQuestion key={key} runId={runId} questionKey={key} ask={ask} />;
  if (ask.kind === "allowEffect")
    return (
      <>
        <EffectAbout ask={ask} />
        <EffectAnswers key={key} runId={runId} questionKey={key} ask={ask} />
      </>
    );
  if (ask.kind === "permission") return <PermissionQuestion key={key} runId={runId} questionKey={key} ask={ask} step={ask.step} />;
  return null;
}

const kinds = ["ask", "tool", "agent", "group", "gate", "answer", "task", "ref"] as const;

function factsOf({ phase, question }: FlowVisit, halted: Halted, t: Text): string {
  const kind = kinds.find((one) => one === phase.kind);
  const status = phase.status === "running" && halted ? t(`run.graph.halted.${halted}`) : t(`run.step.${question ? "waiting_for_person" : phase.status}`);
  return [
    status,
    kind && t(`run.flow.kinds.${kind}`),
    phase.visit > 1 && t("run.flow.visit", { number: phase.visit }),
    phase.durationMs !== null && duration(phase.durationMs),
  ]
    .filter(Boolean)
    .join(" · ");
}

function Visit({ run, runId, visit, halted, close }: { run: LiveRun; runId: string; visit: FlowVisit; halted: Halted; close: () => void }) {
  const t = useText();
  const { phase } = visit;
  return (
    <div>
      <header className={inspector.head}>
        <Mark kind={visit.question ? "person" : markOfStep(phase.status, halted)} size={18} />
        <h2>{visit.name}</h2>
        <Tooltip label={t("run.inspector.close")}>
          <ActionIcon onClick={close} aria-label={t("run.inspector.close")} size={28}>
            <IconX size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </header>
      <p className={inspector.description}>{factsOf(visit, halted, t)}</p>
      {phase.error && (
        <div className={inspector.problem}>
          <h3>{t("run.inspector.error")}</h3>
          <p>{sentence(phase.error.message, null)}</p>
          <TryAgain run={run} runId={runId} title={visit.name} why={sentence(phase.error.message, null)} />
        </div>
      )}
      {phase.inputs && (
        <section className={inspector.part}>
          <h3>{t("run.inspector.given")}</h3>
          <RecordedValue reference={phase.inputs} label={t("run.inspector.given")} />
        </section>
      )}
      {phase.output && (
        <section className={inspector.part}>
          <h3>{t("run.inspector.result")}</h3>
          <RecordedValue reference={phase.output} label={t("run.inspector.result")} />
        </section>
      )}
    </div>
  );
}
