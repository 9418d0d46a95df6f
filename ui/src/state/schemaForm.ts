// From a check's JSON Schema to the fields of its form, and from what was filled in to the arguments that are written.

import type { CheckInfo } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { count } from "./format.ts";
import { isRecord } from "./value.ts";

/** A field of a form, by what a person does with it. */
export type Field = { name: string; title: string; hint: string; required: boolean } & FieldKind;

/** What kind of input a field is. */
export type FieldKind =
  | { kind: "text"; long: boolean }
  | { kind: "number"; whole: boolean; min: number | null }
  | { kind: "yesNo" }
  | { kind: "choice"; options: string[] }
  | { kind: "names" }
  | { kind: "value" }
  | { kind: "group"; fields: Field[] }
  | { kind: "map"; value: FieldKind }
  | { kind: "either"; options: { title: string; value: FieldKind; accepts: (value: unknown) => boolean }[] }
  | { kind: "raw" };

type Schema = Record<string, unknown>;

/** The fields of a check's form; none for a check without details. */
export function formFields(schema: unknown): Field[] {
  return isRecord(schema) ? fieldsOf(schema) : [];
}

function fieldsOf(schema: Schema): Field[] {
  const properties = isRecord(schema["properties"]) ? schema["properties"] : {};
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  return Object.entries(properties).flatMap(([name, property]) =>
    isRecord(property)
      ? [{ name, title: titleOf(property) || name, hint: textOf(property["description"]), required: required.includes(name), ...kindOf(property, name) }]
      : [],
  );
}

function kindOf(schema: Schema, name = ""): FieldKind {
  const options = [schema["anyOf"], schema["oneOf"]].find(Array.isArray)?.filter(isRecord).filter((option) => option["type"] !== "null");
  if (options && options.length > 0) return alternatives(options, name);
  if (Array.isArray(schema["enum"])) return { kind: "choice", options: schema["enum"].map(String) };
  const types = typesOf(schema);
  const [first] = types;
  if (types.length > 1 && types.every((type) => ["string", "number", "integer", "boolean"].includes(type))) return { kind: "value" };
  switch (first) {
    case "string":
      return { kind: "text", long: name === "sql" || name === "pattern" };
    case "integer":
    case "number":
      return { kind: "number", whole: first === "integer", min: typeof schema["minimum"] === "number" ? schema["minimum"] : null };
    case "boolean":
      return { kind: "yesNo" };
    case "array":
      return isRecord(schema["items"]) && typesOf(schema["items"])[0] === "string" ? { kind: "names" } : { kind: "raw" };
    case "object":
      if (isRecord(schema["properties"])) return { kind: "group", fields: fieldsOf(schema) };
      return isRecord(schema["additionalProperties"]) ? { kind: "map", value: kindOf(schema["additionalProperties"]) } : { kind: "raw" };
    default:
      return { kind: "raw" };
  }
}

function alternatives(options: Schema[], name: string): FieldKind {
  const [only] = options;
  if (options.length === 1 && only) return kindOf(only, name);
  const group = options.find((option) => typesOf(option)[0] === "object");
  const short = options.find((option) => option !== group);
  // A short form of one of the group's own fields is written as the group.
  if (group && short && options.length === 2) {
    const long = kindOf(group, name);
    if (long.kind === "group" && long.fields.some((field) => field.title === titleOf(short))) return long;
  }
  return {
    kind: "either",
    options: options.map((option) => ({ title: titleOf(option), value: kindOf(option, name), accepts: (value) => acceptsType(option, value) })),
  };
}

function acceptsType(schema: Schema, value: unknown): boolean {
  const type = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  return typesOf(schema).some((one) => one === type || (one === "integer" && type === "number"));
}

function typesOf(schema: Schema): string[] {
  const { type } = schema;
  return (Array.isArray(type) ? type.map(String) : typeof type === "string" ? [type] : []).filter((one) => one !== "null");
}

function titleOf(schema: Schema): string {
  return textOf(schema["title"]);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** The arguments as an object, however short they are written: `contains: Total` means `{ text: Total }`. */
export function longArgs(schema: unknown, args: unknown): Record<string, unknown> {
  if (isRecord(args)) return args;
  if (args === null || args === undefined || args === true || !isRecord(schema)) return {};
  const short = textOf(schema["x-short"]);
  return short === "" ? {} : { [short]: args };
}

/** The value of a group's field, where the group may be written short as one of its fields. */
export function groupValue(fields: readonly Field[], value: unknown): Record<string, unknown> {
  if (isRecord(value)) return value;
  const first = fields.find((field) => field.required) ?? fields[0];
  return value === undefined || value === null || !first ? {} : { [first.name]: value };
}

/** What is written: fields that are empty or as they would be anyway are left out. */
export function tidyArgs(args: Record<string, unknown>): Record<string, unknown> | null {
  const kept = Object.entries(args).flatMap(([name, value]) => {
    const tidy = tidyValue(value);
    return tidy === undefined ? [] : [[name, tidy] as const];
  });
  return kept.length === 0 ? null : Object.fromEntries(kept);
}

function tidyValue(value: unknown): unknown {
  if (value === undefined || value === null || value === "" || value === false) return undefined;
  if (Array.isArray(value)) {
    const filled = value.filter((item) => item !== "");
    return filled.length === 0 ? undefined : filled;
  }
  if (isRecord(value)) return tidyArgs(value) ?? undefined;
  return value;
}

/** A check as it is written in a task. */
export function writeCheck(name: string, args: Record<string, unknown>): unknown {
  const tidy = tidyArgs(args);
  return tidy === null ? name : { [name]: tidy };
}

/** `500`, `true` and words, from what was typed where any of them may stand. */
export function readValue(typed: string): string | number | boolean {
  if (typed === "true" || typed === "false") return typed === "true";
  return /^-?\d+(\.\d+)?$/.test(typed.trim()) ? Number(typed) : typed;
}

const longest = 42;

/** A check in a few words, for its chip: `words: at most 600`, or its title where there are no small details. */
export function checkSummary(info: CheckInfo, args: unknown, t: Text): string {
  const given = longArgs(info.schema, args);
  const details = formFields(info.schema).flatMap((field) => detail(field, given[field.name], t));
  const words = details.join(", ");
  if (words === "" || details.length !== Object.values(given).filter(isFilled).length) return info.title;
  const all = `${info.name.replaceAll("_", " ")}: ${words}`;
  return all.length > longest ? `${all.slice(0, longest - 1).trimEnd()}…` : all;
}

function isFilled(value: unknown): boolean {
  return tidyValue(value) !== undefined;
}

function detail(field: Field, value: unknown, t: Text): string[] {
  if (value === undefined || value === null || value === false || value === "") return [];
  const title = field.title.charAt(0).toLowerCase() + field.title.slice(1);
  if (typeof value === "number") return [`${title} ${count(value)}`];
  if (typeof value === "string") return field.kind === "text" && !field.long ? [t("checks.quoted", { text: value })] : [];
  if (Array.isArray(value)) return value.length === 0 ? [] : [`${title} ${value.map(String).join(", ")}`];
  if (field.kind === "group" && isRecord(value)) {
    const inner = field.fields.flatMap((one) => detail(one, value[one.name], t));
    return inner.length > 0 && inner.every((part) => /\d$/.test(part)) ? [`${title} ${inner.join(", ")}`] : [title];
  }
  return field.kind === "map" && Object.keys(value).length > 0 ? [title] : [];
}
