// The text in which a search found something, in pieces: what is marked and what is not.

import type { Found } from "../contract/index.ts";

/** A piece of text. */
export interface FoundPiece {
  text: string;
  marked: boolean;
}

/** The pieces of a text in order, none of them empty; marks that do not lie in it are passed over. */
export function foundPieces({ text, marks }: Pick<Found, "text" | "marks">): FoundPiece[] {
  const pieces: FoundPiece[] = [];
  let at = 0;
  for (const { from, to } of marks) {
    if (from < at || to <= from || to > text.length) continue;
    if (from > at) pieces.push({ text: text.slice(at, from), marked: false });
    pieces.push({ text: text.slice(from, to), marked: true });
    at = to;
  }
  if (at < text.length) pieces.push({ text: text.slice(at), marked: false });
  return pieces;
}
