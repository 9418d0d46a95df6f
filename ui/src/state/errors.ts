// One table: what a person reads for an error's code, how loud it is, and which button helps.

import type { HostError } from "../host/error.ts";
import { en } from "../text/en.ts";
import type { Text } from "../text/index.ts";

/** The button that an error offers. */
export type Remedy = "retry" | "settings" | "folder" | "none";
/** How loud an error is. */
export type Severity = "warning" | "error";

interface Row {
  severity: Severity;
  remedy: Remedy;
}

type KnownCode = keyof typeof en.errors.codes;

const table: Record<KnownCode, Row> = {
  unreachable: { severity: "warning", remedy: "retry" },
  authentication: { severity: "error", remedy: "settings" },
  rate_limit: { severity: "warning", remedy: "retry" },
  context_length: { severity: "error", remedy: "none" },
  invalid_request: { severity: "error", remedy: "settings" },
  provider_error: { severity: "error", remedy: "settings" },
  not_connected: { severity: "warning", remedy: "settings" },
  folder_missing: { severity: "error", remedy: "folder" },
  folder_forbidden: { severity: "error", remedy: "folder" },
  keychain_unavailable: { severity: "warning", remedy: "none" },
  keychain_locked: { severity: "warning", remedy: "retry" },
  conflict: { severity: "warning", remedy: "none" },
  not_found: { severity: "warning", remedy: "none" },
  store: { severity: "error", remedy: "retry" },
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

/** Finds the sentence, the loudness and the button for an error. */
export function shownError(error: Pick<HostError, "code" | "message" | "hint" | "retryable">, t: Text): ShownError {
  const original = error.hint ? `${error.message} — ${error.hint}` : error.message;
  if (isKnown(error.code)) {
    const own = error.hint ? sentence(error.message, error.hint) : t(`errors.codes.${error.code}`);
    return { ...table[error.code], sentence: own, original };
  }
  return {
    severity: "error",
    remedy: error.retryable ? "retry" : "none",
    sentence: sentence(error.message, error.hint),
    original,
  };
}

/** "the folder is gone" and "choose another" become two sentences. */
export function sentence(message: string, hint: string | null): string {
  const first = finish(message);
  return hint ? `${first} ${finish(hint)}` : first;
}

function finish(words: string): string {
  const trimmed = words.trim();
  const start = trimmed.charAt(0).toUpperCase() + trimmed.slice(1);
  return /[.!?…]$/.test(start) ? start : `${start}.`;
}
