// The small round marks that say how something stands. Each has its own shape, so colour is never alone.

import type { ReactNode } from "react";
import classes from "./Mark.module.css";

/** Every standing that can be shown. */
export type MarkKind =
  | "done"
  | "kept"
  | "failed"
  | "running"
  | "idle"
  | "person"
  | "uncertain"
  | "skipped"
  | "stopped"
  | "interrupted"
  | "unsure"
  | "unjudged";

/** What the colour means. */
export type Tone = "passed" | "failed" | "running" | "waiting" | "idle";

/** The colour of each standing. */
export const toneOf: Record<MarkKind, Tone> = {
  done: "passed",
  kept: "passed",
  failed: "failed",
  running: "running",
  idle: "idle",
  person: "waiting",
  uncertain: "waiting",
  skipped: "idle",
  stopped: "idle",
  interrupted: "waiting",
  unsure: "waiting",
  unjudged: "idle",
};

const disc = <circle cx="8" cy="8" r="8" fill="currentColor" />;
const ring = <circle cx="8" cy="8" r="7.25" fill="none" stroke="currentColor" strokeWidth="1.5" />;
const line = { fill: "none", strokeWidth: 1.75, strokeLinecap: "round", strokeLinejoin: "round" } as const;
const onDisc = { ...line, stroke: "var(--t-on-mark)" };
const onRing = { ...line, stroke: "currentColor" };

const shapes: Record<MarkKind, ReactNode> = {
  done: (
    <>
      {disc}
      <path d="M4.8 8.2 7 10.4l4.2-4.6" {...onDisc} />
    </>
  ),
  kept: (
    <>
      <circle cx="8" cy="8" r="7.25" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.6 2" />
      <path d="M4.8 8.2 7 10.4l4.2-4.6" {...onRing} />
    </>
  ),
  failed: (
    <>
      {disc}
      <path d="m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8" {...onDisc} />
    </>
  ),
  running: (
    <>
      {ring}
      <path d="M8 3a5 5 0 0 1 0 10Z" fill="currentColor" />
    </>
  ),
  idle: ring,
  person: (
    <>
      {disc}
      <path d="M6.2 6.3c.1-1 .9-1.7 1.9-1.7s1.8.7 1.8 1.6c0 1.3-1.8 1.4-1.8 2.7" {...onDisc} />
      <circle cx="8.1" cy="11.5" r="1" fill="var(--t-on-mark)" />
    </>
  ),
  uncertain: (
    <>
      {disc}
      <path d="M8 4.2v4.6" {...onDisc} />
      <circle cx="8" cy="11.4" r="1" fill="var(--t-on-mark)" />
    </>
  ),
  skipped: (
    <>
      {ring}
      <path d="m5.6 5 2.8 3-2.8 3M10.6 5v6" {...onRing} strokeWidth={1.4} />
    </>
  ),
  stopped: (
    <>
      {ring}
      <rect x="5.25" y="5.25" width="5.5" height="5.5" rx="1" fill="currentColor" />
    </>
  ),
  interrupted: (
    <>
      {disc}
      <path d="M6.2 5.4v5.2m3.6-5.2v5.2" {...onDisc} />
    </>
  ),
  unsure: (
    <>
      {ring}
      <path d="M6.3 6.3c.1-1 .9-1.6 1.8-1.6s1.7.6 1.7 1.5c0 1.2-1.7 1.3-1.7 2.5" {...onRing} strokeWidth={1.5} />
      <circle cx="8.1" cy="11.2" r=".9" fill="currentColor" />
    </>
  ),
  unjudged: (
    <>
      {ring}
      <path d="M5.2 8h5.6" {...onRing} />
    </>
  ),
};

/** The mark alone; the word for it must stand beside it or be given as `label`. */
export function Mark({ kind, size = 16, label }: { kind: MarkKind; size?: number; label?: string }) {
  return (
    <svg
      className={classes.mark}
      data-tone={toneOf[kind]}
      data-kind={kind}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      role={label ? "img" : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
    >
      {shapes[kind]}
    </svg>
  );
}

/** A mark with its word on a tinted ground, for headers and lists. */
export function StateBadge({ kind, children }: { kind: MarkKind; children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone={toneOf[kind]}>
      <Mark kind={kind} size={12} />
      {children}
    </span>
  );
}
