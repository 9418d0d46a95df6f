// What to do with a run that did not pass: tell it what to do differently, give it more room, or take the results as
// they are.

import { Button, Modal } from "@mantine/core";
import { useState } from "react";
import { type LiveRun, useAccept, useGuide, useRaiseLimits } from "../../api/runs.ts";
import { accepts } from "../../components/NumberField.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { LimitsChange } from "../../contract/index.ts";
import { limitsOf, type Room } from "../../state/budget.ts";
import { go } from "../../shell/route.ts";
import { shortcuts } from "../../shell/shortcuts.ts";
import { nextMoves } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { LimitsForm } from "./LimitsForm.tsx";
import runClasses from "./Run.module.css";
import classes from "./Verdict.module.css";
import { Words } from "./Words.tsx";

/** The part of the verdict that goes on; nothing where nothing can be done. */
export function NextMove({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const { result, header, cycles } = run.state;
  if (!result || !header || header.recording !== null) return null;
  const judged = cycles.some((cycle) => cycle.evaluation !== null);
  const moves = nextMoves(result.stopReason, result.cycles, judged);
  const ofFlow = header.flow !== undefined;
  const guide = moves.guide && !ofFlow;
  if (!guide && !moves.raise && !moves.accept) return null;
  return (
    <section className={classes.next} aria-label={t("verdict.next.title")}>
      <h3>{t("verdict.next.title")}</h3>
      {moves.raise ? <Raise run={run} runId={runId} /> : guide && <Guide runId={runId} />}
      {moves.accept && <Accept runId={runId} />}
    </section>
  );
}

/** To whatever there is to see next: steps at work, or already another verdict. */
const onward = (runId: string) => go({ screen: "run", runId, view: "auto" });

function Guide({ runId }: { runId: string }) {
  const t = useText();
  const guide = useGuide();
  const [words, setWords] = useState("");
  const send = () => guide.mutate({ runId, words: words.trim() }, { onSuccess: () => onward(runId), onError: tellError });
  return (
    <>
      <Words label={t("verdict.next.guideLabel")} hint={t("verdict.next.guideWords")} value={words} change={setWords} send={send} />
      <div className={classes.nextButtons}>
        <Button loading={guide.isPending} disabled={words.trim() === ""} onClick={send} title={shortcuts.send}>
          {t("verdict.next.guide")}
        </Button>
        <p>{t("verdict.next.guideHint")}</p>
      </div>
    </>
  );
}

/** Twice the room is the first proposal: what was used up once is used up again. */
function Raise({ run, runId }: { run: LiveRun; runId: string }) {
  const t = useText();
  const raise = useRaiseLimits();
  const limits = limitsOf(run.state);
  const { cost, tokensUsed } = run.state;
  const [change, setChange] = useState<LimitsChange>(() => proposal(limits, tokensUsed, cost.amount));
  const send = () => raise.mutate({ runId, limits: change }, { onSuccess: () => onward(runId), onError: tellError });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (accepts(event.currentTarget)) send();
      }}
    >
      <LimitsForm limits={limits} currency={cost.currency} change={change} set={setChange} />
      <div className={classes.nextButtons}>
        <Button type="submit" loading={raise.isPending}>
          {t("verdict.next.raise")}
        </Button>
        <p>{t("verdict.next.raiseHint")}</p>
      </div>
    </form>
  );
}

function proposal({ maxTokens, maxCost, maxMinutes }: Room, tokensUsed: number, cost: number): LimitsChange {
  const used = {
    ...(tokensUsed > maxTokens ? { maxTokens: maxTokens * 2 } : {}),
    ...(maxCost !== undefined && cost > maxCost ? { maxCost: maxCost * 2 } : {}),
  };
  // Where neither is used up, time is.
  return Object.keys(used).length === 0 && maxMinutes !== undefined ? { maxMinutes: maxMinutes * 2 } : used;
}

function Accept({ runId }: { runId: string }) {
  const t = useText();
  const accept = useAccept();
  const [asks, setAsks] = useState(false);
  const [words, setWords] = useState("");
  const send = () => {
    setAsks(false);
    accept.mutate({ runId, words: words.trim() || null }, { onSuccess: () => tell(t("verdict.next.accepted")), onError: tellError });
  };
  return (
    <>
      <div className={classes.nextButtons} data-apart>
        <Button variant="default" loading={accept.isPending} onClick={() => setAsks(true)}>
          {t("verdict.next.accept")}
        </Button>
        <p>{t("verdict.next.acceptHint")}</p>
      </div>
      <Modal opened={asks} onClose={() => setAsks(false)} title={t("verdict.next.acceptTitle")} closeButtonProps={{ "aria-label": t("common.close") }}>
        <p className={runClasses.modalWords}>{t("verdict.next.acceptBody")}</p>
        <Words label={t("verdict.next.acceptLabel")} value={words} change={setWords} send={send} autoFocus />
        <div className={runClasses.modalActions}>
          <Button variant="default" onClick={() => setAsks(false)}>
            {t("common.cancel")}
          </Button>
          <Button onClick={send}>{t("verdict.next.acceptSend")}</Button>
        </div>
      </Modal>
    </>
  );
}
