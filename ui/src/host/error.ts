// The one error that comes out of a host, whatever went wrong underneath.

import type { AppError, Problem } from "../contract/index.ts";

/** A refusal by the app, or the app not being there at all (`unreachable`). */
export class HostError extends Error {
  readonly code: string;
  readonly hint: string | null;
  readonly retryable: boolean;
  readonly problems: Problem[];

  constructor(error: AppError) {
    super(error.message);
    this.name = "HostError";
    this.code = error.code;
    this.hint = error.hint ?? null;
    this.retryable = error.retryable;
    this.problems = error.problems ?? [];
  }
}

function isAppError(value: unknown): value is AppError {
  return (
    typeof value === "object" &&
    value !== null &&
    "code" in value &&
    typeof value.code === "string" &&
    "message" in value &&
    typeof value.message === "string"
  );
}

/** Whatever was thrown, as a `HostError`. */
export function asHostError(thrown: unknown): HostError {
  if (thrown instanceof HostError) return thrown;
  if (isAppError(thrown)) return new HostError(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new HostError({ code: "internal", message, hint: null, retryable: false, problems: [] });
}

/** The app did not answer. */
export function unreachable(cause: unknown): HostError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new HostError({ code: "unreachable", message, hint: null, retryable: true, problems: [] });
}
