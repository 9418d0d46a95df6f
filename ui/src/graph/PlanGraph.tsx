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
import { useEffect, useMemo, useState } from "react";
import type { WaitingFor } from "../contract/index.ts";
import type { Halted } from "../state/run.ts";
import { useText } from "../text/index.ts";
import { layoutGraph, NODE } from "./layout.ts";
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
const manyNodes = 30;
const fit = { padding: 0.06, maxZoom: 1, minZoom: 0.2 };

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
  const t = useText();
  const shape = JSON.stringify(layoutInput(model.nodes));
  const layout = useMemo(() => layoutGraph(JSON.parse(shape) as ReturnType<typeof layoutInput>), [shape]);

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
        nodes={nodes}
        edges={edges}
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
        fitView
        fitViewOptions={fit}
        onPaneClick={() => {
          select(null);
          setLine(null);
        }}
        proOptions={{ hideAttribution: true }}
        aria-label={label}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.5} color="var(--t-dots)" />
        {nodes.length > manyNodes && <MiniMap pannable className={classes.map ?? ""} nodeColor="var(--t-border-strong)" maskColor="transparent" />}
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
      <KeepFitted shape={shape} />
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

/** Shows the whole plan again when its shape or the room for it changes. */
function KeepFitted({ shape }: { shape: string }) {
  const { fitView } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  useEffect(() => {
    const frame = requestAnimationFrame(() => void fitView(fit));
    return () => cancelAnimationFrame(frame);
  }, [shape, width, height, fitView]);
  return null;
}

function edgeStanding(source: GraphNode | undefined, target: GraphNode | undefined): Standing {
  if (!source || !target || target.mark === "removed") return "ghost";
  const handedOn = source.state?.status === "done" || source.state?.status === "kept";
  const status = target.state?.status ?? "waiting";
  if (!handedOn || status === "waiting" || status === "skipped") return "idle";
  return status === "running" ? "running" : "passed";
}
