// Sending a key. The window forgets it as soon as the app has it, or has refused it: what a mutation was given stays in its
// cache otherwise, for as long as the window is open.

import type { MutationOptions } from "@tanstack/react-query";
import type { KeyInfo } from "../contract/index.ts";
import type { HostError } from "../host/index.ts";

/** A key that waits to be sent; it is read once. */
export interface Sealed {
  open: () => string;
}

/** Seals a key, so that nothing that remembers what it was given remembers the key. */
export function sealed(key: string): Sealed {
  let held: string | null = key;
  return {
    open: () => {
      const read = held ?? "";
      held = null;
      return read;
    },
  };
}

/** How a key is sent: nothing of it is remembered, and nothing is sent again. */
export function keeping(send: (key: string) => Promise<KeyInfo>): MutationOptions<KeyInfo, HostError, Sealed> {
  return { mutationFn: (key) => send(key.open()), gcTime: 0, retry: false };
}
