// Facts of a task by what kind of value they are, and a value of one kind made into another.

import { isRecord } from "./value.ts";

/** The kinds that a form can show. */
export const factKinds = ["text", "number", "yesNo", "list", "group"] as const;
/** A fact's kind. */
export type FactKind = (typeof factKinds)[number];

/** The kind of a value. */
export function factKind(value: unknown): FactKind {
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "yesNo";
  if (Array.isArray(value)) return "list";
  return isRecord(value) ? "group" : "text";
}

/** A list that is more than lines of text, so that only the source can show it. */
export function isPlainList(value: unknown): value is (string | number)[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string" || typeof item === "number");
}

/** The value as another kind, keeping what can be kept. */
export function convertFact(value: unknown, to: FactKind): unknown {
  switch (to) {
    case "text":
      if (isPlainList(value)) return value.join(", ");
      return typeof value === "object" && value !== null ? "" : value === null || value === undefined ? "" : String(value);
    case "number": {
      const number = Number(typeof value === "string" ? value.replace(/[, ]/g, "") : value);
      return Number.isFinite(number) && typeof value !== "object" ? number : 0;
    }
    case "yesNo":
      return value === true || value === "true" || value === "yes" || value === 1;
    case "list":
      if (Array.isArray(value)) return value;
      return typeof value === "string" && value !== "" ? value.split(/\s*,\s*/) : isRecord(value) ? Object.keys(value) : [];
    case "group":
      return isRecord(value) ? value : {};
  }
}

/** A name that is not taken: `fact`, `fact_2`, … */
export function freeName(taken: readonly string[], base: string): string {
  if (!taken.includes(base)) return base;
  for (let number = 2; ; number += 1) {
    const name = `${base}_${number}`;
    if (!taken.includes(name)) return name;
  }
}
