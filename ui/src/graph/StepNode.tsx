// A step as a card of 240 x 72. Further away it becomes an icon with a name, and then a coloured tile.

import { VisuallyHidden } from "@mantine/core";
import { Handle, type Node, type NodeProps, Position, useStore } from "@xyflow/react";
import { memo } from "react";
import { Mark, toneOf } from "../components/Mark.tsx";
import { useNow } from "../components/Time.tsx";
import type { StepState, WaitingFor } from "../contract/index.ts";
import { duration, short } from "../state/format.ts";
import { type Halted, markOfStep } from "../state/run.ts";
import { isOurs, toolName } from "../state/toolName.ts";
import { useText } from "../text/index.ts";
import { type GraphNode, stepTitle } from "./model.ts";
import classes from "./StepNode.module.css";
import { ToolIcon } from "./tools.ts";

/** What React Flow carries for a card. */
export type StepNodeData = {
  node: GraphNode;
  /** What a person is asked about this step. */
  question: WaitingFor | null;
  halted: Halted;
  /** What its model calls cost; empty where that is not known. */
  cost: string;
  select: (id: string) => void;
  allow: (question: WaitingFor) => void;
  /** Whether lines can be drawn from it and to it. */
  editable: boolean;
  /** What is wrong with the step as a person changed it. */
  problem: string | null;
};
/** A card in React Flow's words. */
export type StepFlowNode = Node<StepNodeData, "step">;

type Distance = "near" | "half" | "middle" | "far";

function distance(zoom: number): Distance {
  if (zoom < 0.3) return "far";
  if (zoom < 0.6) return "middle";
  return zoom < 0.82 ? "half" : "near";
}

/** The card. */
export const StepNode = memo(function StepNode({ data, selected }: NodeProps<StepFlowNode>) {
  const t = useText();
  const seen = useStore((state) => distance(state.transform[2]));
  const { node, question, halted, cost, editable, problem } = data;
  const asks = question !== null;
  const status = node.state?.status ?? "waiting";
  const title = stepTitle(node.step) || t("run.edit.newStep");
  const kind = asks ? "person" : markOfStep(status, halted);
  const word = !asks && status === "running" && halted ? t(`run.graph.halted.${halted}`) : t(`run.step.${asks ? "waiting_for_person" : status}`);
  const changeWord = node.mark && (node.mark === "carried" ? t("run.change.mark.carried", { number: node.cycle }) : t(`run.change.mark.${node.mark}`));
  return (
    <>
      <Handle type="target" position={Position.Top} className={(editable ? classes.socket : classes.handle) ?? ""} isConnectable={editable} />
      <button
        type="button"
        className={classes.card}
        data-status={asks ? "waiting_for_person" : status === "running" && halted ? "halted" : status}
        data-tone={toneOf[kind]}
        data-mark={node.mark ?? undefined}
        data-distance={seen}
        data-step={node.step.id}
        data-problem={problem === null ? undefined : true}
        aria-pressed={selected}
        onClick={() => data.select(node.id)}
      >
        <span className={classes.head}>
          {node.mark !== "removed" && <Mark kind={problem === null ? kind : "failed"} size={seen === "middle" ? 24 : 16} />}
          <span className={classes.name}>{title}</span>
          <VisuallyHidden>{`, ${word}, `}</VisuallyHidden>
        </span>
        {(seen === "near" || seen === "half") && (
          <span className={classes.foot}>
            {problem === null ? <Foot node={node} halted={halted} question={question} cost={cost} /> : <span className={classes.problem} title={problem}>{problem}</span>}
          </span>
        )}
        {changeWord && seen !== "far" && (
          <span className={classes.corner} data-mark={node.mark}>
            <VisuallyHidden>, </VisuallyHidden>
            {changeWord}
          </span>
        )}
      </button>
      {question?.ask.kind === "runStep" && (seen === "near" || seen === "half") && (
        <button type="button" className={classes.allow} data-distance={seen} onClick={() => data.allow(question)}>
          {t("run.stepQuestion.allow")}
          <VisuallyHidden>: {title}</VisuallyHidden>
        </button>
      )}
      <Handle type="source" position={Position.Bottom} className={(editable ? classes.socket : classes.handle) ?? ""} isConnectable={editable} />
    </>
  );
});

function Foot({ node, halted, question, cost }: { node: GraphNode; halted: Halted; question: WaitingFor | null; cost: string }) {
  const t = useText();
  const { step, state } = node;
  if (question?.ask.kind === "runStep") return <span className={classes.asks}>{t("run.stepQuestion.onNode")}</span>;
  if (question?.ask.kind === "permission") return <span className={classes.asks}>{t("run.permission.onNode")}</span>;
  if (question?.ask.kind === "gate") return <span className={classes.asks}>{t("run.gate.onNode")}</span>;
  const [tool, ...more] = step.tools;
  return (
    <>
      <ToolIcon tool={tool} />
      <span className={classes.tool} data-mono={(tool !== undefined && !isOurs(tool)) || undefined} title={step.tools.join(", ")}>
        {tool === undefined ? t("run.graph.thinking") : more.length > 0 ? `${toolName(tool, t)} +${more.length}` : toolName(tool, t)}
      </span>
      <span className={classes.facts}>
        {step.tier === "high" && <span className={classes.tier} title={t("run.inspector.tierHigh")} />}
        <Facts state={state} halted={halted} cost={cost} />
      </span>
    </>
  );
}

function Facts({ state, halted, cost }: { state: StepState | null; halted: Halted; cost: string }) {
  const t = useText();
  if (!state) return null;
  switch (state.status) {
    case "kept":
      return <>{t("run.graph.kept")}</>;
    case "running":
      if (halted) return <>{t(`run.graph.halted.${halted}`)}</>;
      return state.startedAtMs === null ? null : <Elapsed since={state.startedAtMs} />;
    case "done":
    case "failed":
      return (
        <>
          {cost !== "" ? `${cost} · ` : state.tokensUsed > 0 && `${short(state.tokensUsed)} tok · `}
          {state.durationMs !== null && duration(state.durationMs)}
        </>
      );
    case "skipped":
      return <>{t("run.step.skipped")}</>;
    case "uncertain":
      return <>{t("run.graph.uncertain")}</>;
    case "waiting":
    case "waiting_for_person":
      return null;
  }
}

/** The time since a moment, counting. */
export function Elapsed({ since }: { since: number }) {
  const now = useNow(500);
  return <>{duration(now - since)}</>;
}
