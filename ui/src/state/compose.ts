// The task that is being written: its text, its folder, and the file it belongs to. Kept by the app as a draft.

import { create } from "zustand";
import type { RunHeader, RunOptions } from "../contract/index.ts";
import { type Draft, freshSource } from "./taskSource.ts";

/** What is kept of a draft. */
export interface ComposeDraft {
  source: string;
  folder: string | null;
  /** The file it was opened from or saved to. */
  path: string | null;
  /** The text as that file has it. */
  saved: string | null;
  /** Whether a person allowed the task's rules; those that a file brings are off until then. */
  rulesAllowed: boolean;
  /** What a person allowed of what the task would have done by itself, by its content: changed, it is another thing. */
  allowedEffects: readonly string[];
  /** Whether a person chose when plans wait; what a file says about it does not count until then. */
  approvalChosen: boolean;
}

interface ComposeState extends ComposeDraft {
  /** Whether the kept draft has been read. */
  loaded: boolean;
  /** Whether problems are shown everywhere, or only where somebody has been. */
  showAll: boolean;
  visited: ReadonlySet<string>;
  /** Whether the app could keep the draft when it was last told to. */
  isKept: boolean;
  /** Counts the texts that took the place of another one: what was said of one is not held against the next. */
  texts: number;
  /** Earlier texts, the last one at the end; and those that were taken back, the next one at the end. */
  past: readonly string[];
  future: readonly string[];
  load: (draft: ComposeDraft | null) => void;
  change: (edit: (source: string) => string) => void;
  undo: () => void;
  redo: () => void;
  setFolder: (folder: string | null) => void;
  allowRules: (allowed: boolean) => void;
  allowEffect: (hash: string, allowed: boolean) => void;
  chooseApproval: () => void;
  opened: (draft: Pick<ComposeDraft, "source" | "folder" | "path" | "saved">) => void;
  /** Begins with a text that is in no file yet; the folder stays. */
  begin: (source: string) => void;
  savedAs: (path: string) => void;
  fresh: () => void;
  visit: (place: string) => void;
  revealAll: () => void;
  keptAs: (isKept: boolean) => void;
}

/** Changes that follow one another within this time are taken back together. */
const pause = 700;
const mostPast = 200;
/** Of a very long text fewer are remembered. */
const mostPastLength = 20_000_000;
const typing = { until: 0 };

/** The earlier texts with one more, unless somebody is still typing the same thought. */
function remembered(past: readonly string[], source: string, now: number): readonly string[] {
  const same = now < typing.until && past.length > 0;
  typing.until = now + pause;
  return same ? past : [...past, source].slice(-Math.max(1, Math.min(mostPast, Math.floor(mostPastLength / source.length))));
}

const visitDelay = 450;
const empty: ComposeDraft = { source: freshSource, folder: null, path: null, saved: null, rulesAllowed: false, allowedEffects: [], approvalChosen: false };

/** The composer's state. */
export const useCompose = create<ComposeState>()((set) => ({
  ...empty,
  loaded: false,
  showAll: false,
  isKept: true,
  visited: new Set(),
  texts: 0,
  load: (draft) => set((now) => ({ ...(draft ?? empty), loaded: true, texts: now.texts + 1, past: [], future: [] })),
  past: [],
  future: [],
  change: (edit) =>
    set((now) => {
      const source = edit(now.source);
      return source === now.source ? now : { source, past: remembered(now.past, now.source, Date.now()), future: [] };
    }),
  undo: () =>
    set((now) => {
      const source = now.past.at(-1);
      typing.until = 0;
      return source === undefined ? now : { source, past: now.past.slice(0, -1), future: [...now.future, now.source] };
    }),
  redo: () =>
    set((now) => {
      const source = now.future.at(-1);
      typing.until = 0;
      return source === undefined ? now : { source, past: [...now.past, now.source], future: now.future.slice(0, -1) };
    }),
  setFolder: (folder) => set({ folder }),
  allowRules: (rulesAllowed) => set({ rulesAllowed }),
  allowEffect: (hash, allowed) =>
    set((now) => ({ allowedEffects: [...now.allowedEffects.filter((one) => one !== hash), ...(allowed ? [hash] : [])] })),
  chooseApproval: () => set({ approvalChosen: true }),
  opened: (draft) => set((now) => ({ ...draft, rulesAllowed: false, allowedEffects: [], approvalChosen: false, showAll: true, visited: new Set(), texts: now.texts + 1, past: [], future: [] })),
  begin: (source) => set((now) => ({ ...empty, source, folder: now.folder, showAll: false, visited: new Set(), texts: now.texts + 1, past: [], future: [] })),
  savedAs: (path) => set((now) => ({ path, saved: now.source })),
  fresh: () => set((now) => ({ ...empty, showAll: false, visited: new Set(), texts: now.texts + 1, past: [], future: [] })),
  // A moment later: a field is left by clicking on something else, and a line of red that appears at once would push
  // that away from under the pointer. By then the app has also looked at the last words.
  visit: (place) => {
    window.setTimeout(() => set((now) => (now.visited.has(place) ? now : { visited: new Set([...now.visited, place]) })), visitDelay);
  },
  revealAll: () => set({ showAll: true }),
  keptAs: (isKept) => set((now) => (now.isKept === isKept ? now : { isKept })),
}));

/** Reads a kept draft; anything unexpected is no draft. */
export function readKept(value: unknown): ComposeDraft | null {
  if (typeof value !== "object" || value === null || !("source" in value) || typeof value.source !== "string") return null;
  const text = (name: string) => {
    const found = (value as Record<string, unknown>)[name];
    return typeof found === "string" ? found : null;
  };
  const texts = (name: string) => {
    const found = (value as Record<string, unknown>)[name];
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  };
  const yes = (name: string) => (value as Record<string, unknown>)[name] === true;
  return {
    source: value.source,
    folder: text("folder"),
    path: text("path"),
    saved: text("saved"),
    rulesAllowed: yes("rulesAllowed"),
    allowedEffects: texts("allowedEffects"),
    approvalChosen: yes("approvalChosen"),
  };
}

/** Whether nothing has been written yet. */
export function isUntouched(draft: ComposeDraft): boolean {
  return draft.source === freshSource && draft.folder === null && draft.path === null;
}

/** What a person granted for the run of a draft: never more than they chose themselves. */
export function grantsOf(draft: Pick<ComposeDraft, "rulesAllowed" | "approvalChosen" | "allowedEffects">, task: Pick<Draft, "approval" | "rules">): RunOptions {
  const approval = draft.approvalChosen ? (task.approval ?? "every_plan") : undefined;
  const effects = draft.allowedEffects.length === 0 ? {} : { allowEffects: [...draft.allowedEffects] };
  return { allowHooks: draft.rulesAllowed && task.rules.length > 0, ...effects, ...(approval === undefined ? {} : { approval }) };
}

/** Whether there are words that are in no file. */
export function hasUnsaved(draft: ComposeDraft): boolean {
  return draft.saved === null ? !isUntouched(draft) : draft.source !== draft.saved;
}

/** What a person granted for a run, for another run of the same task: its rules, and what it may do by itself. */
export function grantedBefore(header: Pick<RunHeader, "rules" | "envelope">): Pick<ComposeDraft, "rulesAllowed" | "allowedEffects"> {
  return {
    // Rules that do something by themselves stand in a run whether the others are allowed or not.
    rulesAllowed: (header.rules ?? []).some((rule) => !("command" in rule) && !("webhook" in rule)),
    allowedEffects: (header.envelope.effects ?? []).filter(({ allowed }) => allowed).map(({ hash }) => hash),
  };
}
