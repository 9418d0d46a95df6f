// The question whether a plan may run: why it is as it is, what changed, what it may touch, and the four answers.

import { Button, Menu, Textarea, VisuallyHidden } from "@mantine/core";
import { IconChevronDown, IconEdit, IconFolder, IconPencil } from "@tabler/icons-react";
import { useState } from "react";
import { useAnswer } from "../../api/runs.ts";
import { tellError } from "../../components/toast.tsx";
import type { Answer, Ask, CycleState, Envelope, Key, Plan, RunState } from "../../contract/index.ts";
import { type GraphModel, type GraphNode, stepTitle } from "../../graph/model.ts";
import { grantedBeside, refusedEffects } from "../../state/access.ts";
import { count, folderName, money } from "../../state/format.ts";
import { usePlanEdits } from "../../state/planEdit.ts";
import { focusScreen } from "../../shell/announce.tsx";
import { shortcuts } from "../../shell/shortcuts.ts";
import { useText } from "../../text/index.ts";
import { PlanCost } from "./PlanCost.tsx";
import classes from "./PlanReview.module.css";
import { RejectDialog } from "./RejectDialog.tsx";
import { SidePanel } from "./SidePanel.tsx";

interface PlanReviewProps {
  runId: string;
  questionKey: Key;
  ask: Extract<Ask, { kind: "approvePlan" }>;
  cycle: CycleState;
  model: GraphModel;
  state: RunState;
  select: (id: string) => void;
}

/** The panel beside the proposed plan. */
export function PlanReview({ runId, questionKey, ask, cycle, model, state, select }: PlanReviewProps) {
  const t = useText();
  const title = model.diff ? t("run.ask.titleRevised") : t("run.ask.title");
  return (
    <SidePanel label={title} footer={<PlanAnswers key={questionKey} runId={runId} questionKey={questionKey} plan={cycle.plan} recorded={state.header?.recording != null} />}>
      <h2 className={classes.title}>{title}</h2>
      <PlanAbout cycle={cycle} model={model} state={state} envelope={ask.envelope} select={select} />
      <Part title={t("run.ask.costs")}>
        <PlanCost runId={runId} planHash={ask.planHash} />
      </Part>
    </SidePanel>
  );
}

interface PlanAboutProps {
  cycle: CycleState;
  model: GraphModel;
  state: RunState;
  envelope: Envelope;
  select: (id: string) => void;
}

/** Why a plan is as it is, what is different about it, and what it may touch. */
export function PlanAbout({ cycle, model, state, envelope, select }: PlanAboutProps) {
  const t = useText();
  return (
    <>
      {cycle.plan && (
        <Part title={model.diff ? t("run.change.why") : t("run.ask.why")}>
          <p className={classes.reasoning}>{cycle.plan.reasoning}</p>
        </Part>
      )}
      {model.diff && model.since !== null && (
        <Changes
          model={model}
          title={model.since === cycle.number ? t("run.change.summaryRevised") : t("run.change.summary", { number: model.since })}
          select={select}
        />
      )}
      <Part title={t("run.ask.envelope")}>
        <ul className={classes.envelope}>
          <li>
            <IconFolder size={16} stroke={1.6} aria-hidden />
            <span>
              {envelope.write ? t("run.ask.writes") : t("run.ask.reads")}{" "}
              <span className={classes.path} title={envelope.folder}>
                {folderName(envelope.folder)}
              </span>
            </span>
          </li>
          {writtenPaths(cycle).map((path) => (
            <li key={path} className={classes.write}>
              <IconPencil size={16} stroke={1.6} aria-hidden />
              <span>{t("run.inspector.writes", { path })}</span>
            </li>
          ))}
        </ul>
        <Granted envelope={envelope} />
        <p className={classes.note}>
          {t("run.ask.limits", {
            cycles: t("common.cycles", { count: envelope.maxCycles }),
            tokens: t("common.tokens", { count: envelope.maxTokens, shown: count(envelope.maxTokens) }),
          })}
          {envelope.maxCost !== undefined && `, ${money(envelope.maxCost, state.cost.currency)}`}
          {envelope.maxMinutes !== undefined && `, ${t("run.ask.minutes", { count: envelope.maxMinutes })}`}
          {"."}
        </p>
        {state.tokensUsed > 0 && (
          <p className={classes.note}>
            {t("run.tokensOf", { used: count(state.tokensUsed), limit: count(envelope.maxTokens) })} {t("run.ask.usedSoFar")}
          </p>
        )}
      </Part>
    </>
  );
}

/** What is granted beside the folder, and what happens with everything else. */
function Granted({ envelope }: { envelope: Envelope }) {
  const t = useText();
  const granted = grantedBeside(envelope, t);
  const refused = refusedEffects(envelope, t);
  return (
    <>
      {granted.length > 0 && (
        <ul className={classes.granted}>
          {granted.map(({ verb, what }) => (
            <li key={`${verb} ${what}`}>
              <span>{verb}</span> <code>{what}</code>
            </li>
          ))}
        </ul>
      )}
      {refused.length > 0 && (
        <section aria-label={t("effects.refused")}>
          <p className={classes.note}>{t("effects.refused")}</p>
          <ul className={classes.granted} data-refused>
            {refused.map(({ verb, what }) => (
              <li key={`${verb} ${what}`}>
                <span>{verb}</span> <code>{what}</code>
              </li>
            ))}
          </ul>
        </section>
      )}
      <p className={classes.note}>{t(`run.ask.else.${envelope.preset ?? "normal"}`)}</p>
      {envelope.commands?.kind === "off" && <p className={classes.note}>{t("run.ask.commandsOff")}</p>}
    </>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  return (
    <section className={classes.part}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** Where the plan itself says that it writes. */
function writtenPaths(cycle: CycleState): string[] {
  const paths = (cycle.plan?.steps ?? []).flatMap((step) => {
    const args = step.args?.["file_write"];
    if (typeof args !== "object" || args === null || !("path" in args)) return [];
    return typeof args.path === "string" ? [args.path] : [];
  });
  return [...new Set(paths)];
}

/** What is different from the plan before, step by step. */
export function Changes({ model, title, select }: { model: GraphModel; title: string; select: (id: string) => void }) {
  const t = useText();
  const marked = (mark: GraphNode["mark"]) => model.nodes.filter((node) => node.mark === mark);
  const [changed, added, removed] = [marked("changed"), marked("added"), marked("removed")];
  const kept = model.nodes.length - changed.length - added.length - removed.length;
  const isSame = changed.length + added.length + removed.length === 0;
  const counts = [
    changed.length > 0 && t("run.change.changed", { count: changed.length }),
    added.length > 0 && t("run.change.added", { count: added.length }),
    removed.length > 0 && t("run.change.removed", { count: removed.length }),
    kept > 0 && t("run.change.same", { count: kept }),
  ].filter(Boolean);
  return (
    <Part title={title}>
      <p className={classes.note}>{isSame ? t("run.change.none") : counts.join(" · ")}</p>
      {!isSame && (
        <ul className={classes.changes}>
          {[...changed, ...added, ...removed].map((node) => (
            <li key={node.id}>
              <button type="button" onClick={() => select(node.id)} data-mark={node.mark}>
                <span className={classes.sign} aria-hidden>
                  {node.mark === "added" ? "+" : node.mark === "removed" ? "−" : "~"}
                </span>
                <span>
                  {stepTitle(node.step)}
                  <VisuallyHidden>, </VisuallyHidden>
                  <small>
                    {node.mark === "changed" ? node.parts.map((part) => t(`run.change.parts.${part}`)).join(", ") : t(`run.change.mark.${node.mark === "added" ? "added" : "removed"}`)}
                  </small>
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Part>
  );
}

/** What a person can say to the plan; it stays in sight while they look at its steps. */
export function PlanAnswers({ runId, questionKey, plan, recorded }: { runId: string; questionKey: Key; plan: Plan | null; recorded: boolean }) {
  const t = useText();
  const answer = useAnswer(runId);
  const begin = usePlanEdits((edits) => edits.begin);
  const [mode, setMode] = useState<"choose" | "changes">("choose");
  const [rejects, setRejects] = useState(false);
  const [words, setWords] = useState("");
  const send = (value: Answer) => answer.mutate({ key: questionKey, answer: value }, { onSuccess: focusScreen, onError: tellError });
  const sendWords = () => {
    if (words.trim() !== "") send({ kind: "askForChanges", words: words.trim() });
  };

  if (mode === "changes") {
    return (
      <div className={classes.form}>
        <Textarea
          label={t("run.ask.changesLabel")}
          description={t("run.ask.changesHint")}
          autosize
          minRows={3}
          maxRows={8}
          data-autofocus
          autoFocus
          value={words}
          onChange={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") {
              event.preventDefault();
              setMode("choose");
            } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) sendWords();
          }}
        />
        <div className={classes.buttons}>
          <Button variant="default" onClick={() => setMode("choose")}>
            {t("common.cancel")}
          </Button>
          <Button loading={answer.isPending} disabled={words.trim() === ""} onClick={sendWords} title={shortcuts.send}>
            {t("run.ask.changesSend")}
          </Button>
        </div>
      </div>
    );
  }
  return (
    <>
      <div className={classes.approve}>
        <Button.Group>
          <Button className={classes.grow ?? ""} loading={answer.isPending} onClick={() => send({ kind: "approve", revisions: false })}>
            {t("run.ask.approve")}
          </Button>
          <Menu position="top-end" width={300}>
            <Menu.Target>
              <Button className={classes.split ?? ""} px={9} disabled={answer.isPending} aria-label={t("run.ask.moreAnswers")}>
                <IconChevronDown size={16} stroke={1.8} />
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => send({ kind: "approve", revisions: true })}>
                {t("run.ask.approveRevisions")}
                <p className={classes.note}>{t("run.ask.approveRevisionsHint")}</p>
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </Button.Group>
      </div>
      <div className={classes.buttons} data-even>
        {/* A recording cannot answer to steps, or to words, that it has never heard. */}
        {plan && !recorded && (
          <Button variant="default" disabled={answer.isPending} leftSection={<IconEdit size={16} stroke={1.6} />} onClick={() => begin(questionKey, plan)}>
            {t("run.ask.edit")}
          </Button>
        )}
        {!recorded && (
          <Button variant="default" disabled={answer.isPending} onClick={() => setMode("changes")}>
            {t("run.ask.changes")}
          </Button>
        )}
        <Button variant="default" disabled={answer.isPending} onClick={() => setRejects(true)}>
          {t("run.ask.reject")}
        </Button>
      </div>
      <RejectDialog what="plan" opened={rejects} close={() => setRejects(false)} send={(reason) => send({ kind: "reject", reason })} />
    </>
  );
}
