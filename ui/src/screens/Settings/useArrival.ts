// Puts the cursor into the field that somebody was led to, as soon as it is there.

import { type RefObject, useEffect, useRef } from "react";
import { type AccountField, useAsked, useIsAsked } from "../../state/asked.ts";

/** To be given to the field. */
export function useArrival(account: string, field: AccountField): RefObject<HTMLInputElement | null> {
  const input = useRef<HTMLInputElement>(null);
  const asked = useIsAsked(account, field);
  useEffect(() => {
    if (!asked) return undefined;
    // After the screen has taken the focus, which it does when somebody comes from another.
    const frame = requestAnimationFrame(() => {
      input.current?.scrollIntoView({ block: "center" });
      input.current?.focus({ preventScroll: true });
      useAsked.getState().arrived();
    });
    return () => cancelAnimationFrame(frame);
  }, [asked]);
  return input;
}
