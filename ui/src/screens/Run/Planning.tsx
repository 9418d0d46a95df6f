// While a model makes a plan: what it was told, and the beginnings of a graph.

import type { LiveRun } from "../../api/runs.ts";
import type { CycleState } from "../../contract/index.ts";
import { Elapsed } from "../../graph/StepNode.tsx";
import { useText } from "../../text/index.ts";
import classes from "./Planning.module.css";

/** The place where the plan will be. */
export function Planning({ run, cycle, past = false }: { run: LiveRun; cycle: CycleState | null; past?: boolean }) {
  const t = useText();
  const again = cycle?.feedback != null;
  const since = run.records.findLast((record) => record.event.type === "planningStarted")?.atMs;
  return (
    <div className={classes.planning} role="status">
      <svg className={classes.picture} viewBox="0 0 260 176" aria-hidden="true">
        <path d="M130 44v16M130 60H80q-8 0-8 8v8M130 60h50q8 0 8 8v8M72 112v8q0 8 8 8h42q8 0 8 8M188 112v8q0 8-8 8h-42q-8 0-8 8" />
        {[
          [86, 8],
          [28, 76],
          [144, 76],
          [86, 136],
        ].map(([x, y], index) => (
          <g key={index} style={{ animationDelay: `${index * 300}ms` }}>
            <rect x={x} y={y} width="88" height="36" rx="8" />
            <circle cx={(x ?? 0) + 17} cy={(y ?? 0) + 18} r="5" />
            <rect className={classes.words} x={(x ?? 0) + 30} y={(y ?? 0) + 16} width="42" height="4" rx="2" />
          </g>
        ))}
      </svg>
      <p className={classes.title}>
        {again ? t("run.graph.replanning") : t("run.graph.planning")}
        {since !== undefined && !past && (
          <span className={classes.time}>
            <Elapsed since={since} />
          </span>
        )}
      </p>
      <p className={classes.body}>{again ? t("run.graph.replanningBody") : t("run.graph.planningBody")}</p>
      {cycle?.feedback && <blockquote className={classes.feedback}>{cycle.feedback}</blockquote>}
      {cycle && cycle.planProblems.length > 0 && (
        <ul className={classes.problems}>
          {cycle.planProblems.map((problem) => (
            <li key={problem}>{problem}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
