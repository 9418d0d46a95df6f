// The same plan as a list, for those who would rather read it from top to bottom.

import { Button, VisuallyHidden } from "@mantine/core";
import { IconBinaryTree } from "@tabler/icons-react";
import { Mark } from "../components/Mark.tsx";
import type { WaitingFor } from "../contract/index.ts";
import { duration } from "../state/format.ts";
import { type Halted, markOfStep } from "../state/run.ts";
import { toolName } from "../state/toolName.ts";
import { useText } from "../text/index.ts";
import { type GraphModel, nodeId, questionOf, stepTitle } from "./model.ts";
import classes from "./PlanOutline.module.css";

interface PlanOutlineProps {
  model: GraphModel;
  label: string;
  selected: string | null;
  select: (id: string) => void;
  asked: ReadonlyMap<string, WaitingFor>;
  allow: (question: WaitingFor) => void;
  halted: Halted;
  showGraph: () => void;
  /** What is wrong with each step of a plan that a person is changing. */
  problems?: ReadonlyMap<string | null, readonly string[]> | undefined;
}

/** The outline, with what each step waits for in words. */
export function PlanOutline({ model, label, selected, select, asked, allow, halted, showGraph, problems }: PlanOutlineProps) {
  const t = useText();
  const names = new Map(model.nodes.map((node) => [node.id, stepTitle(node.step)]));
  return (
    <div className={classes.outline}>
      <Button variant="default" size="xs" onClick={showGraph} leftSection={<IconBinaryTree size={14} stroke={1.6} />}>
        {t("run.graph.asGraph")}
      </Button>
      <ol className={classes.list} aria-label={label}>
        {model.nodes.map((node) => {
          const question = questionOf(node, asked);
          const wrong = node.id === nodeId(node.step.id) ? problems?.get(node.step.id) : undefined;
          const status = node.state?.status ?? "waiting";
          const after = node.after.flatMap((id) => names.get(id) ?? []);
          const mark = node.mark && (node.mark === "carried" ? t("run.change.mark.carried", { number: node.cycle }) : t(`run.change.mark.${node.mark}`));
          return (
            <li key={node.id}>
              <button type="button" aria-pressed={node.id === selected} onClick={() => select(node.id)} className={classes.item}>
                <Mark kind={wrong ? "failed" : question ? "person" : node.mark === "removed" ? "unjudged" : markOfStep(status, halted)} />
                <span className={classes.name} data-removed={node.mark === "removed" || undefined}>
                  {stepTitle(node.step)}
                </span>
                <VisuallyHidden>, </VisuallyHidden>
                <span className={classes.facts}>
                  {[
                    question ? t("run.step.waiting_for_person") : node.mark === "removed" ? null : status === "running" && halted ? t(`run.graph.halted.${halted}`) : t(`run.step.${status}`),
                    mark,
                    node.step.tools.map((tool) => toolName(tool, t)).join(", ") || t("run.graph.thinking"),
                    node.state?.durationMs == null ? null : duration(node.state.durationMs),
                    after.length > 0 ? `← ${after.join(", ")}` : null,
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                </span>
                {wrong && <span className={classes.wrong}>{wrong.join(" ")}</span>}
              </button>
              {question?.ask.kind === "runStep" && (
                <Button size="xs" className={classes.allow ?? ""} onClick={() => allow(question)} aria-label={`${t("run.stepQuestion.allow")}: ${stepTitle(node.step)}`}>
                  {t("run.stepQuestion.allow")}
                </Button>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
