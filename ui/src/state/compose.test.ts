import { beforeEach, expect, test, vi } from "vitest";
import { grantsOf, useCompose } from "./compose.ts";

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
  expect(grantsOf({ rulesAllowed: false, approvalChosen: false }, task)).toEqual({ allowHooks: false });
  expect(grantsOf({ rulesAllowed: true, approvalChosen: true }, task)).toEqual({ allowHooks: true, approval: "never" });
  expect(grantsOf({ rulesAllowed: true, approvalChosen: true }, { approval: null, rules: [] })).toEqual({ allowHooks: false, approval: "every_plan" });
});
