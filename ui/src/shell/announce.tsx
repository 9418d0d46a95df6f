// Says aloud, for screen readers, what changes without being looked at.

import { create } from "zustand";
import classes from "./Shell.module.css";

const useAnnouncement = create<{ words: string }>(() => ({ words: "" }));

/** Has these words read out when the reader is free. */
export function announce(words: string): void {
  useAnnouncement.setState({ words });
}

/** Moves the reader to the screen's content when what had the focus is gone. */
export function focusScreen(): void {
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
}

/** The place that is read out. Stands once in the shell. */
export function Announcer() {
  const words = useAnnouncement((state) => state.words);
  return (
    <div className={classes.visuallyHidden} role="status" aria-live="polite">
      {words}
    </div>
  );
}
