import { expect, test } from "vitest";
import type { RunState, UndoFile, UndoPreview, UndoState } from "../contract/index.ts";
import { emptyRun } from "./runState.ts";
import { nothingChosen, request, undonePaths } from "./undo.ts";

function file(path: string, standing: UndoFile["standing"]): UndoFile {
  return { path, standing, to: null, left: null, now: null, isLink: false, merging: standing === "edited" ? "clean" : null };
}

const preview: UndoPreview = {
  redo: false,
  files: [file("a", "restores"), file("b", "deletes"), file("c", "edited"), file("d", "missing"), file("e", "unchanged"), file("f", "blocked")],
  folders: [],
  stamp: "sha256:0",
  unfinished: false,
};

test("what nobody else touched is undone, and what somebody did stays, until a person chooses otherwise", () => {
  expect(request(preview, nothingChosen)).toEqual([
    { path: "a", choice: null },
    { path: "b", choice: null },
  ]);
  const chosen = { without: new Set(["a"]), choices: new Map([["c", "merge" as const], ["d", "restore" as const], ["f", "restore" as const]]) };
  expect(request(preview, chosen)).toEqual([
    { path: "b", choice: null },
    { path: "c", choice: "merge" },
    { path: "d", choice: "restore" },
  ]);
});

test("a file is undone until it is brought back, and one that could not be restored never was", () => {
  const of = (redo: boolean, paths: string[], left: string[] | null): UndoState => ({
    redo,
    files: paths.map((path) => ({ path, from: null, to: null })),
    left: left && left.map((path) => ({ path, why: "the disk is full" })),
    atMs: 0,
  });
  const after = (...undos: UndoState[]): RunState => ({ ...emptyRun, undos });
  expect([...undonePaths(emptyRun)]).toEqual([]);
  expect([...undonePaths(after(of(false, ["a", "b"], ["b"])))]).toEqual(["a"]);
  expect([...undonePaths(after(of(false, ["a", "b"], []), of(true, ["a"], [])))]).toEqual(["b"]);
  expect([...undonePaths(after(of(false, ["a"], null)))]).toEqual([]);
});
