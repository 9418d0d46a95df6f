// Every criterion of a task with its address, the same list as `Task::criteria` in Rust: the written ones and those
// that are always there.

import type { CheckSpec, DecidedBy, ExpectedItem, Task } from "../contract/index.ts";
import type { Text } from "../text/index.ts";

/** One thing that must hold. */
export interface TaskCriterion {
  id: string;
  path: string | null;
  text: string;
  by: DecidedBy;
  required: boolean;
}

const goalId = "goal";
const existsId = (path: string) => `${path}/exists`;
const goalText = "The goal is achieved and every result matches its description";

/** All criteria in the task's order. */
export function criteriaOf(task: Task): TaskCriterion[] {
  const written =
    typeof task.expectedOutput === "string"
      ? [judged("answer/0", null, task.expectedOutput)]
      : task.expectedOutput.flatMap(itemCriteria);
  return [...written, judged(goalId, null, goalText)];
}

function itemCriteria(item: ExpectedItem, index: number): TaskCriterion[] {
  const path = item.path ?? null;
  const place = path ?? `answer_${index + 1}`;
  const always: TaskCriterion[] =
    path === null
      ? []
      : [{ id: existsId(path), path, text: `${path} exists and is not empty`, by: "app", required: true }];
  const written = (item.criteria ?? []).map((spec, number): TaskCriterion => {
    const id = `${place}/${number}`;
    if (typeof spec === "string") return judged(id, path, spec);
    return { id, path, text: spec.text, by: spec.check ? "app" : "model", required: spec.required ?? true };
  });
  // A result without criteria of its own is one judged criterion: its description.
  return [...always, ...(written.length > 0 ? written : [judged(`${place}/0`, path, item.description)])];
}

function judged(id: string, path: string | null, text: string): TaskCriterion {
  return { id, path, text, by: "model", required: true };
}

/** What must hold, in the language of the window where it holds for every task; else in the task's own words. */
export function criterionWords({ id, path, text }: Pick<TaskCriterion, "id" | "path" | "text">, t: Text): string {
  if (id === goalId) return t("verdict.always.goal");
  return path !== null && id === existsId(path) ? t("verdict.always.exists", { path }) : text;
}

/** A check's name and arguments, however it is written. */
export function readCheck(spec: CheckSpec): { name: string; args: unknown } | null {
  if (typeof spec === "string") return { name: spec, args: null };
  const [only, ...more] = Object.entries(spec);
  return only && more.length === 0 ? { name: only[0], args: only[1] } : null;
}
