// The window as it ships, and beside it when each event of a run came into its store: for tests/browser/bench. Never
// part of the built page.

import "../src/main.tsx";
import { feedOf } from "../src/api/runs.ts";

declare global {
  interface Window {
    /** Notes for each event of a run, by number, when it was folded; called before the run is shown. */
    followRun: (runId: string) => Map<number, number>;
  }
}

window.followRun = (runId) => {
  const feed = feedOf(runId);
  const folded = new Map<number, number>();
  let known = feed["state"].lastSeq;
  const take = feed["take"].bind(feed);
  feed["take"] = (page) => {
    take(page);
    const now = performance.timeOrigin + performance.now();
    for (const { lastSeq } = feed["state"]; known < lastSeq; ) folded.set((known += 1), now);
  };
  return folded;
};
