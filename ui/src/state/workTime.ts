// How long a run was at work: the time in which it waited for a person, stood paused or was at its end does not count.

import type { RunEventRecord } from "../contract/index.ts";

/** The time at work, in milliseconds, up to the last of these events. */
export function workTime(records: readonly RunEventRecord[], length = records.length): number {
  let total = 0;
  let last = 0;
  let questions = 0;
  let leaves = 0;
  let halted = false;
  for (let index = 0; index < length; index += 1) {
    const record = records[index];
    if (!record) break;
    // While a question waits, other steps may go on; that is work, too.
    const worked = index > 0 && !halted && (questions === 0 || leaves > 0);
    if (worked) total += Math.max(0, record.atMs - last);
    last = record.atMs;
    switch (record.event.type) {
      case "personAsked":
        questions += 1;
        break;
      case "personAnswered":
        questions = Math.max(0, questions - 1);
        break;
      case "modelCallStarted":
      case "toolStarted":
        leaves += 1;
        break;
      case "modelCallFinished":
      case "toolFinished":
        leaves = Math.max(0, leaves - 1);
        break;
      case "runPaused":
        halted = true;
        break;
      case "runContinued":
        halted = false;
        break;
      case "runFinished":
        halted = true;
        questions = 0;
        leaves = 0;
        break;
      case "runReopened":
        halted = false;
        break;
      default:
        break;
    }
  }
  return total;
}
