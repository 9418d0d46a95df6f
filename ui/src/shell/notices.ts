// Says beside the window that a run waits for a person or has ended, while they look at something else.

import { useEffect, useRef } from "react";
import { useRuns } from "../api/runs.ts";
import { host } from "../host/index.ts";
import { usePreferences } from "../state/preferences.ts";
import { noticesOf } from "../state/notices.ts";
import { useText } from "../text/index.ts";
import { go } from "./route.ts";

/** Watches the runs. Called once, by the shell. */
export function useNotices(): void {
  const t = useText();
  const wanted = usePreferences((state) => state.notices);
  const runs = useRuns({ status: [], text: "" }).data;
  const before = useRef<ReturnType<typeof noticesOf>["now"] | null>(null);
  useEffect(() => {
    if (!runs) return;
    const { now, news } = noticesOf(before.current, runs);
    before.current = now;
    if (!wanted || document.hasFocus()) return;
    for (const { run, standing } of news) host.notify(run.title, t(`standing.${standing}`), () => go({ screen: "run", runId: run.runId, view: "auto" }));
  }, [runs, wanted, t]);
}
