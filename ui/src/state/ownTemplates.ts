// Templates that a person made of their own tasks. They are kept by the app beside the drafts.

import type { Draft } from "./taskSource.ts";
import { isRecord } from "./value.ts";

/** A task that was kept to begin with. */
export interface OwnTemplate {
  title: string;
  source: string;
}

/** Reads what was kept; anything unexpected is left out. */
export function readTemplates(value: unknown): OwnTemplate[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one) => (isRecord(one) && typeof one["title"] === "string" && typeof one["source"] === "string" ? [{ title: one["title"], source: one["source"] }] : []));
}

/** The templates with one more, in the place of one with the same title. */
export function withTemplate(templates: readonly OwnTemplate[], template: OwnTemplate): OwnTemplate[] {
  return [...withoutTemplate(templates, template.title), template];
}

/** The templates without one. */
export function withoutTemplate(templates: readonly OwnTemplate[], title: string): OwnTemplate[] {
  return templates.filter((one) => one.title !== title);
}

const longest = 60;

/** What a task is called as a template: its name, or the beginning of its goal; null for one that says nothing yet. */
export function templateTitle(draft: Pick<Draft, "name" | "goal"> | null): string | null {
  const words = (draft?.name || draft?.goal || "").trim().replace(/\s+/g, " ");
  if (words === "") return null;
  return words.length > longest ? `${words.slice(0, longest - 1).trimEnd()}…` : words;
}
