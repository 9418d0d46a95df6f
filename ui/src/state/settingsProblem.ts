// What is wrong with a setting, as a whole sentence: the app says what a field must be, and the page which field.

import type { Problem } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { sentence } from "./errors.ts";

/** The sentence; what is one already stays as it is. */
export function settingsSentence({ path, message }: Pick<Problem, "path" | "message">, t: Text): string {
  const subject = /^(must|is|has|cannot)\b/.test(message) ? subjectOf(path, t) : null;
  return sentence(subject === null ? message : `${subject} ${message}`, null);
}

function subjectOf(path: string, t: Text): string | null {
  const price = /^prices\.models\.(.+)$/.exec(path);
  if (price) return t("settings.problem.prices", { model: price[1] ?? "" });
  const field = path.split(".").at(-1);
  switch (field) {
    case "name":
      return `“${t("settings.account.name")}”`;
    case "kind":
      return `“${t("settings.account.kind")}”`;
    case "planner":
    case "judge":
    case "low":
    case "high":
      return t("settings.problem.model");
    case "baseUrl":
      return t("settings.problem.address");
    default:
      return null;
  }
}
