import { expect, test } from "vitest";
import { modelsOf, rolesOf } from "./roles.ts";

test("an empty field is a role that the usual model does", () => {
  expect(modelsOf(rolesOf({}))).toEqual({});
  const models = { judge: "anthropic:a", executor: { low: "openai:b" } };
  expect(modelsOf(rolesOf(models))).toEqual(models);
  expect(modelsOf({ planner: "  ", judge: " x:y ", low: "", high: "" })).toEqual({ judge: "x:y" });
});
