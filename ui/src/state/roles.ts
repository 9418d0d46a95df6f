// Which model does what, as the settings keep it and as a form shows it.

import type { Settings } from "../contract/index.ts";
import { usedModel } from "./connection.ts";

/** One field for each role; empty where the usual model does it. */
export interface RoleForm {
  planner: string;
  judge: string;
  low: string;
  high: string;
}

/** The fields for what is kept. */
export function rolesOf(models: Settings["models"]): RoleForm {
  return {
    planner: models.planner ?? "",
    judge: models.judge ?? "",
    low: models.executor?.low ?? "",
    high: models.executor?.high ?? "",
  };
}

/** What is kept of the fields. */
export function modelsOf(form: RoleForm): Settings["models"] {
  const [planner, judge, low, high] = [form.planner, form.judge, form.low, form.high].map((model) => model.trim());
  return {
    ...(planner && { planner }),
    ...(judge && { judge }),
    ...((low || high) && { executor: { ...(low && { low }), ...(high && { high }) } }),
  };
}

/** Every model that a task asks when it names none, each once. */
export function modelsInUse(settings: Settings): string[] {
  const { planner, judge, low, high } = rolesOf(settings.models);
  const models = [planner || usedModel(settings), judge, low, high];
  return [...new Set(models.filter((model): model is string => Boolean(model)))];
}
