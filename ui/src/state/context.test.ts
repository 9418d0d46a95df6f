import { expect, test } from "vitest";
import { convertFact, factKind, freeName } from "./context.ts";

test.each([
  ["a", "text"],
  [1, "number"],
  [false, "yesNo"],
  [[], "list"],
  [{}, "group"],
  [null, "text"],
] as const)("%o is a %s", (value, kind) => {
  expect(factKind(value)).toBe(kind);
});

test("a value keeps what it can when its kind changes", () => {
  expect(convertFact("1,500", "number")).toBe(1500);
  expect(convertFact("a, b", "list")).toEqual(["a", "b"]);
  expect(convertFact(["a", 2], "text")).toBe("a, 2");
  expect(convertFact({ a: 1 }, "list")).toEqual(["a"]);
  expect(convertFact("about ten", "number")).toBe(0);
  expect(convertFact(5, "group")).toEqual({});
});

test("a new fact gets a name that is free", () => {
  expect([freeName([], "fact"), freeName(["fact", "fact_2"], "fact")]).toEqual(["fact", "fact_3"]);
});
