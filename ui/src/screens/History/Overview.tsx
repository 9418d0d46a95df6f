// What all runs add up to: how often they passed and what they used, day by day, task by task and model by model.

import { SegmentedControl } from "@mantine/core";
import { useEffect, useState } from "react";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { useRuns } from "../../api/runs.ts";
import type { RunSummary } from "../../contract/index.ts";
import { count, dayOf, duration, short } from "../../state/format.ts";
import { byDay, byModel, byTask, dayKinds, type DaySum, type GroupSum, moneyWords, sumOf } from "../../state/history.ts";
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
  return (
    <div className={classes.overview} tabIndex={-1}>
      <dl className={classes.sums}>
        <Figure name={t("runs.overview.runs")} value={count(all.runs)} />
        <Figure name={t("runs.overview.passed")} value={all.ended === 0 ? "–" : `${Math.round((100 * all.passed) / all.ended)} %`} note={t("runs.overview.ofEnded", { passed: count(all.passed), ended: count(all.ended) })} />
        <Figure name={t("runs.overview.cost")} value={moneyWords(all.money)} />
        <Figure name={t("runs.overview.tokens")} value={short(all.tokens)} note={t("runs.overview.perRun", { value: short(Math.round(all.tokens / all.runs)) })} />
        <Figure name={t("runs.overview.time")} value={duration(all.timeMs)} note={t("runs.overview.perRun", { value: duration(all.timeMs / all.runs) })} />
      </dl>
      <Days sums={byDay(chosen, now, days)} />
      <Groups tasks={byTask(chosen)} models={byModel(chosen)} />
      {hasNextPage && !complete && <p className={classes.note}>{t("runs.overview.most", { count: most, shown: count(most) })}</p>}
    </div>
  );
}

/** The sums of tasks, or of the models that they asked. */
function Groups({ tasks, models }: { tasks: readonly GroupSum[]; models: readonly GroupSum[] }) {
  const t = useText();
  const [by, setBy] = useState<"task" | "model">("task");
  const groups = by === "task" ? tasks : models;
  const largest = (of: (group: GroupSum) => number) => Math.max(...groups.map(of), 0);
  // Bars are for one currency: amounts of several cannot be held against each other.
  const currencies = new Set(groups.flatMap(({ money }) => Object.keys(money.amounts)));
  const paid = ({ money }: GroupSum) => (currencies.size === 1 ? (Object.values(money.amounts)[0] ?? 0) : 0);
  const top = { tokens: largest((group) => group.tokens), time: largest((group) => group.timeMs), cost: largest(paid) };
  return (
    <section className={classes.groups}>
      <div className={classes.groupsBar}>
        <SegmentedControl
          size="xs"
          aria-label={t("runs.overview.by")}
          value={by}
          onChange={(value) => setBy(value === "model" ? "model" : "task")}
          data={[
            { value: "task", label: t("runs.overview.byTask") },
            { value: "model", label: t("runs.overview.byModel") },
          ]}
        />
      </div>
      {groups.length === 0 ? (
        <p className={classes.noModel}>{t("runs.overview.noModel")}</p>
      ) : (
        <table className={classes.tasks}>
          <caption className={classes.hidden}>{by === "task" ? t("runs.overview.byTask") : t("runs.overview.byModel")}</caption>
          <thead>
            <tr>
              <th scope="col">{by === "task" ? t("runs.columns.task") : t("runs.model")}</th>
              <th scope="col" data-number>
                {t("runs.overview.runs")}
              </th>
              <th scope="col">{t("runs.overview.passed")}</th>
              <th scope="col">{t("runs.overview.cost")}</th>
              <th scope="col">{t("runs.overview.tokens")}</th>
              <th scope="col">{by === "task" ? t("runs.overview.time") : t("runs.overview.answering")}</th>
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.title}>
                <th scope="row" data-model={by === "model" || undefined}>
                  {group.title}
                </th>
                <td data-number>{count(group.runs)}</td>
                <td>
                  <Bar part={group.ended === 0 ? 0 : group.passed / group.ended} tone="passed" />
                  {t("runs.overview.ofEnded", { passed: count(group.passed), ended: count(group.ended) })}
                </td>
                <td>
                  <Bar part={share(paid(group), top.cost)} tone="used" />
                  {moneyWords(group.money)}
                </td>
                <td>
                  <Bar part={share(group.tokens, top.tokens)} tone="used" />
                  {short(group.tokens)}
                </td>
                <td>
                  <Bar part={share(group.timeMs, top.time)} tone="used" />
                  {duration(group.timeMs)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function share(value: number, of: number): number {
  return of === 0 ? 0 : value / of;
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

function Bar({ part, tone }: { part: number; tone: "passed" | "used" }) {
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
