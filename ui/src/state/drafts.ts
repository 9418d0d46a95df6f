// What was changed in a form of the settings and not saved yet. It is kept while the window is open, so that looking
// elsewhere loses nothing; keys are never among it.

import { useEffect } from "react";
import { create } from "zustand";

interface Draft {
  /** What was kept when this was begun: once that is another, the draft is about something that is no more. */
  base: string;
  value: unknown;
}

interface Drafts {
  drafts: { readonly [name: string]: Draft };
  put: (name: string, draft: Draft) => void;
  forget: (name: string) => void;
}

/** The drafts of this window. */
export const useDrafts = create<Drafts>()((set) => ({
  drafts: {},
  put: (name, draft) => set(({ drafts }) => ({ drafts: { ...drafts, [name]: draft } })),
  forget: (name) => set(({ drafts }) => ({ drafts: Object.fromEntries(Object.entries(drafts).filter(([other]) => other !== name)) })),
}));

/** What a form shows: what is kept, or what was made of it and not saved. Also how to change it, and how to take it back. */
export function useDraft<T>(name: string, kept: T): [T, (value: T) => void, () => void] {
  const base = JSON.stringify(kept);
  const draft = useDrafts((state) => state.drafts[name]);
  const put = useDrafts((state) => state.put);
  const forget = useDrafts((state) => state.forget);
  const isPast = draft !== undefined && draft.base !== base;
  useEffect(() => {
    if (isPast) forget(name);
  }, [isPast, name, forget]);
  const change = (value: T) => (JSON.stringify(value) === base ? forget(name) : put(name, { base, value }));
  return [shownOf(draft, kept), change, () => forget(name)];
}

/** What is shown where this is kept and that was made of it; a draft of something else does not count. */
export function shownOf<T>(draft: Draft | undefined, kept: T): T {
  return draft?.base === JSON.stringify(kept) ? (draft.value as T) : kept;
}

/** The parts of the settings with something that is not saved; a name is a part's, or begins with it and a colon. */
export function unsavedParts(drafts: Drafts["drafts"]): ReadonlySet<string> {
  return new Set(Object.keys(drafts).map((name) => name.split(":")[0] ?? name));
}
