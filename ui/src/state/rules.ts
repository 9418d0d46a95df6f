// Rules that a task brings for its runs, as they are written in its text and as a person chooses them. Whether a rule is
// right is decided by the app.

import type { HookEvent, HookRule } from "../contract/index.ts";
import { isRecord } from "./value.ts";

/** What a rule is about; each has its own line in the letter. */
export type RuleKind = "askPlan" | "askStep" | "askTool" | "forbid" | "maxSteps" | "stop" | "accept" | "command" | "webhook";

/** Every kind, in the order in which they are offered. */
export const ruleKinds: readonly RuleKind[] = ["askStep", "askTool", "askPlan", "forbid", "maxSteps", "stop", "accept", "command", "webhook"];

/** The kinds that do something by themselves: each is allowed for itself. */
export const reachingKinds: readonly RuleKind[] = ["command", "webhook"];

/** A rule as it is written: what is as usual is left out. */
type FreshRule = Exclude<HookRule, { command: unknown } | { webhook: unknown }> | { command: { run: string; on: HookEvent } } | { webhook: { url: string; on: HookEvent } };

/** The rule that a kind begins with; `tool` is the tool that is offered first. */
export function freshRule(kind: RuleKind, tool: string): FreshRule {
  switch (kind) {
    case "askPlan":
      return { askMe: "plan" };
    case "askStep":
      return { askMe: "step" };
    case "askTool":
      return { askMe: { tool } };
    case "forbid":
      return { forbid: tool };
    case "maxSteps":
      return { maxSteps: 8 };
    case "stop":
      return { stop: { below: 0.5 } };
    case "accept":
      return { accept: { above: 0.9 } };
    case "command":
      return { command: { run: "", on: "postPlanner" } };
    case "webhook":
      return { webhook: { url: "https://", on: "postEvaluator" } };
  }
}

/** The kind of a rule as it is written; null for one that the letter does not know, which stays in the source. */
export function kindOfRule(rule: unknown): RuleKind | null {
  if (!isRecord(rule)) return null;
  const { askMe } = rule;
  if (askMe === "plan") return "askPlan";
  if (askMe === "step") return "askStep";
  if (isRecord(askMe) && typeof askMe["tool"] === "string") return "askTool";
  if (typeof rule["forbid"] === "string") return "forbid";
  if (typeof rule["maxSteps"] === "number") return "maxSteps";
  if (isRecord(rule["stop"]) && boundOf(rule["stop"])) return "stop";
  if (isRecord(rule["accept"]) && boundOf(rule["accept"])) return "accept";
  if (isRecord(rule["command"]) && typeof rule["command"]["run"] === "string") return "command";
  if (isRecord(rule["webhook"]) && typeof rule["webhook"]["url"] === "string") return "webhook";
  return null;
}

/** The tool that a rule names. */
export function toolOfRule(rule: unknown): string {
  if (!isRecord(rule)) return "";
  if (typeof rule["forbid"] === "string") return rule["forbid"];
  const { askMe } = rule;
  return isRecord(askMe) && typeof askMe["tool"] === "string" ? askMe["tool"] : "";
}

/** A bound of confidence: on which side of which number. */
export interface Bound {
  side: "below" | "above";
  value: number;
}

/** The bound of a `stop` or `accept`. */
export function boundOf(confidence: unknown): Bound | null {
  if (!isRecord(confidence)) return null;
  for (const side of ["below", "above"] as const) {
    const value = confidence[side];
    if (typeof value === "number") return { side, value };
  }
  return null;
}

/** A confidence from 0 to 1 as people read it, in percent and whole. */
export function percent(value: number): number {
  return Math.round(value * 100);
}

/** The places in a run at which a rule may be carried out, in their order. */
export const places: readonly HookEvent[] = ["prePlanner", "postPlanner", "preExecutor", "preStep", "postStep", "postExecutor", "preEvaluator", "postEvaluator"];

/** The places of a `command` or `webhook`, written as one or as a list. */
export function placesOf(rule: unknown): HookEvent[] {
  const inner = isRecord(rule) ? (rule["command"] ?? rule["webhook"]) : null;
  const on = isRecord(inner) ? inner["on"] : null;
  const written = Array.isArray(on) ? on : [on];
  return places.filter((place) => written.includes(place));
}
