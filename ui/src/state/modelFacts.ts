// What is known of a model, in a few words, and what is proposed for each role.

import type { ModelInfo, Price, ProviderModels, Settings } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { count } from "./format.ts";

/** A price for a million tokens: `2.00 in, 10.00 out`. */
export function priceWords(price: Price, currency: string, t: Text): string {
  return t("settings.model.price", { input: price.input.toFixed(2), output: price.output.toFixed(2), currency });
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

/** The models to use when a person takes what is recommended: the cheap one for simple steps, the middle one elsewhere. */
export function recommendedModels(account: ProviderModels): Settings["models"] | null {
  const [fast, balanced] = account.recommended;
  if (fast === undefined || balanced === undefined) return null;
  const named = (model: string) => `${account.provider}:${model}`;
  return { planner: named(balanced), judge: named(balanced), executor: { low: named(fast), high: named(balanced) } };
}
