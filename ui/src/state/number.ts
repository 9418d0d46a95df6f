// A number as a person types it: a dot or a comma before the part behind it, marks between thousands, whichever the language.

import type { Language } from "./preferences.ts";

/** Why something typed is not taken. */
export type Refusal =
  | { why: "needed" }
  | { why: "notNumber" }
  | { why: "notWhole" }
  | { why: "twoWays"; small: number; large: number }
  | { why: "below"; least: number }
  | { why: "above"; most: number };

/** What was typed: a number, nothing, or what is not taken. */
export type Reading = { value: number | null } | { refused: Refusal };

/** What a field takes. */
export interface Wanted {
  whole?: boolean;
  /** Whether the field may not be left empty. */
  needed?: boolean;
  min?: number | undefined;
  max?: number | undefined;
}

/** Reads what was typed. Nothing is made of what could mean two numbers, and nothing is taken for no number at all. */
export function readNumber(typed: string, wanted: Wanted, language: Language): Reading {
  const plain = typed.replace(/[\s'’_]/gu, "");
  if (plain === "") return wanted.needed ? { refused: { why: "needed" } } : { value: null };
  const parts = /^([+-]?)([\d.,]*\d[\d.,]*)$/.exec(plain);
  if (!parts) return { refused: { why: "notNumber" } };
  const [, sign = "", digits = ""] = parts;
  const read = wanted.whole ? wholeOf(digits) : amountOf(digits, language);
  if (typeof read !== "number") return { refused: read };
  const value = sign === "-" ? -read : read;
  if (wanted.min !== undefined && value < wanted.min) return { refused: { why: "below", least: wanted.min } };
  if (wanted.max !== undefined && value > wanted.max) return { refused: { why: "above", most: wanted.max } };
  return { value };
}

/** Digits in groups of three, such as `64.000`. */
const grouped = /^\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*$/;

function wholeOf(digits: string): number | Refusal {
  if (/^\d+$/.test(digits)) return Number(digits);
  return grouped.test(digits) ? Number(digits.replace(/[.,]/g, "")) : { why: "notWhole" };
}

function amountOf(digits: string, language: Language): number | Refusal {
  const marks = digits.replace(/\d/g, "");
  if (marks === "") return Number(digits);
  const last = marks.slice(-1);
  const others = marks.slice(0, -1);
  if (others === "") {
    const small = Number(digits.replace(last, "."));
    // A mark that this language puts between thousands, just where it would put it: 1,500 in English.
    const isOther = last !== (language === "de" ? "," : ".");
    return isOther && /^[1-9]\d{0,2}[.,]\d{3}$/.test(digits) ? { why: "twoWays", small, large: small * 1000 } : small;
  }
  if (others.includes(last)) return grouped.test(digits) ? Number(digits.replace(/[.,]/g, "")) : { why: "notNumber" };
  const [whole = "", behind = ""] = digits.split(last);
  const read = wholeOf(whole);
  return typeof read === "number" ? Number(`${read}.${behind}`) : { why: "notNumber" };
}

/** A number as a field shows it: whole ones with marks between thousands, sums without, and never rounded to two digits. */
export function writeNumber(value: number, wanted: Wanted, language: Language): string {
  if (wanted.whole) return new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value);
  const digits = { maximumFractionDigits: 10, useGrouping: false };
  return new Intl.NumberFormat(language, digits).format(value);
}
