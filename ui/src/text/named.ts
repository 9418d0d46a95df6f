// What the app names by itself in English, in the words of another language: found by the name of the thing, never by its
// English words. What has no words there is said as the app says it.

import type { CheckInfo, JsonValue } from "../contract/index.ts";
import type { Language } from "../state/preferences.ts";
import { isRecord } from "../state/value.ts";
import { checks as german } from "./de/checks.ts";

/** A title and a sentence about it. */
type Named = readonly [title: string, sentence: string];

/** The checks by their names; the fields of their forms by their place (`csv.sorted#1` is its second way), or by its end. */
export interface NamedByApp {
  readonly checks: { readonly [name: string]: Named };
  readonly fields: { readonly [place: string]: Named };
}

const named: { readonly [language in Language]: NamedByApp | null } = { en: null, de: german };

/** A check as it is said in this language. */
export function checkIn(language: Language, info: CheckInfo): CheckInfo {
  const words = named[language];
  if (words === null) return info;
  const [title, description] = words.checks[info.name] ?? [info.title, info.description];
  return { ...info, title, description, schema: schemaIn(words, info.schema, info.name) };
}

/** The same schema, with other titles and sentences at its fields. */
function schemaIn(words: NamedByApp, schema: JsonValue, place: string): JsonValue {
  if (!isRecord(schema)) return schema;
  const own = typeof schema["title"] === "string" ? (words.fields[place] ?? words.fields[place.slice(place.lastIndexOf(".") + 1)]) : undefined;
  const parts = Object.entries(schema).map(([key, value]) => [key, partIn(words, key, value as JsonValue, place)]);
  return { ...Object.fromEntries(parts), ...(own && { title: own[0], description: own[1] }) } as JsonValue;
}

function partIn(words: NamedByApp, key: string, part: JsonValue, place: string): JsonValue {
  if (key === "properties" && isRecord(part)) {
    return Object.fromEntries(Object.entries(part).map(([name, field]) => [name, schemaIn(words, field as JsonValue, `${place}.${name}`)])) as JsonValue;
  }
  // What can stand at one place in several ways: each way by its number, and what is in it at the same place.
  if ((key === "anyOf" || key === "oneOf") && Array.isArray(part)) {
    return part.map((way, index) => (isRecord(way) && isRecord(way["properties"]) ? schemaIn(words, way, place) : schemaIn(words, way, `${place}#${index}`)));
  }
  return key === "additionalProperties" ? schemaIn(words, part, place) : part;
}
