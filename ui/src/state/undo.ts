// What a person can undo of a run, and what they chose. Plain decisions; the app looks at the files itself.

import type { ChosenFile, RunState, UndoChoice, UndoFile, UndoPreview } from "../contract/index.ts";

/** The files whose changes are undone now. */
export function undonePaths(state: RunState): ReadonlySet<string> {
  const undone = new Set<string>();
  for (const { redo, files, left } of state.undos ?? []) {
    if (left === null) continue;
    for (const { path } of files) {
      if (left.some((one) => one.path === path)) continue;
      if (redo) undone.delete(path);
      else undone.add(path);
    }
  }
  return undone;
}

/** Changes whenever a run or an undo may have changed a file. */
export function filesStamp(state: RunState): string {
  const ended = (state.undos ?? []).filter((undo) => undo.left !== null).length;
  return `${state.files.length}.${state.files.filter((file) => file.done).length}.${ended}`;
}

/** Whether an undo would touch the file if a person wants it. */
export function canBeTouched(file: UndoFile): boolean {
  return file.standing === "restores" || file.standing === "deletes" || needsChoice(file);
}

/** Whether somebody changed it since, so that a person has to say what happens. */
export function needsChoice(file: UndoFile): boolean {
  return file.standing === "edited" || file.standing === "missing";
}

/** What a person chose so far: the files that they took out, and what happens to those that were edited since. */
export interface Chosen {
  without: ReadonlySet<string>;
  choices: ReadonlyMap<string, UndoChoice>;
}

/** Everything that nobody else touched, and nothing that somebody did. */
export const nothingChosen: Chosen = { without: new Set(), choices: new Map() };

/** What happens to a file that was edited since; unless a person says otherwise it stays as it is. */
export function choiceOf(file: UndoFile, chosen: Chosen): UndoChoice {
  return chosen.choices.get(file.path) ?? "keep";
}

/** The files that will be touched. */
export function touched(preview: UndoPreview, chosen: Chosen): UndoFile[] {
  return preview.files.filter((file) => {
    if (needsChoice(file)) return choiceOf(file, chosen) !== "keep";
    return canBeTouched(file) && !chosen.without.has(file.path);
  });
}

/** The same as the app is asked for it. */
export function request(preview: UndoPreview, chosen: Chosen): ChosenFile[] {
  return touched(preview, chosen).map((file) => ({ path: file.path, choice: needsChoice(file) ? choiceOf(file, chosen) : null }));
}
