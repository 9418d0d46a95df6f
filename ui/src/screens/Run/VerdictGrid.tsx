// Criteria by cycles: an icon, a word for those who need it, and the evidence. One cycle is open, the last to begin with.

import { Tooltip } from "@mantine/core";
import { IconArrowDownRight } from "@tabler/icons-react";
import { type CSSProperties, useState } from "react";
import { Mark, type MarkKind } from "../../components/Mark.tsx";
import { Parts } from "../../components/Parts.tsx";
import type { CriterionResult, CriterionVerdict, CycleState } from "../../contract/index.ts";
import { criterionWords, type TaskCriterion } from "../../state/criteria.ts";
import type { VerdictGrid as Grid } from "../../state/verdict.ts";
import { useText } from "../../text/index.ts";
import classes from "./Verdict.module.css";

const rowHeight = 64;
const marks: Record<CriterionVerdict, MarkKind> = { pass: "done", fail: "failed", unknown: "unsure", not_judged: "unjudged" };

interface VerdictGridProps {
  grid: Grid;
  /** Goes to the place that shows it, for evidence of the last cycle: the files are as that one left them. */
  showPlace: (criterion: TaskCriterion, result: CriterionResult) => (() => void) | null;
}

/** The grid. */
export function VerdictGrid({ grid, showPlace }: VerdictGridProps) {
  const t = useText();
  const latest = grid.cycles.length - 1;
  const [chosen, setOpen] = useState<number | null>(null);
  const open = chosen ?? latest;
  const closed = grid.cycles.length > 3 ? 150 : grid.cycles.length > 2 ? 190 : 280;
  // The open cycle has what is left, and never less than evidence needs; beyond that the grid scrolls.
  const needed = `calc(min(310px, 26vw) + ${grid.cycles.length - 1} * min(${closed}px, 22vw) + 240px)`;
  const feedback = grid.cycles[open]?.evaluation?.feedback ?? null;
  return (
    <div className={classes.grid}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={classes.scroller} role="region" aria-label={t("verdict.what")} tabIndex={0}>
        <table style={{ "--needed": needed } as CSSProperties}>
          <colgroup>
            <col className={classes.criterionColumn} />
            {grid.cycles.map((cycle, index) => (
              <col key={cycle.number} style={index === open ? undefined : { width: `min(${closed}px, 22vw)` }} />
            ))}
          </colgroup>
          <thead>
            <tr>
              <th scope="col">{t("verdict.what")}</th>
              {grid.cycles.map((cycle, index) => (
                <th key={cycle.number} scope="col">
                  {grid.cycles.length > 1 ? (
                    <button type="button" className={classes.cycleHead} aria-expanded={index === open} onClick={() => setOpen(index)}>
                      {t("run.cycle", { number: cycle.number })}
                    </button>
                  ) : (
                    t("run.cycle", { number: cycle.number })
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <Parts
            as="tbody"
            count={grid.rows.length}
            lineHeight={rowHeight}
            lines={(from, to) =>
              grid.rows.slice(from, to).map(({ criterion, cells }) => (
                <tr key={criterion.id}>
                  <th scope="row">
                    <span className={classes.criterion}>{criterionWords(criterion, t)}</span>
                    <span className={classes.chips}>
                      <span className={classes.chip} data-by={criterion.by}>
                        {t(`verdict.by.${criterion.by}`)}
                      </span>
                      {!criterion.required && <span className={classes.chip}>{t("verdict.optional")}</span>}
                    </span>
                  </th>
                  {cells.map((cell, index) => (
                    <td key={index} data-open={index === open || undefined}>
                      <Cell cell={cell} cycle={grid.cycles[index] ?? null} open={index === open} show={cell && index === latest ? showPlace(criterion, cell) : null} />
                    </td>
                  ))}
                </tr>
              ))
            }
          />
        </table>
      </div>
      {feedback && grid.cycles[open]?.evaluation?.verdict === "fail" && (
        <details className={classes.feedback}>
          <summary>{open === latest ? t("verdict.feedbackLast") : t("verdict.feedback")}</summary>
          <p>{feedback}</p>
        </details>
      )}
    </div>
  );
}

function Cell({ cell, cycle, open, show }: { cell: CriterionResult | null; cycle: CycleState | null; open: boolean; show: (() => void) | null }) {
  const t = useText();
  if (!cell) {
    if (cycle && cycle.phase !== "ended") {
      return (
        <span className={classes.cell}>
          <Mark kind={cycle.phase === "judging" ? "running" : "idle"} label={t("run.step.waiting")} />
        </span>
      );
    }
    return (
      <span className={classes.cell}>
        <Mark kind="unjudged" label={t("verdict.notReached")} />
      </span>
    );
  }
  const word = t(`verdict.cell.${cell.verdict}`);
  const evidence = cell.verdict === "not_judged" ? word : cell.evidence;
  const quoted = cell.by === "model" && cell.verdict === "pass" && evidence !== "" && !/^["“]/.test(evidence);
  const shown = quoted ? `“${evidence}”` : evidence;
  return (
    <Tooltip label={cell.verdict === "not_judged" ? t("verdict.notJudgedHint") : shown} disabled={open && cell.verdict !== "not_judged"}>
      <span className={classes.cell} data-verdict={cell.verdict}>
        <Mark kind={marks[cell.verdict]} label={word} />
        {show ? (
          <button type="button" className={classes.evidence} data-place onClick={show} title={t("verdict.showPlace")}>
            {shown}
            <IconArrowDownRight size={14} stroke={1.6} aria-hidden />
          </button>
        ) : (
          <span className={classes.evidence}>{shown}</span>
        )}
      </span>
    </Tooltip>
  );
}
