// What a run has used of what it may use, in tokens and money; a click changes where it stops.

import { Button, Modal, Tooltip, VisuallyHidden } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { type LiveRun, useRaiseLimits } from "../../api/runs.ts";
import { accepts } from "../../components/NumberField.tsx";
import { tellError } from "../../components/toast.tsx";
import type { LimitsChange } from "../../contract/index.ts";
import { announce } from "../../shell/announce.tsx";
import { type Budget as Used, budgetOf, crossed, limitsOf } from "../../state/budget.ts";
import { count, money, short } from "../../state/format.ts";
import { type Text, useText } from "../../text/index.ts";
import { LimitsForm } from "./LimitsForm.tsx";
import classes from "./Run.module.css";

/** The meter. */
export function BudgetMeter({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const [opened, setOpened] = useState(false);
  const budget = budgetOf(run.state);
  useNotices(run.phase === "ready", budget);
  const tokens = t("run.tokensOf", { used: count(budget.tokens), limit: count(budget.maxTokens) });
  const paid = paidWords(budget, t);
  const missing = budget.unpriced.length > 0 ? t("runs.unpriced", { models: budget.unpriced.join(", ") }) : null;
  const label = [tokens, paid, missing].filter(Boolean).join(" · ");
  const fixed = run.state.header?.recording != null || run.state.result !== null;
  return (
    <>
      <Tooltip label={fixed ? label : t("run.limits.tooltip", { label })}>
        <button type="button" className={classes.meter} disabled={fixed} onClick={() => setOpened(true)}>
          <span className={classes.meterText}>{t("common.tokens", { count: budget.tokens, shown: short(budget.tokens) })}</span>
          <span className={classes.meterTrack} aria-hidden>
            <span className={classes.meterFill} data-full={budget.part >= 0.8 || undefined} style={{ width: `${budget.part * 100}%` }} />
          </span>
          {paid && <span className={classes.meterText}>{paid}</span>}
          <VisuallyHidden>, {fixed ? label : t("run.limits.change", { label })}</VisuallyHidden>
        </button>
      </Tooltip>
      {opened && <LimitsDialog run={run} runId={runId} close={() => setOpened(false)} />}
    </>
  );
}

function paidWords({ cost, maxCost, currency, unpriced }: Used, t: Text): string | null {
  if (cost === null) return null;
  const used = unpriced.length > 0 ? t("common.atLeast", { money: money(cost, currency) }) : money(cost, currency);
  return maxCost === null ? used : t("run.moneyOf", { used, limit: money(maxCost, currency) });
}

/** Says once when half, four fifths and all of it are used, of a run that is watched. */
function useNotices(ready: boolean, budget: Used): void {
  const t = useText();
  const last = useRef<number | null>(null);
  const { part } = budget;
  useEffect(() => {
    if (!ready) return;
    const mark = last.current === null ? null : crossed(last.current, part);
    last.current = part;
    if (mark !== null) announce(t("run.limits.used", { percent: mark * 100 }));
  }, [ready, part, t]);
}

function LimitsDialog({ run, runId, close }: { run: LiveRun; runId: string; close: () => void }) {
  const t = useText();
  const raise = useRaiseLimits();
  const [change, setChange] = useState<LimitsChange>({});
  const limits = limitsOf(run.state);
  const send = () => raise.mutate({ runId, limits: change }, { onSuccess: close, onError: tellError });
  return (
    <Modal opened onClose={close} title={t("run.limits.title")} closeButtonProps={{ "aria-label": t("common.close") }}>
      <p className={classes.modalWords}>{t("run.limits.body")}</p>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (accepts(event.currentTarget)) send();
        }}
      >
        <LimitsForm limits={limits} currency={run.state.cost.currency} change={change} set={setChange} />
        <div className={classes.modalActions}>
          <Button variant="default" onClick={close}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={raise.isPending}>
            {t("run.limits.send")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
