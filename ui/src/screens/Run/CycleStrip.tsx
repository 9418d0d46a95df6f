// The cycles of a run in a row: what each came to, and which one is looked at.

import { VisuallyHidden } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { Fragment } from "react";
import { Mark } from "../../components/Mark.tsx";
import type { CycleState, RunState } from "../../contract/index.ts";
import { costAtLeast } from "../../state/cost.ts";
import { cycleOf, questionsOf } from "../../state/questions.ts";
import { cycleMark, finishedSteps, type Halted, holding } from "../../state/run.ts";
import { type Text, useText } from "../../text/index.ts";
import classes from "./Run.module.css";

interface CycleStripProps {
  state: RunState;
  shown: number;
  choose: (cycle: number) => void;
  halted: Halted;
  /** Says why the shown plan is as it is, beside it; null while that stands there anyway. */
  about: { open: boolean; toggle: () => void } | null;
  past: { open: boolean; toggle: () => void };
}

/** The strip; cycles that may still come stand at the end as outlines. */
export function CycleStrip({ state, shown, choose, halted, about, past }: CycleStripProps) {
  const t = useText();
  const asking = new Set(questionsOf(state).map(({ ask }) => cycleOf(ask)));
  const most = state.header?.envelope.maxCycles ?? 0;
  const next = state.cycles.length + 1;
  const current = state.cycles.find((cycle) => cycle.number === shown);
  const calls = Object.values(state.calls);
  const costOf = (number: number) => costAtLeast(state, calls.filter((call) => call.cycle === number), t);
  return (
    <div className={classes.strip} role="group" aria-label={t("run.cycleStrip")}>
      {state.cycles.map((cycle, index) => (
        <Fragment key={cycle.number}>
          {index > 0 && <IconArrowRight className={classes.arrow ?? ""} size={15} stroke={1.6} aria-hidden />}
          <button
            type="button"
            className={classes.cycle}
            aria-pressed={cycle.number === shown}
            onClick={() => choose(cycle.number)}
            data-cycle={cycle.number}
          >
            <Mark kind={cycleMark(cycle, asking.has(cycle.number), halted)} />
            {t("run.cycle", { number: cycle.number })}
            <VisuallyHidden>, </VisuallyHidden>
            <small className="numbers">{[cycleWords(cycle, asking.has(cycle.number), t), costOf(cycle.number)].filter(Boolean).join(" · ")}</small>
          </button>
        </Fragment>
      ))}
      {state.result === null && next <= most && state.cycles.length > 0 && (
        <>
          <IconArrowRight className={classes.arrow ?? ""} size={15} stroke={1.6} aria-hidden />
          <span className={classes.cycle} data-future>
            <Mark kind="idle" />
            {t("run.cycle", { number: next })}
            <small>{t("run.cycleState.notYet")}</small>
          </span>
        </>
      )}
      <span className={classes.stripAside}>
        {current?.approvedBy && t(`run.approvedBy.${current.approvedBy}`)}
        {about && (
          <button type="button" className={classes.about} aria-pressed={about.open} onClick={about.toggle}>
            {t("run.about.open")}
          </button>
        )}
        {(state.result !== null || past.open) && (
          <button type="button" className={classes.about} aria-pressed={past.open} onClick={past.toggle}>
            {t("run.past.open")}
          </button>
        )}
      </span>
    </div>
  );
}

function cycleWords(cycle: CycleState, asks: boolean, t: Text): string {
  if (asks) return t("run.cycleState.proposed");
  if (cycle.evaluation) return t("run.cycleState.verdict", holding(cycle));
  switch (cycle.phase) {
    case "planning":
      return t("run.cycleState.planning");
    case "proposed":
    case "running":
      return t("run.cycleState.running", { done: finishedSteps(cycle), total: Object.keys(cycle.steps).length });
    case "judging":
      return t("run.cycleState.judging");
    case "ended":
      return cycle.plan ? t("run.cycleState.ended") : t("run.cycleState.noPlan");
  }
}
