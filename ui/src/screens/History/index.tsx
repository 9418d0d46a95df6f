// Every run, newest first: filtered by how it stands, by when it began and by words; and what they add up to.

import { Badge, Button, Checkbox, SegmentedControl, Select, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileImport, IconHistory, IconPlayerPlay, IconSearch, IconTrash } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { useImportRun } from "../../api/archive.ts";
import { usePlayRecording, useRuns } from "../../api/runs.ts";
import { DeleteRuns } from "../../components/DeleteRuns.tsx";
import { Failure } from "../../components/Failure.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Screen } from "../../components/Screen.tsx";
import { Time, useNow } from "../../components/Time.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { RunStatus, RunSummary } from "../../contract/index.ts";
import { go, href, type RunFilter } from "../../shell/route.ts";
import { folderName, short } from "../../state/format.ts";
import { type Period, periods, since } from "../../state/history.ts";
import { usePreferences } from "../../state/preferences.ts";
import { type Standing, standingMark, standingOf } from "../../state/standing.ts";
import { useText } from "../../text/index.ts";
import { useSample } from "../Home/index.tsx";
import classes from "./History.module.css";
import { Overview } from "./Overview.tsx";

const none: ReadonlySet<string> = new Set();

const filters: readonly RunFilter[] = ["all", "active", "waiting", "interrupted", "passed", "failed", "stopped"];

const asked: Record<RunFilter, RunStatus[]> = {
  all: [],
  active: ["running", "paused"],
  interrupted: ["running", "paused"],
  waiting: ["waiting"],
  passed: ["pass"],
  failed: ["fail"],
  stopped: ["terminated"],
};

const shown: Record<RunFilter, readonly Standing[] | null> = {
  all: null,
  active: ["running", "paused"],
  interrupted: ["interrupted"],
  waiting: ["waiting"],
  passed: ["passed"],
  failed: ["failed", "rejected"],
  stopped: ["stopped"],
};

/** Plays a file that was saved as a recording, in the place of models. */
function PlayRecording() {
  const t = useText();
  const play = usePlayRecording();
  return (
    <Tooltip label={t("runs.playHint")} multiline w={280}>
      <Button
        variant="default"
        leftSection={<IconPlayerPlay size={15} stroke={1.6} />}
        loading={play.isPending}
        onClick={() =>
          play.mutate(
            { fileTitle: t("runs.playFile"), folderTitle: t("runs.playFolder") },
            { onSuccess: (started) => started && go({ screen: "run", runId: started.runId, view: "auto" }), onError: tellError },
          )
        }
      >
        {t("runs.play")}
      </Button>
    </Tooltip>
  );
}

/** The list of all runs. */
export function History({ filter }: { filter: RunFilter }) {
  const t = useText();
  const [words, setWords] = useState("");
  const [text] = useDebouncedValue(words, 200);
  const runs = useRuns({ status: asked[filter], text });
  const wanted = shown[filter];
  const [period, setPeriod] = useState<Period>("any");
  const [view, setView] = useState<"list" | "overview">("list");
  const now = useNow(60_000);
  const from = since(period, now);
  const list = (runs.data ?? []).filter((run) => run.startedAtMs >= from && (wanted === null || wanted.includes(standingOf(run))));
  const [marked, setMarked] = useState<ReadonlySet<string>>(none);
  const [deletes, setDeletes] = useState(false);
  // What is not in sight any more is not deleted either.
  const chosen = list.filter((run) => marked.has(run.runId));
  // They come newest first: once one is too old, all further ones are.
  const complete = (runs.data?.at(-1)?.startedAtMs ?? Number.POSITIVE_INFINITY) < from;
  return (
    <Screen
      title={t("runs.title")}
      actions={
        <>
          <Import />
          <PlayRecording />
          <TextInput
            className={classes.search ?? ""}
            type="search"
            leftSection={<IconSearch size={15} stroke={1.6} />}
            placeholder={t("runs.search")}
            aria-label={t("runs.search")}
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
          />
        </>
      }
    >
      <div className={classes.bar}>
        <SegmentedControl
          size="xs"
          aria-label={t("runs.filter")}
          value={filter}
          onChange={(value) => go({ screen: "runs", status: filters.find((one) => one === value) ?? "all" })}
          data={filters.map((value) => ({ value, label: t(`runs.filters.${value}`) }))}
        />
        <Select
          size="xs"
          w={132}
          aria-label={t("runs.period")}
          allowDeselect={false}
          value={period}
          data={periods.map((value) => ({ value, label: t(`runs.periods.${value}`) }))}
          onChange={(value) => setPeriod(periods.find((one) => one === value) ?? "any")}
        />
        {chosen.length > 0 && (
          <Button size="xs" variant="default" leftSection={<IconTrash size={15} stroke={1.6} />} onClick={() => setDeletes(true)}>
            {t("runs.delete.some", { count: chosen.length })}
          </Button>
        )}
        {deletes && chosen.length > 0 && (
          <DeleteRuns runIds={chosen.map(({ runId }) => runId)} title={chosen[0]?.title ?? ""} close={() => setDeletes(false)} deleted={() => setMarked(none)} />
        )}
        <SegmentedControl
          className={classes.views ?? ""}
          size="xs"
          aria-label={t("runs.view")}
          value={view}
          onChange={(value) => setView(value === "overview" ? "overview" : "list")}
          data={[
            { value: "list", label: t("runs.views.list") },
            { value: "overview", label: t("runs.views.overview") },
          ]}
        />
      </div>
      {runs.isPending ? (
        <div className={classes.padded}>
          <ListSkeleton rows={8} />
        </div>
      ) : runs.isError && list.length === 0 ? (
        <Failure error={runs.error} retry={() => void runs.refetch()} />
      ) : list.length === 0 && (!runs.hasNextPage || complete) ? (
        <Nothing
          filtered={filter !== "all" || text !== "" || period !== "any"}
          clear={() => {
            setWords("");
            setPeriod("any");
          }}
        />
      ) : view === "overview" ? (
        <Overview runs={runs} chosen={list} now={now} complete={complete} />
      ) : (
        <Table runs={list} marked={marked} mark={setMarked} more={runs.hasNextPage && !complete && !runs.isFetchingNextPage ? () => void runs.fetchNextPage() : null} />
      )}
    </Screen>
  );
}

function Import() {
  const t = useText();
  const read = useImportRun();
  return (
    <Button
      variant="default"
      leftSection={<IconFileImport size={16} stroke={1.6} />}
      loading={read.isPending}
      onClick={() =>
        read.mutate(
          { pickTitle: t("runs.import.pick") },
          {
            onSuccess: (run) => {
              if (!run) return;
              tell(t("runs.import.done", { title: run.title }));
              go({ screen: "run", runId: run.runId, view: "auto" });
            },
            onError: tellError,
          },
        )
      }
    >
      {t("runs.import.open")}
    </Button>
  );
}

function Nothing({ filtered, clear }: { filtered: boolean; clear: () => void }) {
  const t = useText();
  const sample = useSample();
  if (filtered) {
    const showAll = () => {
      clear();
      go({ screen: "runs", status: "all" });
    };
    return (
      <Notice
        icon={<IconSearch size={20} stroke={1.6} />}
        title={t("runs.noneFound.title")}
        body={t("runs.noneFound.body")}
        action={
          <Button variant="default" onClick={showAll}>
            {t("runs.noneFound.button")}
          </Button>
        }
      />
    );
  }
  return (
    <Notice
      icon={<IconHistory size={20} stroke={1.6} />}
      title={t("runs.empty.title")}
      body={t("runs.empty.body")}
      action={
        <Button leftSection={<IconPlayerPlay size={15} stroke={1.6} />} onClick={sample.start} loading={sample.pending}>
          {t("home.hero.sample")}
        </Button>
      }
    />
  );
}

const rowHeight = { room: 56, dense: 40 };

interface TableProps {
  runs: RunSummary[];
  marked: ReadonlySet<string>;
  mark: (marked: ReadonlySet<string>) => void;
  more: (() => void) | null;
}

function Table({ runs, marked, mark, more }: TableProps) {
  const t = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const height = usePreferences((state) => state.dense) ? rowHeight.dense : rowHeight.room;
  const rows = useVirtualizer({
    count: runs.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
  });
  useEffect(() => rows.measure(), [height, rows]);
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && last >= runs.length - 10) more();
  }, [more, last, runs.length]);
  return (
    <div className={classes.scroller} ref={scroller} tabIndex={-1}>
      <div className={classes.table} style={{ "--row": `${height}px` } as CSSProperties} role="table" aria-label={t("runs.title")} aria-rowcount={runs.length + 1}>
        <div className={classes.header} role="row" aria-rowindex={1}>
          <span role="columnheader">
            <Checkbox
              size="xs"
              aria-label={t("runs.markAll")}
              checked={runs.length > 0 && runs.every(({ runId }) => marked.has(runId))}
              indeterminate={runs.some(({ runId }) => marked.has(runId)) && !runs.every(({ runId }) => marked.has(runId))}
              onChange={(event) => mark(event.currentTarget.checked ? new Set(runs.map(({ runId }) => runId)) : none)}
            />
          </span>
          <span role="columnheader">{t("runs.columns.status")}</span>
          <span role="columnheader">{t("runs.columns.task")}</span>
          <span role="columnheader" className={classes.number}>
            {t("runs.columns.cycles")}
          </span>
          <span role="columnheader" className={classes.number}>
            {t("runs.columns.tokens")}
          </span>
          <span role="columnheader" className={classes.number}>
            {t("runs.columns.when")}
          </span>
        </div>
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
          {items.map((item) => {
            const run = runs[item.index];
            return (
              run && (
                <div
                  key={run.runId}
                  className={classes.row}
                  role="row"
                  aria-rowindex={item.index + 2}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <span role="cell" className={classes.choose}>
                    <Checkbox
                      size="xs"
                      aria-label={t("runs.mark", { title: run.title })}
                      checked={marked.has(run.runId)}
                      onChange={() => mark(marked.has(run.runId) ? new Set([...marked].filter((id) => id !== run.runId)) : new Set([...marked, run.runId]))}
                    />
                  </span>
                  <Cells run={run} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ run }: { run: RunSummary }) {
  const t = useText();
  const stands = standingOf(run);
  return (
    <>
      <span role="cell" className={classes.status}>
        <Mark kind={standingMark[stands]} />
        {t(`standing.${stands}`)}
      </span>
      <span role="cell" className={classes.task}>
        <a className={classes.link} href={href({ screen: "run", runId: run.runId, view: "auto" })}>
          {run.title}
        </a>
        <span className={classes.folder}>{folderName(run.folder)}</span>
        {run.recorded && (
          <Tooltip label={t("common.recordedHint")}>
            <Badge variant="default" className={classes.recorded ?? ""}>
              {t("common.recorded")}
            </Badge>
          </Tooltip>
        )}
      </span>
      <span role="cell" className={classes.number}>
        {run.cycles}
      </span>
      <span role="cell" className={classes.number}>
        {short(run.tokensUsed)}
      </span>
      <span role="cell" className={classes.number}>
        <Time at={run.startedAtMs} />
      </span>
    </>
  );
}
