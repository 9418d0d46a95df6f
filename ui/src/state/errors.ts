// One table: what a person reads for an error's code, how loud it is, and which button helps.

import type { Problem } from "../contract/index.ts";
import type { HostError } from "../host/error.ts";
import { en } from "../text/en/index.ts";
import { spokenNow } from "./format.ts";
import type { Text } from "../text/index.ts";

/** The button that an error offers. */
export type Remedy = "retry" | "settings" | "folder" | "keychain" | "none";
/** How loud an error is. */
export type Severity = "warning" | "error";

interface Row {
  severity: Severity;
  remedy: Remedy;
}

type KnownCode = keyof typeof en.errors.codes;

const warning = (remedy: Remedy): Row => ({ severity: "warning", remedy });
const error = (remedy: Remedy): Row => ({ severity: "error", remedy });

const table: Record<KnownCode, Row> = {
  unreachable: warning("retry"),
  authentication: error("settings"),
  rate_limit: warning("retry"),
  context_length: error("none"),
  provider_error: error("settings"),
  plan_invalid: error("settings"),
  no_model: warning("settings"),
  no_provider: error("settings"),
  no_key: warning("settings"),
  endpoint_invalid: error("settings"),
  endpoint_failed: error("settings"),
  no_folder: warning("folder"),
  folder_missing: error("folder"),
  folder_of_tepa: error("folder"),
  folder_denied: error("folder"),
  not_a_folder: warning("folder"),
  keychain_unavailable: warning("retry"),
  keychain_locked: warning("keychain"),
  keychain_failed: warning("retry"),
  run_busy: warning("none"),
  run_ended: warning("none"),
  nobody_waits: warning("none"),
  answered_already: warning("none"),
  run_at_work: warning("none"),
  run_exists: warning("none"),
  run_open: warning("none"),
  plan_invalid_edit: warning("none"),
  not_found: warning("none"),
  file_not_found: warning("none"),
  task_unreadable: error("none"),
  task_syntax: error("none"),
  task_invalid: warning("none"),
  settings_invalid: warning("none"),
  recording_missing: error("none"),
  store_failed: error("retry"),
  store_locked: warning("retry"),
  store_disk_full: warning("retry"),
  answer_lost: warning("none"),
  store_corrupted: error("none"),
};

function isKnown(code: string): code is KnownCode {
  return Object.hasOwn(table, code);
}

/** What to show for an error. */
export interface ShownError extends Row {
  sentence: string;
  /** The app's own words, when the sentence above is not made of them. */
  original: string;
}

type Failed = Pick<HostError, "code" | "message" | "hint" | "retryable"> & { problems?: readonly Problem[] };

const mostProblems = 3;

/** Finds the sentence, the loudness and the button for an error. */
export function shownError(failed: Failed, t: Text): ShownError {
  const original = sentence(failed.message, failed.hint);
  const wrong = (failed.problems ?? []).slice(0, mostProblems).map((problem) => sentence(problem.message, null));
  if (wrong.length > 0) return { ...rowOf(failed), sentence: [sentence(failed.message, null), ...wrong].join(" "), original };
  // The app's own hint is about this very case, so it is more exact than the table.
  // In another language the table speaks that language, and the app does not.
  const own = isKnown(failed.code) && (!failed.hint || spokenNow() !== "en") ? t(`errors.codes.${failed.code}`) : original;
  return { ...rowOf(failed), sentence: own, original };
}

function rowOf(failed: Failed): Row {
  return isKnown(failed.code) ? table[failed.code] : error(failed.retryable ? "retry" : "none");
}

/** "the folder is gone" and "choose another" become two sentences. */
export function sentence(message: string, hint: string | null): string {
  const first = finish(message);
  return hint ? `${first} ${finish(hint)}` : first;
}

function finish(words: string): string {
  const trimmed = words.trim();
  // An address stays as it is, also at the beginning.
  const start = /^\w+:\/\//.test(trimmed) ? trimmed : trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}
