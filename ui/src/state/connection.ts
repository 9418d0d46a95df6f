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

/**
 * The settings' models when this one is asked by every task; with null, when the server's is. Roles keep models of the same
 * account: nobody else is sent anything, or paid. How much a role thinks is not about one model.
 */
export function usingModel(model: string | null, { models: { judge, executor, reasoning } }: Pick<Settings, "models">): Settings["models"] {
  const account = model === null ? "openai_compatible:" : `${model.split(":")[0]}:`;
  const isIts = (named: string | null | undefined) => named?.startsWith(account) ?? false;
  const tiers = Object.fromEntries(Object.entries(executor ?? {}).filter(([, named]) => isIts(named)));
  return {
    ...(model !== null && { planner: model }),
    ...(judge && isIts(judge) && { judge }),
    ...(Object.keys(tiers).length > 0 && { executor: tiers }),
    ...(reasoning && { reasoning }),
  };
}

/** The settings without an account that a person added, and without what names it elsewhere. */
export function withoutAccount(settings: Settings, name: string): Partial<Settings> {
  const isIts = (model: string | null | undefined) => model?.startsWith(`${name}:`) ?? false;
  const others = <T>(named: { [key in string]?: T } | undefined, goes: (key: string, value: T | undefined) => boolean) =>
    Object.fromEntries(Object.entries(named ?? {}).filter(([key, value]) => !goes(key, value))) as { [key in string]: T };
  const { executor, planner, judge, ...models } = settings.models;
  const tiers = others(executor ? { ...executor } : {}, (_, model) => isIts(model));
  const fallbacks = {
    roles: others({ ...settings.fallbacks?.roles }, (_, model) => isIts(model)),
    accounts: others(settings.fallbacks?.accounts, (account, model) => account === name || isIts(model)),
  };
  return {
    accounts: settings.accounts.filter((account) => account.name !== name),
    models: {
      ...models,
      ...(planner && !isIts(planner) && { planner }),
      ...(judge && !isIts(judge) && { judge }),
      ...(Object.keys(tiers).length > 0 && { executor: tiers }),
    },
    fallbacks,
    overrides: others(settings.overrides, isIts),
    prices: { ...settings.prices, models: others(settings.prices.models, isIts) },
  };
}

/** Whether what is sent to this address can be read on the way: no encryption, and not this computer. */
export function isPlain(address: string | null): boolean {
  const url = readUrl(address);
  return url !== null && url.protocol === "http:" && !isHere(url);
}

/** Whether a model, written `provider:model`, is one of a server on this computer, which nobody is paid for. */
export function isLocal(model: string, { endpoint, accounts }: Pick<Settings, "endpoint" | "accounts">): boolean {
  const account = model.split(":")[0];
  const added = accounts.find((one) => one.name === account)?.baseUrl;
  const url = readUrl(added ?? (account === "openai_compatible" ? (endpoint?.baseUrl ?? null) : null));
  return url !== null && isHere(url);
}

function readUrl(address: string | null): URL | null {
  return URL.parse(address ?? "");
}

function isHere({ hostname }: URL): boolean {
  const host = hostname.toLowerCase();
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
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
