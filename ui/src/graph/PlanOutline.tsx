// The same plan as a list, for those who would rather read it from top to bottom.

import { Button, VisuallyHidden } from "@mantine/core";
import { IconBinaryTree } from "@tabler/icons-react";
import { Mark } from "../components/Mark.tsx";
import { duration } from "../state/format.ts";
import { type Halted, markOfStep } from "../state/run.ts";
import { useText } from "../text/index.ts";
import { type GraphModel, stepTitle } from "./model.ts";
import classes from "./PlanOutline.module.css";

interface PlanOutlineProps {
  model: GraphModel;
  label: string;
  selected: string | null;
  select: (id: string) => void;
  halted: Halted;
  showGraph: () => void;
}

/** The outline, with what each step waits for in words. */
export function PlanOutline({ model, label, selected, select, halted, showGraph }: PlanOutlineProps) {
  const t = useText();
  const names = new Map(model.nodes.map((node) => [node.id, stepTitle(node.step)]));
  return (
    <div className={classes.outline}>
      <Button variant="default" size="xs" onClick={showGraph} leftSection={<IconBinaryTree size={14} stroke={1.6} />}>
        {t("run.graph.asGraph")}
      </Button>
      <ol className={classes.list} aria-label={label}>
        {model.nodes.map((node) => {
          const status = node.state?.status ?? "waiting";
          const after = node.after.flatMap((id) => names.get(id) ?? []);
          const mark = node.mark && (node.mark === "carried" ? t("run.change.mark.carried", { number: node.cycle }) : t(`run.change.mark.${node.mark}`));
          return (
            <li key={node.id}>
              <button type="button" aria-pressed={node.id === selected} onClick={() => select(node.id)} className={classes.item}>
                <Mark kind={node.mark === "removed" ? "unjudged" : markOfStep(status, halted)} />
                <span className={classes.name} data-removed={node.mark === "removed" || undefined}>
                  {stepTitle(node.step)}
                </span>
                <VisuallyHidden>, </VisuallyHidden>
                <span className={classes.facts}>
                  {[
                    node.mark === "removed" ? null : status === "running" && halted ? t(`run.graph.halted.${halted}`) : t(`run.step.${status}`),
                    mark,
                    node.step.tools.join(", ") || t("run.graph.thinking"),
                    node.state?.durationMs == null ? null : duration(node.state.durationMs),
                    after.length > 0 ? `← ${after.join(", ")}` : null,
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
              </button>
            </li>
          );
        })}
      </ol>
    </div>
  );
}
