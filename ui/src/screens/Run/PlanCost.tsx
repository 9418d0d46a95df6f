// What a plan will cost before it runs: a range, in tokens and in money where prices are known, and what it rests on.

import { useEstimate } from "../../api/runs.ts";
import type { Estimate, Expected } from "../../contract/index.ts";
import { count, money } from "../../state/format.ts";
import { type Text, useText } from "../../text/index.ts";
import classes from "./PlanReview.module.css";

/** The lines about the cost; nothing while it is not known. */
export function PlanCost({ runId, planHash }: { runId: string; planHash: string }) {
  const estimate = useEstimate(runId, planHash).data;
  return estimate ? <EstimateWords estimate={estimate} /> : null;
}

/** An estimate, in lines. */
export function EstimateWords({ estimate }: { estimate: Estimate }) {
  const t = useText();
  const { cycle, run, pastRuns, unpriced, recorded, limited } = estimate;
  if (recorded) return <p className={classes.note}>{t("run.ask.costNothing")}</p>;
  return (
    <>
      <p className={`${classes.note} numbers`}>{t("run.ask.costCycle", { expected: expectedWords(cycle, t) })}</p>
      {run.tokens.high > cycle.tokens.high && <p className={`${classes.note} numbers`}>{t("run.ask.costRun", { expected: expectedWords(run, t) })}</p>}
      {limited !== "no" && <p className={classes.note}>{t(`run.ask.costLimited.${limited}`)}</p>}
      <p className={classes.note}>
        {pastRuns === 0 ? t("run.ask.costPlan") : t("run.ask.costPast", { count: pastRuns })}
        {unpriced.length > 0 && ` ${t("run.ask.costUnpriced", { models: unpriced.join(", ") })}`}
      </p>
    </>
  );
}

function expectedWords({ tokens, cost }: Expected, t: Text): string {
  const words = t("run.ask.costTokens", { low: count(rounded(tokens.low)), high: count(rounded(tokens.high)) });
  if (!cost) return words;
  return t("run.ask.costMoney", { tokens: words, low: money(cost.low, cost.currency), high: money(cost.high, cost.currency) });
}

/** To two digits: a guess is no count. */
function rounded(tokens: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(tokens, 1))) - 1);
  return Math.ceil(tokens / step) * step;
}
