// Where in a file the evidence for a criterion stands: in rows, in lines, or as words that were quoted from it.

import type { CriterionResult } from "../contract/index.ts";

/** A place in a file. */
export type Place =
  /** Rows of a table; the heading is row 1. */
  | { kind: "rows"; rows: number[] }
  /** Lines of a text, from 1 on. */
  | { kind: "lines"; lines: number[] }
  /** Words that stand in it. */
  | { kind: "quote"; text: string };

/** The place that evidence names; null when it is about the file as a whole. */
export function placeOf(result: Pick<CriterionResult, "evidence" | "by">): Place | null {
  const { evidence } = result;
  if (result.by === "model") {
    const text = unquoted(evidence);
    return text === "" ? null : { kind: "quote", text };
  }
  const rows = numbersAfter(evidence, "rows?");
  if (rows.length > 0) return { kind: "rows", rows };
  const lines = numbersAfter(evidence, "lines?");
  return lines.length > 0 ? { kind: "lines", lines } : null;
}

function numbersAfter(text: string, word: string): number[] {
  const found = [...text.matchAll(new RegExp(`\\b${word} (\\d+(?:, \\d+)*)`, "g"))];
  return [...new Set(found.flatMap(([, numbers]) => (numbers ?? "").split(", ").map(Number)))];
}

function unquoted(text: string): string {
  return text.trim().replace(/^["“”]+|["“”]+$/g, "").trim();
}

/** Text as it is compared: what is between words, how letters are written and what Markdown adds do not count. */
export function folded(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/[*_`#>|~\s]+/g, " ").replace(/[“”„]/g, '"').replace(/[‘’]/g, "'").trim();
}

/** Where words stand in a text, from and to; white space between them does not count. */
export function findQuote(text: string, quote: string): [number, number] | null {
  const words = quote.trim().split(/\s+/).filter(Boolean);
  if (words.length === 0) return null;
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+");
  const found = new RegExp(pattern, "iu").exec(text);
  return found ? [found.index, found.index + found[0].length] : null;
}

/** Where a line stands in a text, from and to. */
export function rangeOfLine(text: string, line: number): [number, number] | null {
  let from = 0;
  for (let current = 1; current < line; current += 1) {
    const end = text.indexOf("\n", from);
    if (end === -1) return null;
    from = end + 1;
  }
  const end = text.indexOf("\n", from);
  return [from, end === -1 ? text.length : end];
}

/** The range of a place in a text; null when it is not there any more. */
export function rangeInText(text: string, place: Place): [number, number] | null {
  switch (place.kind) {
    case "quote":
      return findQuote(text, place.text);
    case "rows":
    case "lines": {
      const [first] = place.kind === "rows" ? place.rows : place.lines;
      return first === undefined ? null : rangeOfLine(text, first);
    }
  }
}
