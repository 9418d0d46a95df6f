// The events of one run as they come in. A signal only says that there is something new up to a number; the feed pulls
// it, so a slow window costs the engine nothing. The running text of a model call comes beside it and is not kept.

import type { Key, RunEventRecord, RunningText, RunState, Signal } from "../contract/index.ts";
import { asHostError, type HostError } from "../host/error.ts";
import { applyEvents, emptyRun, entry, Fold, leafOf } from "./runState.ts";

const pageSize = 1000;

/** What a screen sees of a run. A new object whenever something changed. */
export interface RunView {
  state: RunState;
  /** Every event so far, in order. The array is the same one for as long as the feed lives; its length grows. */
  records: readonly RunEventRecord[];
  length: number;
  phase: "loading" | "ready" | "failed";
  error: HostError | null;
}

/** What a feed needs from the outside. */
export interface FeedSource {
  events: (fromSeq: number, limit: number) => Promise<RunEventRecord[]>;
  deltas: () => Promise<RunningText[]>;
}

/** Does something when there is time to draw; several things that are asked for before are done as one. */
export type Later = (run: () => void) => void;

/** Follows one run: takes every event in as it comes, and says so as often as it can be drawn. */
export class RunFeed {
  private readonly source: FeedSource;
  private readonly later: Later;
  private willTell = false;
  private readonly records: RunEventRecord[] = [];
  private readonly texts = new Map<Key, string>();
  private readonly reasonings = new Map<Key, string>();
  private readonly viewListeners = new Set<() => void>();
  private readonly textListeners = new Set<() => void>();
  private view: RunView;
  /** A long history that is being read for the first time: it is drawn when all of it is there. */
  private history: Fold | null = null;
  private known = 0;
  private catchingUp = false;
  private missed = false;
  private pulling = false;

  constructor(source: FeedSource, later: Later = (run) => run()) {
    this.source = source;
    this.later = later;
    this.view = { state: emptyRun, records: this.records, length: 0, phase: "loading", error: null };
  }

  readonly current = (): RunView => this.view;

  readonly onView = (listener: () => void): (() => void) => {
    this.viewListeners.add(listener);
    return () => this.viewListeners.delete(listener);
  };

  readonly onText = (listener: () => void): (() => void) => {
    this.textListeners.add(listener);
    return () => this.textListeners.delete(listener);
  };

  /** What a model has said so far in a call that is still at work. */
  readonly textOf = (key: Key): string => this.texts.get(key) ?? "";

  /** What it has thought aloud so far. */
  readonly reasoningOf = (key: Key): string => this.reasonings.get(key) ?? "";

  /** Reads everything that is there, from the first event or from where it stopped. */
  async pull(): Promise<void> {
    if (this.pulling) return;
    this.pulling = true;
    if (this.view.phase !== "ready") this.history = new Fold(this.view.state);
    try {
      for (;;) {
        const from = this.state.lastSeq + 1;
        // Pages follow one another: each starts where the last one ended.
        // oxlint-disable-next-line no-await-in-loop
        const page = await this.source.events(from, pageSize);
        this.take(page);
        if (page.length < pageSize && this.state.lastSeq >= this.known) break;
        if (page.length === 0) break;
      }
      this.show({ ...this.readSoFar(), phase: "ready", error: null });
    } catch (thrown) {
      this.show({ ...this.readSoFar(), phase: this.records.length > 0 ? "ready" : "failed", error: asHostError(thrown) });
    } finally {
      this.pulling = false;
    }
  }

  /** Fetches the running texts anew, for a window that opened late or missed something. */
  async catchUpTexts(): Promise<void> {
    this.missed = true;
    // Every piece that comes meanwhile is missed as well: one reply at a time has them all.
    if (this.catchingUp) return;
    this.catchingUp = true;
    try {
      while (this.missed) {
        this.missed = false;
        for (const { key, text, reasoning } of await this.source.deltas()) {
          if (this.finished(key)) continue;
          this.texts.set(key, text);
          this.reasonings.set(key, reasoning);
        }
        this.tell(this.textListeners);
      }
    } catch {
      // The text is a convenience; the answer itself arrives as an event.
    } finally {
      this.catchingUp = false;
    }
  }

  /** Hears a signal; those of other runs pass by. */
  hear(signal: Signal, runId: string): void {
    if (signal.kind === "runsChanged" || signal.kind === "fileHanded" || signal.runId !== runId) return;
    switch (signal.kind) {
      case "advanced":
        this.known = Math.max(this.known, signal.seq);
        if (signal.seq > this.state.lastSeq) void this.pull();
        return;
      case "delta":
        this.append(this.texts, signal.key, signal.offset, signal.text);
        return;
      case "reasoning":
        this.append(this.reasonings, signal.key, signal.offset, signal.text);
    }
  }

  private append(into: Map<Key, string>, key: Key, offset: number, text: string): void {
    if (this.finished(key)) return;
    const before = into.get(key) ?? "";
    if (offset > before.length) {
      void this.catchUpTexts();
      return;
    }
    into.set(key, before.slice(0, offset) + text);
    this.tell(this.textListeners);
  }

  private finished(key: Key): boolean {
    return (entry(this.state.calls, key)?.durationMs ?? null) !== null;
  }

  /** Everything that was read, drawn or not. */
  private get state(): RunState {
    return this.history?.state ?? this.view.state;
  }

  private readSoFar(): Pick<RunView, "state" | "length"> {
    const { state } = this;
    this.history = null;
    return { state, length: this.records.length };
  }

  private take(page: RunEventRecord[]): void {
    const fresh = page.filter((record) => record.seq > this.state.lastSeq);
    if (fresh.length === 0) return;
    this.records.push(...fresh);
    if (this.history) for (const record of fresh) this.history.apply(record);
    else this.show({ state: applyEvents(this.view.state, fresh), length: this.records.length });
    for (const record of fresh) {
      if (record.event.type !== "modelCallFinished") continue;
      this.texts.delete(leafOf(record.key));
      this.reasonings.delete(leafOf(record.key));
    }
  }

  private show(change: Partial<RunView>): void {
    this.view = { ...this.view, ...change };
    if (this.willTell) return;
    this.willTell = true;
    this.later(() => {
      this.willTell = false;
      this.tell(this.viewListeners);
    });
  }

  private tell(listeners: ReadonlySet<() => void>): void {
    for (const listener of listeners) listener();
  }
}
