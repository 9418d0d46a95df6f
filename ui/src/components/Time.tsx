// A moment: relative in the text, absolute on hover.

import { Tooltip } from "@mantine/core";
import { useEffect, useState } from "react";
import { ago, moment } from "../state/format.ts";

/** The present moment, again every so often. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), everyMs);
    return () => window.clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** `2 minutes ago`, with the exact time in its tooltip. */
export function Time({ at, className }: { at: number; className?: string | undefined }) {
  const now = useNow(30_000);
  return (
    <Tooltip label={moment(at)}>
      <time className={className} dateTime={new Date(at).toISOString()}>
        {ago(now, at)}
      </time>
    </Tooltip>
  );
}
