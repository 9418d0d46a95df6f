// Every run, newest first: filtered by how it stands, by when it began, by model, by cost and by words; and what they
// add up to.

import { Badge, Button, Checkbox, SegmentedControl, Select, TextInput, Tooltip } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconFileImport, IconHistory, IconPlayerPlay, IconSearch, IconTrash } from "@tabler/icons-react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { useImportRun } from "../../api/archive.ts";
import { type ListedRun, useAskedModels, usePlayRecording, useRuns } from "../../api/runs.ts";
import { useSettings } from "../../api/settings.ts";
import { DeleteRuns } from "../../components/DeleteRuns.tsx";
import { Failure } from "../../components/Failure.tsx";
import { FoundText } from "../../components/FoundText.tsx";
import { ListSkeleton } from "../../components/Late.tsx";
import { Mark } from "../../components/Mark.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Screen } from "../../components/Screen.tsx";
import { Time, useNow } from "../../components/Time.tsx";
import { tell, tellError } from "../../components/toast.tsx";
import type { RunStatus } from "../../contract/index.ts";
import { go, href, type RunFilter } from "../../shell/route.ts";
import { folderName, money, short } from "../../state/format.ts";
import { type CostRange, costRanges, moneyOf, moneyWords, type Period, periods, since } from "../../state/history.ts";
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
  const [model, setModel] = useState<string | null>(null);
  const [cost, setCost] = useState<CostRange | null>(null);
  const runs = useRuns({ status: asked[filter], text, model, cost: cost ?? {} });
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
  const filtered = filter !== "all" || text !== "" || period !== "any" || model !== null || cost !== null;
  // Where there is no run yet, there is nothing to look for.
  const isFirst = runs.isSuccess && runs.data.length === 0 && !filtered && words === "";
  if (isFirst) {
    return (
      <Screen
        title={t("runs.title")}
        actions={
          <>
            <Import />
            <PlayRecording />
          </>
        }
      >
        <Nothing filtered={false} clear={() => {}} />
      </Screen>
    );
  }
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
      <div className={classes.bar} data-second>
        <Select
          size="xs"
          w={132}
          aria-label={t("runs.period")}
          allowDeselect={false}
          value={period}
          data={periods.map((value) => ({ value, label: t(`runs.periods.${value}`) }))}
          onChange={(value) => setPeriod(periods.find((one) => one === value) ?? "any")}
        />
        <ModelFilter model={model} setModel={setModel} />
        <CostFilter cost={cost} setCost={setCost} />
        {chosen.length > 0 && (
          <Button size="xs" variant="default" leftSection={<IconTrash size={15} stroke={1.6} />} onClick={() => setDeletes(true)}>
            {t("runs.delete.some", { count: chosen.length })}
          </Button>
        )}
        {deletes && chosen.length > 0 && (
          <DeleteRuns runIds={chosen.map(({ runId }) => runId)} title={chosen[0]?.title ?? ""} close={() => setDeletes(false)} deleted={() => setMarked(none)} />
        )}
      </div>
      {runs.isPending ? (
        <div className={classes.padded}>
          <ListSkeleton rows={8} />
        </div>
      ) : runs.isError && list.length === 0 ? (
        <Failure error={runs.error} retry={() => void runs.refetch()} />
      ) : list.length === 0 && (!runs.hasNextPage || complete) ? (
        <Nothing
          filtered={filtered}
          clear={() => {
            setWords("");
            setPeriod("any");
            setModel(null);
            setCost(null);
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

/** Only runs that asked a model. */
function ModelFilter({ model, setModel }: { model: string | null; setModel: (model: string | null) => void }) {
  const t = useText();
  const models = useAskedModels().data ?? [];
  return (
    <Select
      size="xs"
      w={200}
      classNames={{ input: classes.any ?? "" }}
      aria-label={t("runs.model")}
      placeholder={t("runs.anyModel")}
      searchable={models.length > 8}
      clearable
      clearButtonProps={{ "aria-label": t("runs.anyModel") }}
      disabled={models.length === 0 && model === null}
      value={model}
      data={models}
      onChange={setModel}
    />
  );
}

/** Only runs that cost about as much. */
function CostFilter({ cost, setCost }: { cost: CostRange | null; setCost: (cost: CostRange | null) => void }) {
  const t = useText();
  const currency = useSettings().data?.prices.currency || "USD";
  const label = ({ from = 0, below }: CostRange) => {
    if (below === undefined) return t("runs.costs.from", { from: money(from, currency) });
    if (from < 0.01) return t("runs.costs.below", { below: money(below, currency) });
    return t("runs.costs.between", { from: money(from, currency), below: money(below, currency) });
  };
  return (
    <Select
      size="xs"
      w={150}
      aria-label={t("runs.cost")}
      allowDeselect={false}
      value={String(cost === null ? -1 : costRanges.indexOf(cost))}
      data={[{ value: "-1", label: t("runs.costs.any") }, ...costRanges.map((range, index) => ({ value: String(index), label: label(range) }))]}
      onChange={(value) => setCost(costRanges[Number(value)] ?? null)}
    />
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
/** With a line that says where the words were found. */
const tallRow = { room: 64, dense: 52 };

interface TableProps {
  runs: ListedRun[];
  marked: ReadonlySet<string>;
  mark: (marked: ReadonlySet<string>) => void;
  more: (() => void) | null;
}

function Table({ runs, marked, mark, more }: TableProps) {
  const t = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const heights = runs.some((run) => run.found && run.found.place !== "title") ? tallRow : rowHeight;
  const height = usePreferences((state) => state.dense) ? heights.dense : heights.room;
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
            {t("runs.columns.cost")}
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

function Cells({ run }: { run: ListedRun }) {
  const t = useText();
  const stands = standingOf(run);
  const { found } = run;
  return (
    <>
      <span role="cell" className={classes.status}>
        <Mark kind={standingMark[stands]} />
        {t(`standing.${stands}`)}
      </span>
      <span role="cell" className={classes.cell}>
        <span className={classes.task}>
          <a className={classes.link} href={href({ screen: "run", runId: run.runId, view: "auto" })}>
            {found?.place === "title" ? <FoundText found={found} /> : run.title}
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
        {found && found.place !== "title" && (
          <span className={classes.found}>
            <span className={classes.place}>{t(`runs.found.${found.place}`)}</span> <FoundText found={found} />
          </span>
        )}
      </span>
      <span role="cell" className={classes.number}>
        {run.cycles}
      </span>
      <span role="cell" className={classes.number}>
        {short(run.tokensUsed)}
      </span>
      <span role="cell" className={classes.number}>
        <RunCost run={run} />
      </span>
      <span role="cell" className={classes.number}>
        <Time at={run.startedAtMs} />
      </span>
    </>
  );
}

/** What a run cost, and why that is not all or not known. */
function RunCost({ run }: { run: ListedRun }) {
  const t = useText();
  const words = moneyWords(moneyOf(run));
  const unpriced = run.cost?.unpriced ?? [];
  if (unpriced.length === 0) return words;
  return (
    <Tooltip label={t("runs.unpriced", { models: unpriced.join(", ") })} multiline maw={320}>
      <span className={classes.partly}>{words}</span>
    </Tooltip>
  );
}
