// A task as text, and the changes that a form makes to it. Each change patches the YAML document at one place, so the
// person's comments, order and style stay as they wrote them. Whether a task is right is decided by the app alone.

import { Document, isMap, isScalar, isSeq, parseDocument, Scalar, type YAMLMap } from "yaml";
import type { Approval, Task } from "../contract/index.ts";
import { isRecord } from "./value.ts";

/** A place in a task. */
export type Path = readonly (string | number)[];

/** What the letter shows, read from text that may be half finished. */
export interface Draft {
  goal: string;
  name: string;
  workingFolder: string | null;
  context: { [name: string]: unknown };
  /** A sentence, or results one by one. */
  expected: string | DraftItem[];
  maxCycles: number | null;
  maxTokens: number | null;
  maxCost: number | null;
  maxMinutes: number | null;
  approval: Approval | null;
  /** As they are written. */
  rules: readonly unknown[];
  /** The MCP servers that it asks for, by name. */
  servers: readonly string[];
}

/** An expected result: a file when it has a path, otherwise an answer. */
export interface DraftItem {
  path: string | null;
  description: string;
  criteria: DraftCriterion[];
}

/** One thing that must hold. */
export interface DraftCriterion {
  text: string;
  /** As it is written: a name, or an object with one key. */
  check: unknown;
  required: boolean;
  weight: number | null;
}

/** What a new task begins with. */
export const freshSource = 'goal: ""\ncontext: {}\nexpectedOutput:\n  - path: ""\n    description: ""\n    criteria: []\n';

const print = { lineWidth: 100, minContentWidth: 0, flowCollectionPadding: true } as const;

function parse(source: string): Document.Parsed {
  return parseDocument(source, { keepSourceTokens: false, uniqueKeys: false });
}

const order = ["name", "goal", "workingFolder", "context", "expectedOutput", "models", "limits", "approval", "tools", "hooks"];

/** A task as text, in the order in which people write it. */
export function writeTask(task: Task): string {
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  const fields = Object.entries(task).toSorted(([a], [b]) => rank(a) - rank(b));
  return new Document(Object.fromEntries(fields)).toString(print);
}

/** Reads what the letter shows; null when the text is not readable as a task at all. */
export function readDraft(source: string): Draft | null {
  const document = parse(source);
  if (document.errors.length > 0) return null;
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 50 });
  } catch {
    return null;
  }
  if (value === null && source.trim() === "") value = {};
  if (!isRecord(value)) return null;
  const limits = isRecord(value["limits"]) ? value["limits"] : {};
  return {
    goal: asText(value["goal"]),
    name: asText(value["name"]),
    workingFolder: typeof value["workingFolder"] === "string" ? value["workingFolder"] : null,
    context: isRecord(value["context"]) ? value["context"] : {},
    expected: readExpected(value["expectedOutput"]),
    maxCycles: asNumber(limits["maxCycles"]),
    maxTokens: asNumber(limits["maxTokens"]),
    maxCost: asNumber(limits["maxCost"]),
    maxMinutes: asNumber(limits["maxMinutes"]),
    approval: approvals.find((one) => one === value["approval"]) ?? null,
    rules: Array.isArray(value["hooks"]) ? value["hooks"] : [],
    servers: readServers(value["permissions"]),
  };
}

const approvals: readonly Approval[] = ["every_plan", "first_plan", "never"];

function readServers(permissions: unknown): string[] {
  const servers = isRecord(permissions) ? permissions["servers"] : null;
  return Array.isArray(servers) ? servers.filter((name) => typeof name === "string") : [];
}

function readExpected(value: unknown): string | DraftItem[] {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((item) => ({
    path: typeof item["path"] === "string" ? item["path"] : null,
    description: asText(item["description"]),
    criteria: Array.isArray(item["criteria"]) ? item["criteria"].map(readCriterion) : [],
  }));
}

function readCriterion(value: unknown): DraftCriterion {
  if (!isRecord(value)) return { text: asText(value), check: null, required: true, weight: null };
  return {
    text: asText(value["text"]),
    check: value["check"] ?? null,
    required: value["required"] !== false,
    weight: asNumber(value["weight"]),
  };
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : String(value);
}

function asNumber(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** The text with one place changed; `undefined` takes the place away. Text that cannot be read stays as it is. */
export function setAt(source: string, path: Path, value: unknown): string {
  return edit(source, (document) => {
    if (value === undefined) {
      if (document.hasIn(path)) document.deleteIn(path);
      return;
    }
    const present = document.getIn(path, true);
    if (isScalar(present) && isPlain(value)) {
      if (present.value === value) return;
      present.value = value;
      fitStyle(present, value);
      return;
    }
    const parent = document.getIn(path.slice(0, -1), true);
    // An empty map is written {} and grows line by line.
    if (isMap(parent) && parent.items.length === 0) parent.flow = false;
    document.setIn(path, document.createNode(value));
  });
}

/** The text with one more entry in a list, which is made when it is not there. */
export function insertAt(source: string, path: Path, index: number, value: unknown): string {
  return insertAllAt(source, path, index, [value]);
}

/** The text with several more entries in a list. */
export function insertAllAt(source: string, path: Path, index: number, values: readonly unknown[]): string {
  return edit(source, (document) => {
    const list = document.getIn(path, true);
    if (!isSeq(list)) {
      document.setIn(path, document.createNode(values));
      return;
    }
    // An empty list is written [] and grows line by line.
    if (list.items.length === 0) list.flow = false;
    const nodes = values.map((value) => document.createNode(value));
    list.items = [...list.items.slice(0, index), ...nodes, ...list.items.slice(index)];
  });
}

/** The text with one name in a map changed; its value, place and comments stay. */
export function renameAt(source: string, path: Path, from: string, to: string): string {
  return edit(source, (document) => {
    const map = document.getIn(path, true);
    if (!isMap(map) || map.has(to)) return;
    const pair = map.items.find((one) => isScalar(one.key) && one.key.value === from);
    if (pair && isScalar(pair.key)) pair.key.value = to;
  });
}

/** The text with a criterion written anew: a plain sentence when nothing is added to it, otherwise an object. */
export function setCriterion(source: string, item: number, index: number, change: Partial<DraftCriterion>): string {
  const path: Path = ["expectedOutput", item, "criteria", index];
  return edit(source, (document) => {
    const present = document.getIn(path, true);
    const before = readCriterion(isScalar(present) ? present.value : present && isMap(present) ? present.toJS(document) : present);
    const after = { ...before, ...change };
    const plain = after.check === null && after.required && after.weight === null;
    if (isMap(present)) {
      if (plain && hasOnly(present, ["text", "check", "required", "weight"])) {
        const text = document.createNode(after.text);
        text.comment = present.comment ?? null;
        text.commentBefore = present.commentBefore ?? null;
        document.setIn(path, text);
        return;
      }
      put(document, present, "text", after.text);
      put(document, present, "check", after.check ?? undefined);
      put(document, present, "required", after.required ? undefined : false);
      put(document, present, "weight", after.weight ?? undefined);
      return;
    }
    if (plain && isScalar(present)) {
      present.value = after.text;
      fitStyle(present, after.text);
      return;
    }
    const node = document.createNode({
      text: after.text,
      ...(after.check === null ? {} : { check: after.check }),
      ...(after.required ? {} : { required: false }),
      ...(after.weight === null ? {} : { weight: after.weight }),
    });
    if (isScalar(present)) node.commentBefore = present.commentBefore ?? null;
    document.setIn(path, node);
  });
}

function put(document: Document, map: YAMLMap, key: string, value: unknown): void {
  if (value === undefined) {
    map.delete(key);
    return;
  }
  const present = map.get(key, true);
  if (isScalar(present) && isPlain(value)) {
    if (present.value === value) return;
    present.value = value;
    fitStyle(present, value);
    return;
  }
  if (present && JSON.stringify(isScalar(present) ? present.value : (present as YAMLMap).toJS(document)) === JSON.stringify(value)) return;
  map.set(key, document.createNode(value));
}

function hasOnly(map: YAMLMap, names: readonly string[]): boolean {
  return map.items.every((pair) => isScalar(pair.key) && names.includes(String(pair.key.value)));
}

function isPlain(value: unknown): value is string | number | boolean | null {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** A scalar that was written in quotes or as a block is written so that its new value fits. */
function fitStyle(scalar: Scalar, value: unknown): void {
  if (typeof value !== "string") {
    delete scalar.type;
    delete scalar.format;
    delete scalar.source;
    return;
  }
  const block = scalar.type === Scalar.BLOCK_FOLDED || scalar.type === Scalar.BLOCK_LITERAL;
  if (value.includes("\n")) scalar.type = Scalar.BLOCK_LITERAL;
  else if (value === "") scalar.type = Scalar.QUOTE_DOUBLE;
  else if (!block) delete scalar.type;
}

function edit(source: string, change: (document: Document.Parsed) => void): string {
  const document = parse(source.trim() === "" ? "{}\n" : source);
  if (document.errors.length > 0) return source;
  if (isMap(document.contents)) document.contents.flow = document.contents.items.length === 0 ? false : (document.contents.flow ?? false);
  change(document as Document.Parsed);
  return document.toString(print);
}

/** `expectedOutput[0].criteria[2].check` as a place; the empty text is the whole task. */
export function parsePath(path: string): Path {
  return [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) => (index === undefined ? (name ?? "") : Number(index)));
}

/** A place as the app writes it. */
export function writePath(path: Path): string {
  return path.map((part, index) => (typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)).join("");
}

/** Says where in the text a place stands, from and to; the nearest enclosing one when it is not written. */
export function placesIn(source: string): (path: Path) => [number, number] {
  const document = parse(source);
  return (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true);
      if (typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range)) {
        return [Number(node.range[0]), Math.max(Number(node.range[0]), Number(node.range[1]))];
      }
    }
    return [0, Math.min(source.length, 1)];
  };
}

/** What makes the text unreadable, and where. */
export function brokenAt(source: string): { from: number; to: number; message: string }[] {
  return parse(source).errors.map((error) => ({ from: error.pos[0], to: error.pos[1], message: error.message.split("\n")[0] ?? error.message }));
}
