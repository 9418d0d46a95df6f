// What model calls cost: as `Cost` does it in Rust, and added up for a part of a run.

import type { CallState, LlmAttempt, Price, Prices, RunState, Usage } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { money } from "./format.ts";

/** The model that an attempt asked: the call's own, or the one in its place. */
export function askedModel(call: Pick<CallState, "model">, attempt: LlmAttempt): string {
  return attempt.instead?.model ?? call.model;
}

/** Which models were asked in the place of which, each once. */
export function standIns(calls: readonly CallState[]): { before: string; model: string }[] {
  const found = new Map<string, { before: string; model: string }>();
  for (const call of calls) {
    for (const { instead } of call.attempts) {
      if (instead) found.set(`${call.model} ${instead.model}`, { before: call.model, model: instead.model });
    }
  }
  return [...found.values()];
}

/** What these calls cost together, in words; empty where a price is not known, or where a recording answered for nothing. */
export function costWords(state: Pick<RunState, "header">, calls: readonly CallState[]): string {
  const { amount, priced, unpriced, currency } = spent(state, calls);
  // One amount without the others would be less than it cost.
  return priced && !unpriced ? money(amount, currency) : "";
}

/** The same for what has room for it: where some prices are not known, it cost at least this much. */
export function costAtLeast(state: Pick<RunState, "header">, calls: readonly CallState[], t: Text): string {
  const { amount, priced, unpriced, currency } = spent(state, calls);
  if (!priced) return "";
  return unpriced ? t("common.atLeast", { money: money(amount, currency) }) : money(amount, currency);
}

function spent({ header }: Pick<RunState, "header">, calls: readonly CallState[]): { amount: number; priced: boolean; unpriced: boolean; currency: string } {
  const all = { amount: 0, priced: false, unpriced: false, currency: header?.prices?.currency ?? "" };
  if (!header || header.recording !== null) return all;
  for (const call of calls) {
    for (const attempt of call.attempts) {
      if (!attempt.usage) continue;
      const price = priceOf(header.prices, askedModel(call, attempt));
      if (price) all.amount += costOf(price, attempt.usage);
      all[price ? "priced" : "unpriced"] = true;
    }
  }
  return all;
}

/** The price of a model, by its whole name or by the part after the provider. */
export function priceOf(prices: Prices | undefined, model: string): Price | undefined {
  if (!prices) return undefined;
  const colon = model.indexOf(":");
  const of = (name: string) => (Object.hasOwn(prices.models, name) ? prices.models[name] : undefined);
  return of(model) ?? (colon < 0 ? undefined : of(model.slice(colon + 1)));
}

/** What an attempt cost: input includes what the cache read and wrote; each token is counted once. */
export function costOf(listed: Price, usage: Usage): number {
  const price = listed.long && usage.input > listed.long.above ? listed.long : listed;
  const plain = Math.max(Math.max(usage.input - usage.cacheRead, 0) - usage.cacheWrite, 0);
  const millionths =
    plain * price.input +
    usage.cacheRead * (price.cacheRead ?? price.input) +
    usage.cacheWrite * (price.cacheWrite ?? price.input) +
    usage.output * price.output;
  return millionths / 1_000_000;
}
