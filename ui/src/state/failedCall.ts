// Why a run could not go on: the model call that failed last, and the one thing that helps against it.

import type { CallState, Remedy, RunState } from "../contract/index.ts";
import { spokenNow } from "./format.ts";
import type { Text } from "../text/index.ts";
import { isRecord } from "./value.ts";

/** A model call that failed. */
export interface FailedCall {
  code: string;
  message: string;
  remedy: Remedy | null;
  /** Why no model answered, where that is known more exactly. */
  cause: string | null;
  /** The model that was asked last, as `provider:model`. */
  model: string;
}

/**
 * What a person reads about it, where the window says it better than the app: what a recording does not have, and everything
 * that has a remedy in a language that the app does not speak.
 */
export function failedWords({ cause, remedy, model }: FailedCall, t: Text): string | null {
  if (cause === "not_recorded") return t("errors.notRecorded");
  if (spokenNow() === "en" || remedy === null) return null;
  const [who = "", ...name] = model.split(":");
  return t(`settings.said.${remedy}`, { who: who === "openai_compatible" ? t("settings.model.title") : who, model: name.join(":") });
}

const remedies: Record<Remedy, true> = { key: true, credit: true, model: true, provider: true, address: true, server: true, network: true, clock: true, less: true, wait: true };

function isRemedy(value: unknown): value is Remedy {
  return typeof value === "string" && Object.hasOwn(remedies, value);
}

/** The model call that failed last; null when none did. */
export function failedCall(state: RunState): FailedCall | null {
  const call = Object.values(state.calls).findLast((one) => one.error !== null);
  return call ? failure(call) : null;
}

function failure(call: CallState): FailedCall | null {
  const { error } = call;
  if (!error) return null;
  const remedy = isRecord(error.cause) && isRemedy(error.cause["remedy"]) ? error.cause["remedy"] : null;
  const cause = isRecord(error.cause) && typeof error.cause["code"] === "string" ? error.cause["code"] : null;
  return { code: error.code, message: error.message, remedy, cause, model: call.attempts.at(-1)?.instead?.model ?? call.model };
}
