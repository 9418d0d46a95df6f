// What is known of a model, in a few words, and what is proposed for each role.

import type { ModelInfo, Price, ProviderModels, Settings } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { count, sum } from "./format.ts";
import { type Role, roles } from "./roles.ts";

/** A price for a million tokens: `2.00 in, 10.00 out`. */
export function priceWords(price: Price, currency: string, t: Text): string {
  return t("settings.model.price", { input: sum(price.input), output: sum(price.output), currency });
}

/** What is known of a model, such as `fast · reads 1,000,000 tokens · 0.10 in, 0.50 out`; empty when nothing is. */
export function modelFacts(model: ModelInfo, t: Text): string {
  const facts = [
    model.tier && t(`settings.model.tier.${model.tier}`),
    model.contextWindow !== null && t("settings.model.reads", { tokens: count(model.contextWindow) }),
    model.price && priceWords(model.price, model.price.currency, t),
    model.capabilities?.tools === false && t("settings.model.noTools"),
  ];
  return facts.filter(Boolean).join(" · ");
}

/** The models of all accounts, written `provider:model`. */
export function allModels(accounts: readonly ProviderModels[]): { id: string; info: ModelInfo }[] {
  return accounts.flatMap((account) => account.models.map((info) => ({ id: `${account.provider}:${info.id}`, info })));
}

/**
 * What can be chosen anywhere, written `provider:model`: first what can be asked as it is, the settings' own server too, then
 * the models of accounts that have no key yet.
 */
export function choosable(settings: Settings, accounts: readonly ProviderModels[]): { id: string; info: ModelInfo | null }[] {
  const ready = (account: ProviderModels) => account.key !== null || account.kind === "openai_compatible";
  const listed = [...allModels(accounts.filter(ready)), ...allModels(accounts.filter((account) => !ready(account)))];
  const known = new Map<string, ModelInfo | null>(listed.map(({ id, info }) => [id, info]));
  const own = settings.endpoint ? `openai_compatible:${settings.endpoint.model}` : null;
  const first = own !== null && !known.has(own) ? [{ id: own, info: null }] : [];
  return [...first, ...[...known].map(([id, info]) => ({ id, info }))];
}

/** The roles whose own model would be another than a person chose, with both. */
export function overwrittenRoles({ models: now, endpoint }: Pick<Settings, "models" | "endpoint">, wanted: Settings["models"]): { role: Role; before: string; after: string }[] {
  const before: Record<Role, string | null | undefined> = {
    planner: now.planner ?? (endpoint && `openai_compatible:${endpoint.model}`),
    judge: now.judge,
    low: now.executor?.low,
    high: now.executor?.high,
  };
  const after: typeof before = { planner: wanted.planner, judge: wanted.judge, low: wanted.executor?.low, high: wanted.executor?.high };
  return roles.flatMap((role) => {
    const [was, will] = [before[role], after[role]];
    return was && will && was !== will ? [{ role, before: was, after: will }] : [];
  });
}

/** The models to use when a person takes what is recommended: the cheap one for simple steps, the middle one elsewhere. */
export function recommendedModels(account: ProviderModels): Settings["models"] | null {
  const [fast, balanced] = account.recommended;
  if (fast === undefined || balanced === undefined) return null;
  const named = (model: string) => `${account.provider}:${model}`;
  return { planner: named(balanced), judge: named(balanced), executor: { low: named(fast), high: named(balanced) } };
}
