// Two versions of a text as lines: what went, what came, and a little of what stayed around it.

import { structuredPatch } from "diff";

/** One line of the comparison. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  /** Its number in the new text, or in the old one when it went. */
  number: number;
}

/** A part of the comparison with nothing left out. */
export type DiffHunk = DiffLine[];

const around = 3;
/** Beyond this many changes, or after this many milliseconds, a comparison is nothing that anybody would read. */
const [mostEdits, mostTime] = [2000, 200];

/** Compares two texts; null when they differ in too many places to be compared line by line. */
export function compareTexts(before: string, after: string): DiffHunk[] | null {
  const patch = structuredPatch("a", "b", before, after, "", "", { context: around, maxEditLength: mostEdits, timeout: mostTime });
  return patch ? patch.hunks.map(({ lines, oldStart, newStart }) => hunk(lines, oldStart, newStart)) : null;
}

function hunk(lines: readonly string[], oldStart: number, newStart: number): DiffHunk {
  let [old, now] = [oldStart, newStart];
  return lines.flatMap((line): DiffLine[] => {
    const text = line.slice(1);
    switch (line[0]) {
      case "+":
        return [{ kind: "added", text, number: now++ }];
      case "-":
        return [{ kind: "removed", text, number: old++ }];
      case " ":
        old += 1;
        return [{ kind: "same", text, number: now++ }];
      default:
        // "\ No newline at end of file" is about the file and not a line of it.
        return [];
    }
  });
}
