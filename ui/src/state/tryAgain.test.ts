import { expect, test } from "vitest";
import type { RunState, StopReason } from "../contract/index.ts";
import { waysToTryAgain } from "./tryAgain.ts";

const state = (stopReason: StopReason | null, header: object = {}) =>
  ({ result: stopReason && { stopReason, cycles: 1 }, header: { recording: null, ...header }, cycles: [{ evaluation: {} }] }) as unknown as RunState;

test.each([
  ["max_cycles", {}, "guide"],
  ["no_progress", {}, "guide"],
  ["error", { flow: {} }, "continue"],
  ["cancelled", { flow: {} }, null],
  ["passed", {}, null],
  ["budget", {}, null],
  ["max_cycles", { recording: "sample" }, null],
  [null, {}, null],
] as const)("after %s, %j: %s", (reason, header, way) => expect(waysToTryAgain(state(reason, header))).toBe(way));
