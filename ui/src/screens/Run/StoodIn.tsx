// That another model was asked than the one that was chosen, for as long as the run is looked at: it may have another price.

import { Mark } from "../../components/Mark.tsx";
import type { RunState } from "../../contract/index.ts";
import { standIns } from "../../state/cost.ts";
import { useText } from "../../text/index.ts";
import classes from "./Run.module.css";

/** The notice; nothing where every call was answered by the model that was chosen. */
export function StoodIn({ state }: { state: Pick<RunState, "calls"> }) {
  const t = useText();
  const found = standIns(Object.values(state.calls));
  if (found.length === 0) return null;
  return (
    <div className={classes.notice} role="status">
      <Mark kind="uncertain" />
      <p>{found.map(({ before, model }) => t("run.stoodIn", { before, model })).join(" ")}</p>
    </div>
  );
}
