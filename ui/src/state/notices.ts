// Which runs have something to say: that they wait, or that they have ended, since the list was last looked at.

import type { RunSummary } from "../contract/index.ts";
import { type Standing, standingOf } from "./standing.ts";

/** Something that a person may want to be told. */
export interface Notice {
  run: RunSummary;
  standing: Standing;
}

const worth: readonly Standing[] = ["waiting", "passed", "failed"];

/** What is new; of a list that is looked at for the first time, nothing is. */
export function noticesOf(before: ReadonlyMap<string, Standing> | null, runs: readonly RunSummary[]): { now: ReadonlyMap<string, Standing>; news: Notice[] } {
  const now = new Map(runs.map((run) => [run.runId, standingOf(run)]));
  if (before === null) return { now, news: [] };
  const news = runs.flatMap((run): Notice[] => {
    const standing = now.get(run.runId);
    // What came into the list from elsewhere has ended long ago.
    const was = before.get(run.runId);
    if (standing === undefined || standing === was || !worth.includes(standing)) return [];
    return was === undefined && standing !== "waiting" ? [] : [{ run, standing }];
  });
  return { now, news };
}
