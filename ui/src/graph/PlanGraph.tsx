// A cycle's plan as a graph. Laid out once for each shape; while steps come to life only their cards are drawn again.

import "@xyflow/react/dist/base.css";
import { ActionIcon, Button, Tooltip } from "@mantine/core";
import {
  Background,
  BackgroundVariant,
  BaseEdge,
  type Connection,
  type Edge,
  type EdgeProps,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
} from "@xyflow/react";
import { IconList, IconMaximize, IconMinus, IconPlus } from "@tabler/icons-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { StepStatus, WaitingFor } from "../contract/index.ts";
import type { Halted } from "../state/run.ts";
import { useText } from "../text/index.ts";
import { type Layout, layoutGraph, NODE } from "./layout.ts";
import type { Point } from "./path.ts";
import { type GraphModel, type GraphNode, layoutInput, nodeId, questionOf, stepTitle } from "./model.ts";
import classes from "./PlanGraph.module.css";
import { type StepFlowNode, StepNode } from "./StepNode.tsx";

type Standing = "idle" | "passed" | "running" | "ghost";
const prominence: Record<Standing, number> = { ghost: 0, idle: 1, passed: 2, running: 3 };
type PathEdge = Edge<{ path: string; standing: Standing; chosen: boolean }, "path">;

const nodeTypes = { step: StepNode };
const edgeTypes = {
  path: ({ id, data }: EdgeProps<PathEdge>) => (
    <BaseEdge id={id} path={data?.path ?? ""} className={classes.edge} data-standing={data?.standing} data-chosen={data?.chosen || undefined} />
  ),
};
const noNodes: StepFlowNode[] = [];
const noEdges: PathEdge[] = [];
const manyNodes = 30;
const fit = { padding: 0.06, maxZoom: 1, minZoom: 0.2 };
/** Below this the words on the cards cannot be read: a plan that needs it is shown in part. */
const legible = 0.55;
/** How large a plan is that is shown in part. */
const inPart = 0.8;

interface PlanGraphProps {
  model: GraphModel;
  label: string;
  selected: string | null;
  select: (id: string | null) => void;
  /** The steps that a person is asked about, by id. */
  asked: ReadonlyMap<string, WaitingFor>;
  /** Says yes to a question about a step, from its card. */
  allow: (question: WaitingFor) => void;
  halted: Halted;
  /** What a step's model calls cost so far; empty where that is not known. */
  costOf: (node: GraphNode) => string;
  showList: () => void;
  /** Changes the plan, while a person may. */
  editing?: GraphEditing | undefined;
}

/** What a person can do to the lines and cards of a plan. */
export interface GraphEditing {
  /** What is wrong with each step. */
  problems: ReadonlyMap<string | null, readonly string[]>;
  connect: (from: string, to: string) => void;
  disconnect: (from: string, to: string) => void;
}

/** The graph, with its controls at the bottom left. */
export function PlanGraph(props: PlanGraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function problemOf(node: GraphNode, editing: GraphEditing | undefined): string | null {
  return (node.id === nodeId(node.step.id) && editing?.problems.get(node.step.id)?.[0]) || null;
}

function Flow({ model, label, selected, select, asked, allow, halted, costOf, showList, editing }: PlanGraphProps) {
  const [line, setLine] = useState<string | null>(null);
  const [moved, setMoved] = useState(false);
  const forget = useCallback(() => setMoved(false), []);
  const t = useText();
  const shape = JSON.stringify(layoutInput(model.nodes));
  const layout = useMemo(() => layoutGraph(JSON.parse(shape) as ReturnType<typeof layoutInput>), [shape]);

  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const room = 1 + 2 * fit.padding;
  const isLarge = width > 0 && Math.min(width / (layout.width * room), height / (layout.height * room)) < legible;
  const focus = layout.nodes.get(focusOf(model.nodes)?.id ?? "") ?? null;

  const nodes = useMemo(
    (): StepFlowNode[] =>
      model.nodes.map((node) => ({
        id: node.id,
        type: "step",
        position: layout.nodes.get(node.id) ?? { x: 0, y: 0 },
        width: NODE.width,
        height: NODE.height,
        selected: node.id === selected,
        data: {
          node,
          question: questionOf(node, asked),
          halted,
          cost: costOf(node),
          select,
          allow,
          editable: editing !== undefined && node.id === nodeId(node.step.id),
          problem: problemOf(node, editing),
        },
      })),
    [model, layout, selected, asked, allow, halted, costOf, select, editing],
  );
  const edges = useMemo((): PathEdge[] => {
    const byId = new Map(model.nodes.map((node) => [node.id, node]));
    const drawn = layout.edges.map(({ id, source, target, path }): PathEdge => ({
      id,
      source,
      target,
      type: "path",
      data: { path, standing: edgeStanding(byId.get(source), byId.get(target)), chosen: id === line },
    }));
    // Lines share their way; what is lit lies on top.
    const rank = ({ data }: PathEdge) => (data?.chosen ? 9 : prominence[data?.standing ?? "idle"]);
    return drawn.toSorted((a, b) => rank(a) - rank(b));
  }, [model, layout, line]);
  const step = (id: string | null) => model.nodes.find((node) => node.id === id && node.id === nodeId(node.step.id))?.step ?? null;
  const chosen = editing ? layout.edges.find(({ id }) => id === line) : undefined;
  const [from, to] = [step(chosen?.source ?? null), step(chosen?.target ?? null)];
  const join = ({ source, target }: Connection) => {
    const [before, after] = [step(source), step(target)];
    if (before && after) editing?.connect(before.id, after.id);
  };

  return (
    <div className={classes.graph}>
      <ReactFlow
        // Before the room is known everything would be drawn, however much that is.
        nodes={width > 0 ? nodes : noNodes}
        edges={width > 0 ? edges : noEdges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={editing !== undefined}
        onConnect={join}
        connectionRadius={48}
        onEdgeClick={(_event, edge) => setLine(edge.id)}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnDoubleClick={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        disableKeyboardA11y
        // In a small plan every card can be reached by Tab, in sight or not.
        onlyRenderVisibleElements={nodes.length > 4 * manyNodes}
        minZoom={0.2}
        maxZoom={1.6}
        // The person's own hand, and not ours, comes with an event.
        onMoveStart={(event) => event && setMoved(true)}
        onPaneClick={() => {
          select(null);
          setLine(null);
        }}
        proOptions={{ hideAttribution: true }}
        aria-label={label}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.5} color="var(--t-dots)" />
        {(nodes.length > manyNodes || isLarge) && <MiniMap pannable className={classes.map ?? ""} nodeColor="var(--t-border-strong)" maskColor="transparent" />}
        {editing && from && to && (
          <Panel position="top-center" className={classes.line ?? ""}>
            <span>{t("run.edit.line", { from: stepTitle(from), to: stepTitle(to) })}</span>
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                editing.disconnect(from.id, to.id);
                setLine(null);
              }}
            >
              {t("run.edit.disconnect")}
            </Button>
          </Panel>
        )}
        <Controls showList={showList} />
      </ReactFlow>
      <KeepInView shape={shape} layout={layout} isLarge={isLarge} at={focus} moved={moved} forget={forget} />
    </div>
  );
}

function Controls({ showList }: { showList: () => void }) {
  const t = useText();
  const flow = useReactFlow();
  const buttons = [
    { label: t("run.graph.zoomIn"), icon: IconPlus, act: () => void flow.zoomIn({ duration: 150 }) },
    { label: t("run.graph.zoomOut"), icon: IconMinus, act: () => void flow.zoomOut({ duration: 150 }) },
    { label: t("run.graph.fit"), icon: IconMaximize, act: () => void flow.fitView({ ...fit, duration: 180 }) },
    { label: t("run.graph.asList"), icon: IconList, act: showList },
  ];
  return (
    <Panel position="bottom-left" className={classes.controls ?? ""}>
      {buttons.map(({ label, icon: Icon, act }) => (
        <Tooltip key={label} label={label}>
          <ActionIcon onClick={act} aria-label={label} size={30}>
            <Icon size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      ))}
    </Panel>
  );
}

/** The step to look at: the first that is asked about, at work or failed, otherwise the first that is still to come. */
function focusOf(nodes: readonly GraphNode[]): GraphNode | undefined {
  const standing = (node: GraphNode) => node.state?.status ?? "waiting";
  const first = (...wanted: readonly StepStatus[]) => nodes.find((node) => node.mark !== "removed" && wanted.includes(standing(node)));
  return first("waiting_for_person", "uncertain") ?? first("running") ?? first("failed") ?? first("waiting") ?? nodes.at(-1);
}

/** The middle of what is shown, as near to `wanted` as it can be without showing much beside the plan. */
function inside(wanted: number, shown: number, whole: number): number {
  const margin = 32;
  if (whole + 2 * margin <= shown) return whole / 2;
  return Math.min(Math.max(wanted, shown / 2 - margin), whole - shown / 2 + margin);
}

interface KeepInViewProps {
  shape: string;
  layout: Layout;
  isLarge: boolean;
  /** Where the step to look at stands. */
  at: Point | null;
  /** Whether the person has moved the plan since it was placed. */
  moved: boolean;
  forget: () => void;
}

/**
 * Shows the whole plan when its shape or the room for it changes. One that would be too small to read is shown in part:
 * the step at work and what is around it, and it goes along with the work until the person moves it.
 */
function KeepInView({ shape, layout, isLarge, at, moved, forget }: KeepInViewProps) {
  const { fitView, setCenter } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  // A plan that is in sight whole stays where it is.
  const x = isLarge && at ? inside(at.x + NODE.width / 2, width / inPart, layout.width) : 0;
  const y = isLarge && at ? inside(at.y + NODE.height / 2, height / inPart, layout.height) : 0;
  useEffect(forget, [shape, width, height, forget]);
  useEffect(() => {
    const show = () => void (isLarge ? setCenter(x, y, { zoom: inPart }) : fitView(fit));
    if (moved) return;
    const frame = requestAnimationFrame(show);
    return () => cancelAnimationFrame(frame);
  }, [shape, width, height, isLarge, moved, x, y, fitView, setCenter]);
  return null;
}

function edgeStanding(source: GraphNode | undefined, target: GraphNode | undefined): Standing {
  if (!source || !target || target.mark === "removed") return "ghost";
  const handedOn = source.state?.status === "done" || source.state?.status === "kept";
  const status = target.state?.status ?? "waiting";
  if (!handedOn || status === "waiting" || status === "skipped") return "idle";
  return status === "running" ? "running" : "passed";
}
