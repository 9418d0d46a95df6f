// Places a plan's steps from top to bottom and routes the lines between them. Same plan, same picture.

import { Graph, layout as dagreLayout } from "@dagrejs/dagre";
import { type Point, roundedPath } from "./path.ts";

/** The size of a step's card. */
export const NODE = { width: 240, height: 72 } as const;

const gap = { beside: 24, below: 52 } as const;
const cornerRadius = 10;
const manyNodes = 120;

/** What is to be placed. */
export interface LayoutNode {
  id: string;
  /** The ids of the nodes that stand before this one. Unknown ids are ignored. */
  after: readonly string[];
}

/** A line that has found its way. */
export interface PlacedEdge {
  id: string;
  source: string;
  target: string;
  path: string;
}

/** Top-left corners by id, and the lines. */
export interface Layout {
  nodes: Map<string, Point>;
  edges: PlacedEdge[];
  width: number;
  height: number;
}

/** Lays the nodes out in ranks. A circle in the input is broken, never an endless loop. */
export function layoutGraph(input: readonly LayoutNode[]): Layout {
  const graph = new Graph({ multigraph: false });
  // The tidiest arrangement of a very large plan would take longer than anybody waits.
  const large = input.length > manyNodes;
  const ranker = large ? "longest-path" : "network-simplex";
  graph.setGraph({ rankdir: "TB", nodesep: gap.beside, ranksep: gap.below, edgesep: 24, ranker });
  graph.setDefaultEdgeLabel(() => ({}));
  const known = new Set(input.map((node) => node.id));
  for (const node of input) graph.setNode(node.id, { ...NODE });
  for (const node of input) {
    for (const before of node.after) {
      if (known.has(before) && before !== node.id) graph.setEdge(before, node.id);
    }
  }
  dagreLayout(graph, { disableOptimalOrderHeuristic: large });

  const nodes = new Map<string, Point>();
  const rows = new Set<number>();
  let width = 0;
  let height = 0;
  for (const id of known) {
    const at = graph.node(id) as Point;
    const corner = { x: Math.round(at.x - NODE.width / 2), y: Math.round(at.y - NODE.height / 2) };
    nodes.set(id, corner);
    rows.add(corner.y);
    width = Math.max(width, corner.x + NODE.width);
    height = Math.max(height, corner.y + NODE.height);
  }
  const ordered = [...rows].toSorted((a, b) => a - b);

  const edges: PlacedEdge[] = [];
  for (const node of input) {
    for (const before of new Set(node.after)) {
      const from = nodes.get(before);
      const to = nodes.get(node.id);
      if (!from || !to || before === node.id) continue;
      const bends = (graph.edge(before, node.id) as { points?: Point[] } | undefined)?.points ?? [];
      edges.push({
        id: `${before}->${node.id}`,
        source: before,
        target: node.id,
        path: roundedPath(route(from, to, bends, ordered), cornerRadius),
      });
    }
  }
  return { nodes, edges, width, height };
}

/** Down from one card, across in the gaps between the rows, past the cards in between, into the other card. */
function route(from: Point, to: Point, bends: readonly Point[], rows: readonly number[]): Point[] {
  const points: Point[] = [{ x: from.x + NODE.width / 2, y: from.y + NODE.height }];
  const passed = rows.filter((row) => row > from.y && row < to.y);
  const stops = [
    ...passed.map((row) => ({ x: crossing(bends, row) ?? points[0]?.x ?? 0, y: row, through: true })),
    { x: to.x + NODE.width / 2, y: to.y, through: false },
  ];
  for (const stop of stops) {
    const last = points.at(-1);
    if (!last) break;
    const between = stop.y - gap.below / 2;
    points.push({ x: last.x, y: between }, { x: stop.x, y: between }, { x: stop.x, y: stop.y });
    if (stop.through) points.push({ x: stop.x, y: stop.y + NODE.height });
  }
  return points;
}

function crossing(bends: readonly Point[], row: number): number | undefined {
  const inside = bends.find((point) => point.y >= row && point.y <= row + NODE.height);
  return inside && Math.round(inside.x);
}
