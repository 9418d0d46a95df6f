// What all runs add up to: how often they passed and what they used, day by day and task by task.

import { useEffect } from "react";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { useRuns } from "../../api/runs.ts";
import type { RunSummary } from "../../contract/index.ts";
import { count, dayOf, short } from "../../state/format.ts";
import { byDay, byTask, dayKinds, type DaySum, sumOf } from "../../state/history.ts";
import { useText } from "../../text/index.ts";
import classes from "./Overview.module.css";

/** More runs than these are not added up. */
const most = 2000;
const days = 14;

interface OverviewProps {
  runs: ReturnType<typeof useRuns>;
  /** Those of them that count. */
  chosen: readonly RunSummary[];
  now: number;
  /** Whether older runs would not count any more. */
  complete: boolean;
}

/** The overview. */
export function Overview({ runs, chosen, now, complete }: OverviewProps) {
  const t = useText();
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = runs;
  const more = hasNextPage && !complete && chosen.length < most;
  useEffect(() => {
    if (more && !isFetchingNextPage) void fetchNextPage();
  }, [more, isFetchingNextPage, fetchNextPage]);
  if (runs.isError) return <Failure error={runs.error} retry={() => void runs.refetch()} />;
  if (more) return <ListSkeleton rows={6} />;
  if (chosen.length === 0) return <Notice title={t("runs.overview.none")} body={t("runs.overview.noneBody")} />;
  const all = sumOf(chosen);
  const tasks = byTask(chosen);
  const largest = Math.max(...tasks.map((task) => task.tokens), 1);
  return (
    <div className={classes.overview} tabIndex={-1}>
      <dl className={classes.sums}>
        <Figure name={t("runs.overview.runs")} value={count(all.runs)} />
        <Figure name={t("runs.overview.passed")} value={all.ended === 0 ? "–" : `${Math.round((100 * all.passed) / all.ended)} %`} note={t("runs.overview.ofEnded", { passed: count(all.passed), ended: count(all.ended) })} />
        <Figure name={t("runs.overview.tokens")} value={short(all.tokens)} note={t("runs.overview.perRun", { value: short(Math.round(all.tokens / all.runs)) })} />
        <Figure name={t("runs.overview.cycles")} value={(all.cycles / all.runs).toFixed(1)} note={t("runs.overview.onAverage")} />
      </dl>
      <Days sums={byDay(chosen, now, days)} />
      <table className={classes.tasks}>
        <caption className={classes.hidden}>{t("runs.overview.byTask")}</caption>
        <thead>
          <tr>
            <th scope="col">{t("runs.columns.task")}</th>
            <th scope="col" data-number>
              {t("runs.overview.runs")}
            </th>
            <th scope="col">{t("runs.overview.passed")}</th>
            <th scope="col">{t("runs.overview.tokens")}</th>
            <th scope="col" data-number>
              {t("runs.overview.cyclesPerRun")}
            </th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => (
            <tr key={task.title}>
              <th scope="row">{task.title}</th>
              <td data-number>{count(task.runs)}</td>
              <td>
                <Bar part={task.ended === 0 ? 0 : task.passed / task.ended} tone="passed" />
                {t("runs.overview.ofEnded", { passed: count(task.passed), ended: count(task.ended) })}
              </td>
              <td>
                <Bar part={task.tokens / largest} tone="tokens" />
                {short(task.tokens)}
              </td>
              <td data-number>{(task.cycles / task.runs).toFixed(1)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {hasNextPage && !complete && <p className={classes.note}>{t("runs.overview.most", { count: most, shown: count(most) })}</p>}
    </div>
  );
}

function Figure({ name, value, note }: { name: string; value: string; note?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {note && <small>{note}</small>}
      </dd>
    </div>
  );
}

function Bar({ part, tone }: { part: number; tone: "passed" | "tokens" }) {
  return (
    <span className={classes.bar} aria-hidden>
      <span data-tone={tone} style={{ width: `${part * 100}%` }} />
    </span>
  );
}

/** Each day as a column; the same in words for those who do not see it. */
function Days({ sums }: { sums: readonly DaySum[] }) {
  const t = useText();
  const tallest = Math.max(...sums.map((sum) => dayKinds.reduce((total, kind) => total + sum[kind], 0)), 1);
  return (
    <figure className={classes.days}>
      <figcaption>
        {t("runs.overview.byDay", { count: sums.length })}
        <span className={classes.legend} aria-hidden>
          {dayKinds.map((kind) => (
            <span key={kind} data-kind={kind}>
              {t(`runs.overview.kinds.${kind}`)}
            </span>
          ))}
        </span>
      </figcaption>
      <ol>
        {sums.map((sum) => {
          const words = dayKinds.filter((kind) => sum[kind] > 0).map((kind) => `${t(`runs.overview.kinds.${kind}`)} ${sum[kind]}`);
          const label = `${dayOf(sum.at)}: ${words.join(", ") || t("runs.overview.noRun")}`;
          return (
            <li key={sum.at} title={label}>
              <span className={classes.hidden}>{label}</span>
              <span className={classes.column} aria-hidden>
                {dayKinds.toReversed().map((kind) => sum[kind] > 0 && <span key={kind} data-kind={kind} style={{ height: `${(100 * sum[kind]) / tallest}%` }} />)}
              </span>
              <span className={classes.day} aria-hidden>
                {dayOf(sum.at)}
              </span>
            </li>
          );
        })}
      </ol>
    </figure>
  );
}
