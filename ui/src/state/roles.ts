// Which model does what, how much it thinks and what stands in for it, as the settings keep it and as a form shows it.

import type { Effort, Settings } from "../contract/index.ts";
import { usedModel } from "./connection.ts";

/** The roles, in the order in which they are shown. */
export const roles = ["planner", "judge", "low", "high"] as const;
/** A role. */
export type Role = (typeof roles)[number];

/** How a role is named where the settings keep its effort and its fallback. */
const kept = { planner: "planner", judge: "judge", low: "executorLow", high: "executorHigh" } as const;

/** What is set for a role; empty where nothing is. */
export interface RoleFields {
  model: string;
  effort: Effort | "";
  fallback: string;
}

/** The fields of each role. */
export type RoleForm = Record<Role, RoleFields>;

/** The fields for what is kept. */
export function rolesOf({ models, fallbacks }: Pick<Settings, "models" | "fallbacks">): RoleForm {
  const named = { planner: models.planner, judge: models.judge, low: models.executor?.low, high: models.executor?.high };
  const fields = (role: Role): RoleFields => ({
    model: named[role] ?? "",
    effort: models.reasoning?.[kept[role]] ?? "",
    fallback: fallbacks?.roles?.[kept[role]] ?? "",
  });
  return { planner: fields("planner"), judge: fields("judge"), low: fields("low"), high: fields("high") };
}

/** What is kept of the fields; what is set for accounts stays. */
export function settingsOf(form: RoleForm, before: Pick<Settings, "fallbacks">): Pick<Settings, "models" | "fallbacks"> {
  const model = (role: Role) => form[role].model.trim();
  const [planner, judge, low, high] = roles.map(model);
  const reasoning = Object.fromEntries(roles.flatMap((role) => (form[role].effort === "" ? [] : [[kept[role], form[role].effort]])));
  const standing = Object.fromEntries(roles.flatMap((role) => (form[role].fallback.trim() === "" ? [] : [[kept[role], form[role].fallback.trim()]])));
  return {
    models: {
      ...(planner && { planner }),
      ...(judge && { judge }),
      ...((low || high) && { executor: { ...(low && { low }), ...(high && { high }) } }),
      ...(Object.keys(reasoning).length > 0 && { reasoning }),
    },
    fallbacks: { ...before.fallbacks, roles: standing },
  };
}

/** Where the app names what is wrong with a field. */
export function placeOfField(role: Role, field: "model" | "fallback"): string {
  if (field === "fallback") return `fallbacks.roles.${kept[role]}`;
  return role === "low" || role === "high" ? `models.executor.${role}` : `models.${role}`;
}

/** Whether two forms say the same. */
export function sameRoles(one: RoleForm, other: RoleForm): boolean {
  const plain = (form: RoleForm) => roles.map((role) => [form[role].model.trim(), form[role].effort, form[role].fallback.trim()]);
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

/** Every model that a task asks when it names none, each once: fallbacks too. */
export function modelsInUse(settings: Settings): string[] {
  const form = rolesOf(settings);
  const set = roles.flatMap((role) => [form[role].model, form[role].fallback]);
  const models = [form.planner.model || usedModel(settings), ...set, ...Object.values(settings.fallbacks?.accounts ?? {})];
  return [...new Set(models.filter((model): model is string => Boolean(model)))];
}
