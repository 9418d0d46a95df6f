// How a run stands, in one of seven words, from its status and from whether anybody drives it.

import type { RunStatus, RunSummary, StopReason } from "../contract/index.ts";
import type { MarkKind } from "../components/Mark.tsx";

/** The seven words. */
export type Standing = "running" | "waiting" | "paused" | "interrupted" | "passed" | "failed" | "stopped";

/** The mark that goes with each word. */
export const standingMark: Record<Standing, MarkKind> = {
  running: "running",
  waiting: "person",
  paused: "interrupted",
  interrupted: "interrupted",
  passed: "done",
  failed: "failed",
  stopped: "stopped",
};

/** How a run stands. A run that should be at work but that nobody drives was interrupted. */
export function standing(status: RunStatus, driven: boolean): Standing {
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
      return "failed";
    case "terminated":
      return "stopped";
  }
}

/** How a run of a list stands. */
export function standingOf(run: Pick<RunSummary, "status" | "driven">): Standing {
  return standing(run.status, run.driven);
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
