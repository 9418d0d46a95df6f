import { expect, test } from "vitest";
import { boundOf, freshRule, kindOfRule, percent, placesOf, ruleKinds, toolOfRule } from "./rules.ts";

test.each(ruleKinds)("a new rule is read as what it is: %s", (kind) => {
  expect(kindOfRule(freshRule(kind, "file_write"))).toBe(kind);
});

test.each([[{ askMe: "sometimes" }], [{ command: "./look.sh" }], ["forbid"], [null], [{ stop: { around: 1 } }]])(
  "what the letter does not know is left to the source: %o",
  (rule) => {
    expect(kindOfRule(rule)).toBeNull();
  },
);

test("a rule says which tool it is about", () => {
  expect([toolOfRule({ forbid: "shell" }), toolOfRule({ askMe: { tool: "file_write" } }), toolOfRule({ askMe: "step" })]).toEqual(["shell", "file_write", ""]);
});

test("a bound is read from either side", () => {
  expect([boundOf({ below: 0.3 }), boundOf({ above: 0.9 }), boundOf({})]).toEqual([{ side: "below", value: 0.3 }, { side: "above", value: 0.9 }, null]);
  expect(percent(0.29)).toBe(29);
});

test("the places of a rule are read whether one is written or a list, in the order of a run", () => {
  expect(placesOf({ command: { run: "ls", on: "preStep" } })).toEqual(["preStep"]);
  expect(placesOf({ webhook: { url: "https://a.org", on: ["postStep", "prePlanner", "never"] } })).toEqual(["prePlanner", "postStep"]);
  expect(placesOf({ maxSteps: 3 })).toEqual([]);
});
