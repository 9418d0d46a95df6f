import { expect, test } from "vitest";
import type { Plan, PlanStep } from "../contract/index.ts";
import { addStep, assign, beginEdit, changePlan, connect, deleteStep, disconnect, doerOf, giveDetails, missedSteps, problemsByStep, redoEdit, renameStep, retool, undoEdit } from "./planEdit.ts";

const step = (id: string, dependencies: string[] = [], more: Partial<PlanStep> = {}): PlanStep => ({ id, name: `Step ${id}`, description: "d", tools: [], expectedOutcome: "e", dependencies, ...more });
const plan = (...steps: PlanStep[]): Plan => ({ steps, estimatedTokens: 0, reasoning: "r" });

test("a step that goes is waited for by nobody", () => {
  const left = deleteStep(plan(step("a"), step("b", ["a"]), step("c", ["a", "b"])), "a");
  expect(left.steps.map(({ id, dependencies }) => [id, dependencies])).toEqual([["b", []], ["c", ["b"]]]);
});

test("a new step has an id that no other has", () => {
  const { plan: more, id } = addStep(plan(step("a"), step("step_3")), "New step", "a");
  expect(id).toBe("step_4");
  expect(more.steps.at(-1)?.dependencies).toEqual(["a"]);
});

test("connecting twice is connecting once, and nothing is connected to itself", () => {
  const two = plan(step("a"), step("b"));
  const once = connect(connect(two, "a", "b"), "a", "b");
  expect(once.steps[1]?.dependencies).toEqual(["a"]);
  expect(connect(two, "a", "a").steps[0]?.dependencies).toEqual([]);
  expect(disconnect(once, "a", "b").steps[1]?.dependencies).toEqual([]);
});

test("details go with their tool, and with the last of them goes their place", () => {
  const one = plan(step("a", [], { tools: ["x", "y"], args: { x: { p: 1 }, y: {} } }));
  expect(retool(one, "a", ["x"]).steps[0]?.args).toEqual({ x: { p: 1 } });
  expect(Object.hasOwn(retool(one, "a", []).steps[0] ?? {}, "args")).toBe(false);
  expect(giveDetails(one, "a", "y", undefined).steps[0]?.args).toEqual({ x: { p: 1 } });
});

test("a step is done by one of the two models, or by one of its own", () => {
  const one = plan(step("a"));
  expect(doerOf(assign(one, "a", { tier: "high" }).steps[0] as PlanStep)).toEqual({ tier: "high" });
  const own = assign(one, "a", { model: "x:y" });
  expect(doerOf(own.steps[0] as PlanStep)).toEqual({ model: "x:y" });
  expect(assign(own, "a", { tier: "low" })).toEqual(one);
});

test("typing on in one field is one change, and each change comes back", () => {
  const first = beginEdit("k", plan(step("a")));
  const typed = ["N", "Na", "Nam"].reduce((edit, name) => changePlan(edit, renameStep(edit.now, "a", name), "name a"), first);
  expect(typed.past).toHaveLength(1);
  const gone = changePlan(typed, deleteStep(typed.now, "a"));
  expect(undoEdit(gone).now).toEqual(typed.now);
  expect(undoEdit(undoEdit(gone)).now).toEqual(first.now);
  expect(redoEdit(redoEdit(undoEdit(undoEdit(gone)))).now).toEqual(gone.now);
});

test("who reads the result of a step that is gone is known", () => {
  const two = plan(step("a"), step("b", ["a"], { tools: ["x"], args: { x: { text: "{{a.name}} and {{c}}" } } }));
  const edit = beginEdit("k", two);
  expect(missedSteps(edit).size).toBe(0);
  expect([...missedSteps(changePlan(edit, deleteStep(two, "a")))]).toEqual([["b", ["Step a"]]]);
});

test("a problem stands at its steps, in their names", () => {
  const found = problemsByStep(plan(step("a"), step("b")), [
    { steps: [0, 1], message: 'Circular dependency between the steps "a", "b"' },
    { steps: [], message: "too short" },
  ]);
  expect(found.get("b")).toEqual(["Circular dependency between the steps “Step a”, “Step b”"]);
  expect(found.get(null)).toEqual(["too short"]);
});
