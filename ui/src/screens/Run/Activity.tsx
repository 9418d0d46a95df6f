// What happened, line by line, newest at the bottom. Thousands of lines cost no more than those in sight.

import { Button } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { LiveRun } from "../../api/runs.ts";
import { Notice } from "../../components/Notice.tsx";
import { ActivityLog, filterLines, untilNow } from "../../state/activity.ts";
import { moment, timeOfDay } from "../../state/format.ts";
import { useText } from "../../text/index.ts";
import classes from "./Activity.module.css";

const rowHeight = 30;

/** The list; it follows the newest line until one scrolls up. */
export function Activity({ run, filter }: { run: LiveRun; filter: string }) {
  const t = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const { state, records, length } = run;
  const [log] = useState(() => new ActivityLog());
  const lines = filterLines(untilNow(log.upTo(records, length, state, t), state.lastSeq), filter);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 12,
  });
  const last = lines.length - 1;
  useEffect(() => {
    if (follows && last >= 0) rows.scrollToIndex(last, { align: "end" });
  }, [follows, last, rows]);
  if (lines.length === 0) return <Notice compact title={filter ? t("run.panel.noMatch") : t("run.panel.noActivity")} />;
  return (
    <div className={classes.box}>
      <div
        className={classes.scroller}
        ref={scroller}
        role="log"
        aria-live="off"
        aria-label={t("run.panel.activity")}
        // A scrolling region is reached by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onScroll={(event) => {
          const box = event.currentTarget;
          setFollows(box.scrollHeight - box.scrollTop - box.clientHeight < rowHeight * 1.5);
        }}
      >
        <div style={{ height: rows.getTotalSize() }} className={classes.all}>
          {rows.getVirtualItems().map((item) => {
            const line = lines[item.index];
            return (
              line && (
                <div key={line.seq} className={classes.line} data-tone={line.tone} style={{ transform: `translateY(${item.start}px)` }}>
                  <time className={classes.time} title={moment(line.atMs)} dateTime={new Date(line.atMs).toISOString()}>
                    {timeOfDay(line.atMs)}
                  </time>
                  <span className={classes.who}>{line.who}</span>
                  <span className={classes.what} title={line.what}>
                    {line.what}
                  </span>
                  <span className={classes.fact}>{line.fact}</span>
                </div>
              )
            );
          })}
        </div>
      </div>
      {!follows && (
        <Button size="xs" variant="default" className={classes.newest ?? ""} onClick={() => setFollows(true)}>
          {t("run.panel.newest")}
        </Button>
      )}
    </div>
  );
}
