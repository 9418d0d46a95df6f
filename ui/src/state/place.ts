// A place in a task as a person would call it: `report.md, line 2` for `expectedOutput[0].criteria[1]`.

import { en } from "../text/en/index.ts";
import type { Text } from "../text/index.ts";
import type { Draft, Path } from "./taskSource.ts";

type Known = keyof typeof en.compose.place;
type Plain = Exclude<Known, "resultNumber" | "line" | "rule">;

function isKnown(name: string | number | undefined): name is Plain {
  return typeof name === "string" && Object.hasOwn(en.compose.place, name) && name !== "resultNumber" && name !== "line" && name !== "rule";
}

/** The words for a place; a place that no form shows is named as it is written. */
export function placeWords(path: Path, draft: Draft, t: Text): string {
  const [first, index, field, line] = path;
  if (first === "expectedOutput" && typeof index === "number") {
    const item = Array.isArray(draft.expected) ? draft.expected[index] : undefined;
    const name = item?.path || t("compose.place.resultNumber", { number: index + 1 });
    if (field === "criteria" && typeof line === "number") return `${name}, ${t("compose.place.line", { number: line + 1 })}`;
    return isKnown(field) ? `${name}, ${t(`compose.place.${field}`)}` : name;
  }
  if (first === "hooks" && typeof index === "number") return t("compose.place.rule", { number: index + 1 });
  const rest = path.slice(1).join(", ");
  const start = isKnown(first) ? t(`compose.place.${first}`) : String(first ?? "");
  return rest === "" ? start : `${start}, ${rest}`;
}
