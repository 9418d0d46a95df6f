// Rules that a task brings for its runs, as they are written in its text and as a person chooses them. Whether a rule is
// right is decided by the app.

import type { HookRule } from "../contract/index.ts";
import { isRecord } from "./value.ts";

/** What a rule is about; each has its own line in the letter. */
export type RuleKind = "askPlan" | "askStep" | "askTool" | "forbid" | "maxSteps" | "stop" | "accept";

/** Every kind, in the order in which they are offered. */
export const ruleKinds: readonly RuleKind[] = ["askStep", "askTool", "askPlan", "forbid", "maxSteps", "stop", "accept"];

/** The rule that a kind begins with; `tool` is the tool that is offered first. */
export function freshRule(kind: RuleKind, tool: string): HookRule {
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
