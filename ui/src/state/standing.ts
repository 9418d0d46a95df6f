// How a run stands, in one of eight words, from its status, from whether anybody drives it, and from why it ended.

import type { RunStatus, RunSummary, StopReason } from "../contract/index.ts";
import type { MarkKind } from "../components/Mark.tsx";

/** The eight words. */
export type Standing = "running" | "waiting" | "paused" | "interrupted" | "passed" | "failed" | "rejected" | "stopped";

/** The mark that goes with each word. */
export const standingMark: Record<Standing, MarkKind> = {
  running: "running",
  waiting: "person",
  paused: "interrupted",
  interrupted: "interrupted",
  passed: "done",
  failed: "failed",
  rejected: "stopped",
  stopped: "stopped",
};

/** How a run stands. A run that should be at work but that nobody drives was interrupted; one that a person or their rule
 * ended did not fail. */
export function standing(status: RunStatus, driven: boolean, reason: StopReason | null): Standing {
  switch (status) {
    case "running":
      return driven ? "running" : "interrupted";
    case "waiting":
      return "waiting";
    case "paused":
      return "paused";
    case "pass":
      return "passed";
    case "fail":
      return reason === "rejected" ? "rejected" : "failed";
    case "terminated":
      return "stopped";
  }
}

/** How a run of a list stands. */
export function standingOf(run: Pick<RunSummary, "status" | "driven" | "stopReason">): Standing {
  return standing(run.status, run.driven, run.stopReason);
}

/** Whether nothing more happens by itself. */
export function hasEnded(status: RunStatus): boolean {
  return status === "pass" || status === "fail" || status === "terminated";
}

/** Whether an ended run can be taken up again where it stopped: when a planner or a judge failed. */
export function canContinue(reason: StopReason): boolean {
  switch (reason) {
    case "error":
      return true;
    case "passed":
    case "accepted":
    case "max_cycles":
    case "no_progress":
    case "rejected":
    case "budget":
    case "cancelled":
      return false;
  }
}

/** How a run that ended without passing can still be brought to an end that one likes. */
export interface NextMoves {
  /** A person's words begin another cycle. */
  guide: boolean;
  /** It needs more room first. */
  raise: boolean;
  /** Its results can be taken as they are. */
  accept: boolean;
}

/** What can be done with a run that has ended; `judged` says that there are results with a verdict. */
export function nextMoves(reason: StopReason, cycles: number, judged: boolean): NextMoves {
  switch (reason) {
    case "passed":
    case "accepted":
      return { guide: false, raise: false, accept: false };
    case "max_cycles":
    case "no_progress":
    case "rejected":
      return { guide: true, raise: false, accept: judged };
    case "error":
      // Where nothing was judged there is nothing to do differently: what failed is mended, and the run continued.
      return { guide: judged, raise: false, accept: judged };
    case "cancelled":
      return { guide: cycles > 0, raise: false, accept: judged };
    case "budget":
      return { guide: false, raise: true, accept: judged };
  }
}
