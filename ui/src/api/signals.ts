// One subscription to the host, handed on to whoever listens in this page.

import type { Signal } from "../contract/index.ts";
import { host } from "../host/index.ts";

type Listener = (signal: Signal) => void;

const listeners = new Set<Listener>();
const reopenListeners = new Set<() => void>();

host.onSignal(
  (signal) => {
    for (const listener of listeners) listener(signal);
  },
  () => {
    for (const listener of reopenListeners) listener();
  },
);

/** Hears every signal until the returned function is called; `onReopen` when some may have been missed. */
export function listen(listener: Listener, onReopen?: () => void): () => void {
  listeners.add(listener);
  if (onReopen) reopenListeners.add(onReopen);
  return () => {
    listeners.delete(listener);
    if (onReopen) reopenListeners.delete(onReopen);
  };
}
