// How long a run was at work: the time in which it waited for a person, stood paused or was at its end does not count.

import type { Ask, RunEventRecord } from "../contract/index.ts";

/** The time at work of a growing journal, each event looked at once. */
export class WorkClock {
  private total = 0;
  private last = 0;
  private read = 0;
  private questions = 0;
  /** Those of them that a tool call waits for: it is not at work meanwhile. */
  private inside = 0;
  private leaves = 0;
  private halted = false;

  /** The milliseconds at work up to this length of the journal, which never shrinks. */
  upTo(records: readonly RunEventRecord[], length: number): number {
    for (; this.read < length; this.read += 1) {
      const record = records[this.read];
      if (record) this.take(record);
    }
    return this.total;
  }

  private take(record: RunEventRecord): void {
    // While a question waits, other steps may go on; that is work, too.
    const worked = this.read > 0 && !this.halted && (this.questions === 0 || this.leaves > this.inside);
    if (worked) this.total += Math.max(0, record.atMs - this.last);
    this.last = record.atMs;
    switch (record.event.type) {
      case "personAsked":
        this.questions += 1;
        if (isInside(record.event.ask)) this.inside += 1;
        break;
      case "personAnswered":
        this.questions = Math.max(0, this.questions - 1);
        this.inside = Math.min(this.inside, this.questions);
        break;
      case "modelCallStarted":
      case "toolStarted":
        this.leaves += 1;
        break;
      case "modelCallFinished":
      case "toolFinished":
        this.leaves = Math.max(0, this.leaves - 1);
        break;
      case "runPaused":
        this.halted = true;
        break;
      case "runContinued":
      case "runReopened":
        this.halted = false;
        break;
      case "runFinished":
        this.halted = true;
        this.questions = 0;
        this.inside = 0;
        this.leaves = 0;
        break;
      default:
        break;
    }
  }
}

/** Whether a tool call asks this, and waits. */
function isInside(ask: Ask): boolean {
  return ask.kind === "permission" || ask.kind === "uncertainEffect" || (ask.kind === "gate" && (ask.cycle ?? 0) > 0);
}
