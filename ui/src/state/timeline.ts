// A run as it stood at any of its events: for looking back at how it went. Folding begins at the nearest kept state, so
// that moving along a long run costs little.

import type { RunEventRecord, RunState } from "../contract/index.ts";
import { applyEvents, emptyRun } from "./runState.ts";

const every = 500;

/** The states of one run. */
export class Timeline {
  private readonly kept: RunState[] = [emptyRun];

  constructor(private readonly records: readonly RunEventRecord[]) {}

  /** The state after this many events. */
  at(count: number): RunState {
    const wanted = Math.max(0, Math.min(count, this.records.length));
    const nearest = Math.floor(wanted / every);
    for (let index = this.kept.length; index <= nearest; index += 1) {
      const before = this.kept[index - 1] ?? emptyRun;
      this.kept.push(applyEvents(before, this.records.slice((index - 1) * every, index * every)));
    }
    return applyEvents(this.kept[nearest] ?? emptyRun, this.records.slice(nearest * every, wanted));
  }
}

/** Events at which something that one sees changes; stopping at each of the others would look like standing still. */
const seen: ReadonlySet<string> = new Set([
  "runStarted",
  "cycleStarted",
  "planningStarted",
  "planProposed",
  "planChanged",
  "planApproved",
  "personAsked",
  "personAnswered",
  "stepStarted",
  "stepFinished",
  "judgingStarted",
  "checkFinished",
  "cycleJudged",
  "phaseStarted",
  "phaseFinished",
  "phaseSkipped",
  "runPaused",
  "runContinued",
  "runReopened",
  "runFinished",
]);

/** How many events there are up to each place where one can stop, in order; the last is the end. */
export function stops(records: readonly RunEventRecord[], length = records.length): number[] {
  const found: number[] = [];
  for (let index = 0; index < length; index += 1) if (seen.has(records[index]?.event.type ?? "")) found.push(index + 1);
  if (length > 0 && found.at(-1) !== length) found.push(length);
  return found;
}
