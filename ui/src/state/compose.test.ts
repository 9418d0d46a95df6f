import { beforeEach, expect, test, vi } from "vitest";
import { grantedBefore, grantsOf, readKept, useCompose } from "./compose.ts";

const state = () => useCompose.getState();
const write = (text: string) => state().change(() => text);

beforeEach(() => {
  vi.useFakeTimers();
  vi.setSystemTime(0);
  state().undo();
  state().fresh();
});

test("what was typed in one go is taken back together, and can come back", () => {
  write("a");
  write("ab");
  vi.advanceTimersByTime(1000);
  write("ab c");
  state().undo();
  expect(state().source).toBe("ab");
  state().undo();
  expect(state().source).not.toBe("ab");
  state().redo();
  state().redo();
  expect(state().source).toBe("ab c");
  state().redo();
  expect(state().source).toBe("ab c");
});

test("a new change ends what could come back", () => {
  write("a");
  state().undo();
  write("b");
  state().redo();
  expect(state().source).toBe("b");
});

test("a text that takes the place of another one is not taken back into it", () => {
  write("a");
  state().opened({ source: "other", folder: null, path: null, saved: null });
  state().undo();
  expect(state().source).toBe("other");
});

test("a run is granted what a person chose, never what a file says", () => {
  const task = { approval: "never" as const, rules: [{ askMe: "step" }] };
  expect(grantsOf({ rulesAllowed: false, allowedEffects: [], approvalChosen: false }, task)).toEqual({ allowHooks: false });
  expect(grantsOf({ rulesAllowed: true, allowedEffects: [], approvalChosen: true }, task)).toEqual({ allowHooks: true, approval: "never" });
  expect(grantsOf({ rulesAllowed: true, allowedEffects: [], approvalChosen: true }, { approval: null, rules: [] })).toEqual({ allowHooks: false, approval: "every_plan" });
});

test("what a task does by itself is allowed by its content, and another text has nothing allowed", () => {
  state().fresh();
  state().allowEffect("sha256:a", true);
  state().allowEffect("sha256:b", true);
  state().allowEffect("sha256:a", false);
  expect(grantsOf(state(), { approval: null, rules: [] })).toEqual({ allowHooks: false, allowEffects: ["sha256:b"] });
  expect(readKept({ source: "x", allowedEffects: ["sha256:b", 3] })?.allowedEffects).toEqual(["sha256:b"]);
  state().opened({ source: "other", folder: null, path: null, saved: null });
  expect(state().allowedEffects).toEqual([]);
});

test("another run of a task follows the rules that were allowed, and not those that merely stood beside them", () => {
  const command = { command: { run: "ls", on: ["preStep" as const], timeout: 1, continueOnError: false } };
  const effect = { kind: "command" as const, ...command.command };
  const envelope = { folder: "/", write: true, maxTokens: 1, maxCycles: 1, effects: [{ effect, hash: "sha256:a", allowed: true }, { effect, hash: "sha256:b", allowed: false }] };
  expect(grantedBefore({ rules: [command], envelope })).toEqual({ rulesAllowed: false, allowedEffects: ["sha256:a"] });
  expect(grantedBefore({ rules: [command, { maxSteps: 3 }], envelope }).rulesAllowed).toBe(true);
});
