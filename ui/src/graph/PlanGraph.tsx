// A cycle's plan as a graph. Laid out once for each shape; while steps come to life only their cards are drawn again.

import "@xyflow/react/dist/base.css";
import { ActionIcon, Tooltip } from "@mantine/core";
import {
  Background,
  BackgroundVariant,
  BaseEdge,
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
import { useEffect, useMemo } from "react";
import type { WaitingFor } from "../contract/index.ts";
import type { Halted } from "../state/run.ts";
import { useText } from "../text/index.ts";
import { layoutGraph, NODE } from "./layout.ts";
import { type GraphModel, type GraphNode, layoutInput, questionOf } from "./model.ts";
import classes from "./PlanGraph.module.css";
import { type StepFlowNode, StepNode } from "./StepNode.tsx";

type Standing = "idle" | "passed" | "running" | "ghost";
const prominence: Record<Standing, number> = { ghost: 0, idle: 1, passed: 2, running: 3 };
type PathEdge = Edge<{ path: string; standing: Standing }, "path">;

const nodeTypes = { step: StepNode };
const edgeTypes = {
  path: ({ id, data }: EdgeProps<PathEdge>) => (
    <BaseEdge id={id} path={data?.path ?? ""} className={classes.edge} data-standing={data?.standing} />
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
  showList: () => void;
}

/** The graph, with its controls at the bottom left. */
export function PlanGraph(props: PlanGraphProps) {
  return (
    <ReactFlowProvider>
      <Flow {...props} />
    </ReactFlowProvider>
  );
}

function Flow({ model, label, selected, select, asked, allow, halted, showList }: PlanGraphProps) {
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
        data: { node, question: questionOf(node, asked), halted, select, allow },
      })),
    [model, layout, selected, asked, allow, halted, select],
  );
  const edges = useMemo((): PathEdge[] => {
    const byId = new Map(model.nodes.map((node) => [node.id, node]));
    const drawn = layout.edges.map(({ id, source, target, path }): PathEdge => ({
      id,
      source,
      target,
      type: "path",
      data: { path, standing: edgeStanding(byId.get(source), byId.get(target)) },
    }));
    // Lines share their way; what is lit lies on top.
    return drawn.toSorted((a, b) => prominence[a.data?.standing ?? "idle"] - prominence[b.data?.standing ?? "idle"]);
  }, [model, layout]);

  return (
    <div className={classes.graph}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        nodesDraggable={false}
        nodesConnectable={false}
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
        onPaneClick={() => select(null)}
        proOptions={{ hideAttribution: true }}
        aria-label={label}
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1.5} color="var(--t-dots)" />
        {nodes.length > manyNodes && <MiniMap pannable className={classes.map ?? ""} nodeColor="var(--t-border-strong)" maskColor="transparent" />}
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
