// Reads a sentence and finds the check that says the same, when there is one. Never applied by itself: it is offered.

/** A check that fits a sentence. */
export interface Suggestion {
  name: string;
  args: Record<string, unknown>;
}

const number = "(\\d[\\d,. ]*)";
const atMost = "(?:at most|no more than|not more than|up to|maximum(?: of)?|fewer than|less than|under)";
const atLeast = "(?:at least|no fewer than|minimum(?: of)?|more than)";

const rules: { when: RegExp; offer: (found: RegExpExecArray) => Suggestion | null }[] = [
  { when: new RegExp(`${atMost} ${number} words`, "i"), offer: ([, most]) => bounded("words", "max", most) },
  { when: new RegExp(`${atLeast} ${number} words`, "i"), offer: ([, least]) => bounded("words", "min", least) },
  {
    when: /columns (?:are|is|:) *:? *(.+)$/i,
    offer: ([, list]) => {
      const columns = names(list ?? "");
      return columns.length > 0 ? { name: "csv", args: { columns } } : null;
    },
  },
  {
    when: /(?:every|each) (?:\w+ )?(\w+) (?:appears|is listed|occurs|stands|is there|is) (?:only |exactly )?once/i,
    offer: ([, column]) => (column ? { name: "csv", args: { unique: [column] } } : null),
  },
  { when: /(\w+) is unique/i, offer: ([, column]) => (column ? { name: "csv", args: { unique: [column] } } : null) },
  { when: new RegExp(`${atLeast} ${number} rows?`, "i"), offer: ([, least]) => rows("min", least) },
  { when: new RegExp(`${atMost} ${number} rows?`, "i"), offer: ([, most]) => rows("max", most) },
  { when: /\bvalid json\b/i, offer: () => ({ name: "json", args: {} }) },
  { when: /(?:contains?|mentions?|includes?) (?:the (?:word|words|text) )?["“”'‘]([^"“”'’]+)["“”'’]/i, offer: ([, words]) => ({ name: "contains", args: { text: words ?? "" } }) },
  { when: /\b(?:is )?not empty\b/i, offer: () => ({ name: "not_empty", args: {} }) },
];

/** The check that a sentence asks for. `available` are the names that the app knows. */
export function suggestCheck(sentence: string, available: readonly string[]): Suggestion | null {
  for (const { when, offer } of rules) {
    const found = when.exec(sentence.trim().replace(/[.!]$/, ""));
    const suggestion = found && offer(found);
    if (suggestion && available.includes(suggestion.name)) return suggestion;
  }
  return null;
}

function bounded(name: string, side: "min" | "max", digits: string | undefined): Suggestion | null {
  const value = Number((digits ?? "").replace(/[^\d]/g, ""));
  return value > 0 ? { name, args: { [side]: value } } : null;
}

function rows(side: "min" | "max", digits: string | undefined): Suggestion | null {
  const inner = bounded("", side, digits);
  return inner && { name: "csv", args: { rows: inner.args } };
}

function names(list: string): string[] {
  const parts = list
    .split(/,|;|\band\b/i)
    .map((part) => part.trim().replace(/^["“]|["”]$/g, ""))
    .filter(Boolean);
  // A part with several words is prose, not the name of a column.
  return parts.every((part) => /^[\p{L}\p{N}_-]+$/u.test(part)) ? parts : [];
}
