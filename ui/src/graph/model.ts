// What the graph of a cycle shows: the plan's steps, results kept from earlier cycles, and what the new plan left out.

import type { CycleState, Plan, PlanStep, RunEventRecord, StepState, WaitingFor } from "../contract/index.ts";
import { entry } from "../state/runState.ts";
import { type ChangedPart, diffPlans, type PlanDiff } from "./diff.ts";
import type { LayoutNode } from "./layout.ts";

/** How a node stands to the plan before. */
export type NodeMark = "changed" | "added" | "removed" | "carried" | null;

/** One card in the graph. */
export interface GraphNode {
  id: string;
  step: PlanStep;
  /** The cycle whose step this is: an earlier one for what is kept or was removed. */
  cycle: number;
  state: StepState | null;
  mark: NodeMark;
  parts: ChangedPart[];
  before: PlanStep | null;
  after: string[];
}

/** A cycle's picture. */
export interface GraphModel {
  nodes: GraphNode[];
  /** The difference to the plan before; none for the first. */
  diff: PlanDiff | null;
  /** The cycle that the difference is to; this cycle itself when a person asked for another plan in it. */
  since: number | null;
}

/** The id of a step's card. */
export function nodeId(step: string): string {
  return `step:${step}`;
}

const reference = /^cycle_(\d+)\.(.+)$/;

/** Reads `cycle_1.step_3`; null when it is not of that form. */
export function readInput(input: string): { cycle: number; step: string } | null {
  const found = reference.exec(input);
  return found?.[1] && found[2] ? { cycle: Number(found[1]), step: found[2] } : null;
}

/** Builds the picture of one cycle among all. `refused` is the plan that a person sent back in this cycle, if any. */
export function graphModel(cycles: readonly CycleState[], cycle: CycleState, refused: Plan | null = null): GraphModel {
  const { plan } = cycle;
  if (!plan) return { nodes: [], diff: null, since: null };
  const previous = cycles.findLast((other) => other.number < cycle.number && other.plan !== null);
  const before = refused ?? previous?.plan ?? null;
  const since = refused ? cycle.number : (previous?.number ?? null);
  const diff = before && since !== null ? diffPlans(before, plan, previous?.number ?? 0) : null;
  const nodes = [...stepNodes(cycle, plan, diff), ...carriedNodes(cycles, plan)];
  if (diff && since !== null) nodes.push(...removedNodes(since, diff));
  return { nodes, diff, since };
}

/** The plan that a person sent back with words or changed by hand, when the present one of a cycle came of that. */
export function refusedPlan(records: readonly RunEventRecord[], length: number, cycle: number): Plan | null {
  let proposed: Plan | null = null;
  let refused: Plan | null = null;
  let current = 0;
  for (let index = 0; index < length; index += 1) {
    const event = records[index]?.event;
    if (event?.type === "planProposed" && event.cycle === cycle) proposed = event.plan;
    else if (event?.type === "cycleStarted") current = event.cycle;
    else if (event?.type === "planChanged" && event.cycle === cycle && event.by.length === 0) {
      refused = proposed;
      proposed = event.plan;
    }
    else if (event?.type === "personAnswered" && event.answer.kind === "askForChanges" && current === cycle) refused = proposed;
  }
  return refused === proposed ? null : refused;
}

function stepNodes(cycle: CycleState, plan: Plan, diff: PlanDiff | null): GraphNode[] {
  return plan.steps.map((step, index) => {
    const compared = diff?.steps[index];
    const mark = compared && compared.change !== "same" ? compared.change : null;
    return {
      id: nodeId(step.id),
      step,
      cycle: cycle.number,
      state: entry(cycle.steps, step.id) ?? null,
      mark,
      parts: compared?.parts ?? [],
      before: compared?.before ?? null,
      after: [...step.dependencies.map(nodeId), ...(step.inputs ?? []).map((input) => `carried:${input}`)],
    };
  });
}

function carriedNodes(cycles: readonly CycleState[], plan: Plan): GraphNode[] {
  const inputs = new Set(plan.steps.flatMap((step) => step.inputs ?? []));
  return [...inputs].flatMap((input) => {
    const from = readInput(input);
    const cycle = from && cycles.find((other) => other.number === from.cycle);
    const step = cycle?.plan?.steps.find((candidate) => candidate.id === from?.step);
    if (!cycle || !step) return [];
    const state = entry(cycle.steps, step.id) ?? null;
    return [{ id: `carried:${input}`, step, cycle: cycle.number, state, mark: "carried", parts: [], before: null, after: [] }];
  });
}

function removedNodes(since: number, diff: PlanDiff): GraphNode[] {
  const now = new Map(diff.steps.flatMap(({ step, before }) => (before ? [[before.id, nodeId(step.id)]] : [])));
  const removed = new Set(diff.removed.map((step) => step.id));
  return diff.removed.map((step) => ({
    id: `removed:${step.id}`,
    step,
    cycle: since,
    state: null,
    mark: "removed",
    parts: [],
    before: null,
    after: step.dependencies.flatMap((id) => (removed.has(id) ? [`removed:${id}`] : (now.get(id) ?? []))),
  }));
}

/** What the layout needs to know. */
export function layoutInput(nodes: readonly GraphNode[]): LayoutNode[] {
  return nodes.map(({ id, after }) => ({ id, after }));
}

/** The name on a card. */
export function stepTitle(step: PlanStep): string {
  return step.name ?? step.description;
}

/** The question about this very step; what is kept or was left out is not asked about. */
export function questionOf(node: GraphNode, asked: ReadonlyMap<string, WaitingFor>): WaitingFor | null {
  return node.id === nodeId(node.step.id) ? (asked.get(node.step.id) ?? null) : null;
}
