import { expect, test } from "vitest";
import { de } from "./de/index.ts";
import { en } from "./en/index.ts";
import { spoken } from "./index.ts";

const sources = import.meta.glob<string>(["../**/*.ts", "../**/*.tsx", "!../text/**", "!../contract/**", "!../**/*.test.ts"], { query: "?raw", import: "default", eager: true });

function flat(words: object, path = ""): [string, string][] {
  return Object.entries(words).flatMap(([key, value]: [string, unknown]) => {
    const place = path === "" ? key : `${path}.${key}`;
    return typeof value === "object" && value !== null ? flat(value, place) : [[place, String(value)] as [string, string]];
  });
}

const english = new Map(flat(en));
const german = new Map(flat(de));
const holes = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((found) => found[1] ?? "").toSorted();

test("every word is there in every language", () => {
  expect([...german.keys()].toSorted()).toEqual([...english.keys()].toSorted());
  const empty = [...german].filter(([key, text]) => (text === "") !== (english.get(key) === ""));
  expect(empty).toEqual([]);
});

test("what is filled in is the same in every language", () => {
  const other = [...english].filter(([key, text]) => holes(text).join() !== holes(german.get(key) ?? "").join());
  expect(other.map(([key]) => key)).toEqual([]);
});

test("no word is kept that nothing says", () => {
  const code = Object.values(sources).join("\n");
  expect(code.length).toBeGreaterThan(100_000);
  const whole = new Set([...code.matchAll(/["'`]([a-zA-Z_]+(?:\.[a-zA-Z_]+)+)["'`]/g)].map((found) => found[1]));
  // A name that is put together: each of its holes stands for one part of the path, or for the end of one.
  const made = [...code.matchAll(/`((?:[a-zA-Z_.]|\$\{[^}`]*\})+)`/g)]
    .map((found) => found[1] ?? "")
    .filter((name) => name.includes(".") && name.includes("${"))
    .map((name) => new RegExp(`^${name.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(".", "\\.")).join("[a-zA-Z_]+")}$`));
  const unused = [...english.keys()].filter((key) => {
    const name = key.replace(/_(one|other)$/, "");
    return ![key, name].some((one) => whole.has(one) || made.some((pattern) => pattern.test(one)));
  });
  expect(unused).toEqual([]);
});

test.each([
  [null, ["de-AT", "en"], "de"],
  [null, ["fr-FR", "de"], "de"],
  [null, ["fr"], "en"],
  ["en", ["de"], "en"],
] as const)("chosen %s on a computer of %s speaks %s", (chosen, system, expected) => {
  expect(spoken(chosen, system)).toBe(expected);
});
