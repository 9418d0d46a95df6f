import { expect, test } from "vitest";
import { type GateForm, gateAnswer, gateForm, gateLacks } from "./gate.ts";
import { readJson } from "./value.ts";

type Form = Extract<GateForm, { kind: "form" }>;
const form = (question: unknown) => gateForm(question, "Your answer") as Form;

test.each([
  [null, "yesNo"],
  [{ type: "string" }, "form"],
  [{ type: "object", properties: { tone: { enum: ["warm", "plain"] } } }, "form"],
  [{ type: "array", items: { type: "object" } }, "json"],
  ["anything", "json"],
])("%o is asked for as %s", (question, kind) => {
  expect(gateForm(question, "Your answer").kind).toBe(kind);
});

test("one value is answered as that value", () => {
  const asked = form({ type: "string" });
  expect(asked.fields.map((field) => field.title)).toEqual(["Your answer"]);
  expect(gateAnswer(asked, { answer: "north" })).toBe("north");
});

test("a switch that nobody touched says no where an answer is needed", () => {
  const asked = form({ type: "object", properties: { publish: { type: "boolean" }, note: { type: "string" } }, required: ["publish"] });
  expect(gateAnswer(asked, {})).toEqual({ publish: false });
  expect(gateAnswer(asked, { publish: true, note: "" })).toEqual({ publish: true });
});

test("what is needed and not filled in holds the answer back", () => {
  const asked = form({ type: "object", properties: { city: { type: "string" }, note: { type: "string" } }, required: ["city"] });
  expect([gateLacks(asked, {}), gateLacks(asked, { city: "" }), gateLacks(asked, { city: "Bern" })]).toEqual([true, true, false]);
});

test("half-written JSON is no answer", () => {
  expect([readJson("[1, 2"), readJson("[1, 2]"), readJson("null")]).toEqual([undefined, { value: [1, 2] }, { value: null }]);
});
