// What a flow asks a person for: yes or no, or an answer that fits a JSON Schema. Whether it fits is decided by the app.

import { type Field, formFields } from "./schemaForm.ts";
import { isRecord } from "./value.ts";

/** How a gate's question is drawn. */
export type GateForm =
  | { kind: "yesNo" }
  /** A form of fields. `bare` when the answer is the one field's value itself. */
  | { kind: "form"; schema: Record<string, unknown>; fields: Field[]; bare: boolean }
  /** Nothing that a form could be made of: the answer is written as JSON. */
  | { kind: "json" };

const only = "answer";

/** The form for a gate's question; `title` names the field of a question that has just one value. */
export function gateForm(question: unknown, title: string): GateForm {
  if (question === null || question === undefined) return { kind: "yesNo" };
  if (!isRecord(question)) return { kind: "json" };
  const fields = formFields(question);
  if (fields.length > 0) return drawable(fields) ? { kind: "form", schema: question, fields, bare: false } : { kind: "json" };
  const schema = { type: "object", properties: { [only]: { title, ...question } }, required: [only] };
  const wrapped = formFields(schema);
  return drawable(wrapped) ? { kind: "form", schema, fields: wrapped, bare: true } : { kind: "json" };
}

function drawable(fields: readonly Field[]): boolean {
  return fields.every((field) => field.kind !== "raw" && (field.kind !== "group" || drawable(field.fields)));
}

/** The answer as it is sent: a switch that nobody touched says no. */
export function gateAnswer(form: Extract<GateForm, { kind: "form" }>, filled: Record<string, unknown>): unknown {
  const answer = complete(form.fields, filled);
  return form.bare ? answer[only] : answer;
}

function complete(fields: readonly Field[], filled: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const value = filled[field.name];
      if (field.kind === "yesNo") return value === undefined && !field.required ? [] : [[field.name, value === true]];
      if (field.kind === "group") {
        const inner = complete(field.fields, isRecord(value) ? value : {});
        return Object.keys(inner).length === 0 && !field.required ? [] : [[field.name, inner]];
      }
      return value === undefined || value === null || value === "" ? [] : [[field.name, value]];
    }),
  );
}

/** The fields that still need something before the answer can be sent. */
export function gateLacks(form: Extract<GateForm, { kind: "form" }>, filled: Record<string, unknown>): boolean {
  const answer = complete(form.fields, filled);
  return form.fields.some((field) => field.required && !Object.hasOwn(answer, field.name));
}
