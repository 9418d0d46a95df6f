// Which model runs ask when their task names none, from the settings.

import type { Settings } from "../contract/index.ts";

/** The model that is asked, written `provider:model`; null while none is connected. */
export function usedModel(settings: Settings): string | null {
  if (settings.models.planner) return settings.models.planner;
  return settings.endpoint && `openai_compatible:${settings.endpoint.model}`;
}

/** The model that is asked of one account; null when another account is asked, or none. */
export function modelOf(settings: Settings, account: string): string | null {
  const used = usedModel(settings);
  return used?.startsWith(`${account}:`) ? used.slice(account.length + 1) : null;
}

/** The settings' models when this one is to be asked for everything; with null, when the server's is. */
export function usingModel(model: string | null): Settings["models"] {
  return model === null ? {} : { planner: model };
}

/** Other models that think as much as those before them: how much a role thinks is not about one model. */
export function thinkingAsBefore(models: Settings["models"], { models: before }: Settings): Settings["models"] {
  return { ...models, ...(before.reasoning && { reasoning: before.reasoning }) };
}

/** The models that a person has named somewhere, each once; `besides` are others that are known. */
export function knownModels(settings: Settings, besides: readonly string[]): string[] {
  const { planner, judge, executor } = settings.models;
  const named = [usedModel(settings), settings.endpoint && `openai_compatible:${settings.endpoint.model}`, planner, judge, executor?.low, executor?.high, ...besides];
  return [...new Set(named.flatMap((model) => (model ? [model] : [])))].toSorted();
}
