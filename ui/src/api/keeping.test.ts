import { MutationObserver, QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import type { KeyInfo } from "../contract/index.ts";
import { keeping, sealed } from "./keeping.ts";

const key = "sk-canary-93d1a7b2c4e8";

/** Everything that the cache remembers, with what is inside functions as far as they give it. */
function remembered(client: QueryClient): string {
  const kept = client.getMutationCache().getAll();
  return JSON.stringify(kept.map(({ state }) => [state.variables, (state.variables as { open?: () => string } | undefined)?.open?.(), state.context, state.data]));
}

test.each([true, false])("the window forgets a key that was sent (taken: %s)", async (taken) => {
  const client = new QueryClient();
  const sent: string[] = [];
  const send = async (given: string) => {
    sent.push(given);
    if (!taken) throw new Error("no");
    return { account: "openai" } as KeyInfo;
  };
  // Somebody still looks at the outcome, so that the cache keeps it.
  const observer = new MutationObserver(client, keeping(send));
  const stop = observer.subscribe(() => {});
  await observer.mutate(sealed(key)).catch(() => {});
  expect(sent).toEqual([key]);
  expect(client.getMutationCache().getAll()).toHaveLength(1);
  expect(remembered(client)).not.toContain("canary");
  stop();
});
