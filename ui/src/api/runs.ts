// Runs: lists of them, one of them as it happens, and what a person can do with one.

import { type InfiniteData, keepPreviousData, useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useSyncExternalStore } from "react";
import type { Answer, CheckedPlan, Estimate, Found, Key, LimitsChange, Plan, RunHeader, RunOptions, RunStatus, RunSummary, Wait } from "../contract/index.ts";
import { asHostError, HostError, host, type Reply } from "../host/index.ts";
import { grantedBefore } from "../state/compose.ts";
import type { CostRange } from "../state/history.ts";
import { questionsOf } from "../state/questions.ts";
import { RunFeed, type RunView } from "../state/runFeed.ts";
import { writeTask } from "../state/taskSource.ts";
import { listen } from "./signals.ts";

/** What a list of runs is narrowed to. */
export interface RunQuery {
  /** Empty for all. */
  status: readonly RunStatus[];
  text: string;
  /** Only runs that asked this model. */
  model?: string | null;
  /** Only runs that cost this or more, and less than that. */
  cost?: CostRange;
}

/** A run of a list, and where it was found. */
export interface ListedRun extends RunSummary {
  found?: Found;
}

const pageSize = 60;

/** Runs, newest first, page by page; nothing is asked for while they are not `wanted`. */
export function useRuns(query: RunQuery, wanted = true) {
  return useInfiniteQuery<Reply<"run_list">, HostError, ListedRun[], [string, RunQuery], string | null>({
    queryKey: ["runs", query],
    queryFn: ({ pageParam }) => {
      const { status, text, model = null, cost = {} } = query;
      return host.call("run_list", { cursor: pageParam, limit: pageSize, status: [...status], text: text || null, model, costFrom: cost.from ?? null, costBelow: cost.below ?? null });
    },
    enabled: wanted,
    // What is there stays in sight while other words are looked up.
    placeholderData: keepPreviousData,
    initialPageParam: null,
    // Another program may have begun a run meanwhile: the terminal, or a second window.
    refetchOnWindowFocus: true,
    getNextPageParam: (last) => last.next ?? null,
    select: (data: InfiniteData<Reply<"run_list">, string | null>) => data.pages.flatMap(listed),
  });
}

function listed({ runs, found }: Reply<"run_list">): ListedRun[] {
  const places = new Map(found.map((one) => [one.runId, one]));
  return runs.map((run) => {
    const place = places.get(run.runId);
    return place ? { ...run, found: place } : run;
  });
}

/** The models that runs of the history asked. */
export function useAskedModels() {
  return useQuery<string[], HostError>({
    queryKey: ["runs", "models"],
    queryFn: async () => (await host.call("run_models", null)).models,
  });
}

/** A run as a list shows it. */
export function useRunSummary(runId: string) {
  return useQuery<RunSummary, HostError>({
    queryKey: ["run", runId],
    queryFn: () => host.call("run_get", { runId }),
  });
}

/** What the plan that waits for an answer will cost. */
export function useEstimate(runId: string, planHash: string) {
  return useQuery<Estimate | null, HostError>({
    queryKey: ["estimate", runId, planHash],
    queryFn: () => host.call("run_estimate", { runId }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What the app says of a plan that a person is changing. */
export function useCheckedPlan(runId: string, plan: Plan | null) {
  return useQuery<CheckedPlan, HostError>({
    queryKey: ["checked", runId, plan],
    queryFn: () => host.call("run_check_plan", { runId, plan }),
    enabled: plan !== null,
    // What was said before stays in sight while the next is looked up.
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
}

/** The waits between two attempts at a provider; asked only while something waits. */
export function useWaits(runId: string, waits: boolean) {
  return useQuery<Wait[], HostError>({
    queryKey: ["waits", runId],
    queryFn: async () => (await host.call("run_waits", { runId })).waits,
    enabled: waits,
    refetchInterval: 1000,
  });
}

/** Ends these waits: the next attempt begins now. */
export function useTryNow(runId: string) {
  const client = useQueryClient();
  return useMutation<unknown, HostError, void>({
    mutationFn: () => host.call("run_try_now", { runId }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["waits", runId] }),
  });
}

/** Keeps lists true when the app says that runs changed. Called once, by the shell. */
export function useRunSignals(): void {
  const client = useQueryClient();
  useEffect(() => {
    const refresh = () => {
      void client.invalidateQueries({ queryKey: ["runs"] });
      void client.invalidateQueries({ queryKey: ["run"] });
    };
    return listen((signal) => {
      if (signal.kind === "runsChanged") refresh();
    }, refresh);
  }, [client]);
}

const kept = 4;
const feeds = new Map<string, RunFeed>();

/** With the next frame; a window that is not seen has none, and still wants to say that something waits. */
function nextFrame(run: () => void): void {
  let isDone = false;
  const once = () => {
    if (isDone) return;
    isDone = true;
    run();
  };
  requestAnimationFrame(once);
  window.setTimeout(once, 200);
}

/** What follows a run; the last few are kept. */
export function feedOf(runId: string): RunFeed {
  const found = feeds.get(runId);
  if (found) return found;
  const source = {
    events: async (fromSeq: number, limit: number) => (await host.call("run_events", { runId, fromSeq, limit })).events,
    deltas: () => host.call("run_deltas", { runId }),
  };
  const feed = new RunFeed(source, nextFrame);
  feeds.set(runId, feed);
  for (const [id] of feeds) {
    if (feeds.size <= kept) break;
    if (id !== runId) feeds.delete(id);
  }
  return feed;
}

/** A run as it happens. */
export interface LiveRun extends RunView {
  feed: RunFeed;
  retry: () => void;
}

/** Follows a run for as long as the component is shown. */
export function useRun(runId: string): LiveRun {
  const feed = useMemo(() => feedOf(runId), [runId]);
  useEffect(() => {
    const catchUp = () => void feed.pull().then(() => feed.catchUpTexts());
    catchUp();
    return listen((signal) => feed.hear(signal, runId), catchUp);
  }, [feed, runId]);
  const view = useSyncExternalStore(feed.onView, feed.current);
  const retry = useCallback(() => void feed.pull(), [feed]);
  return useMemo(() => ({ ...view, feed, retry }), [view, feed, retry]);
}

/** What a model has said so far in a call that is at work: its words, and its thoughts where it shows them. */
export function useRunningText(feed: RunFeed, key: Key | null): { text: string; reasoning: string } {
  const text = useCallback(() => (key === null ? "" : feed.textOf(key)), [feed, key]);
  const reasoning = useCallback(() => (key === null ? "" : feed.reasoningOf(key)), [feed, key]);
  return { text: useSyncExternalStore(feed.onText, text), reasoning: useSyncExternalStore(feed.onText, reasoning) };
}

function useRunsRefresh(): () => void {
  const client = useQueryClient();
  return () => {
    void client.invalidateQueries({ queryKey: ["runs"] });
    void client.invalidateQueries({ queryKey: ["run"] });
  };
}

/** Starts the sample that ships with the app. */
export function useStartSample() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"sample_start">, HostError, void>({
    mutationFn: () => host.call("sample_start", null),
    onSuccess,
  });
}

/** By now an answer is in the journal, or it could not be written there. */
const answeredWithin = 12_000;
const lostListeners = new Set<(error: HostError) => void>();

/** Hears of answers that could not be kept. Called once, by the shell. */
export function useLostAnswers(listener: (error: HostError) => void): void {
  useEffect(() => {
    lostListeners.add(listener);
    return () => void lostListeners.delete(listener);
  }, [listener]);
}

/** Answers the question that a run waits with. The app takes an answer before it is written: one that is not there in the
 * end is said to be lost. */
export function useAnswer(runId: string) {
  const refresh = useRunsRefresh();
  return useMutation<unknown, HostError, { key: Key; answer: Answer }>({
    mutationFn: ({ key, answer }) => host.call("run_answer", { runId, key, answer }),
    onSuccess: (_, { key }) => {
      refresh();
      window.setTimeout(() => void sayIfOpen(runId, key), answeredWithin);
    },
  });
}

async function sayIfOpen(runId: string, key: Key): Promise<void> {
  const feed = feeds.get(runId);
  await feed?.pull();
  const view = feed?.current();
  if (view?.error !== null || !questionsOf(view.state).some((question) => question.key === key)) return;
  const lost = new HostError({ code: "answer_lost", message: "the answer is not in the journal", hint: null, retryable: true, problems: [] });
  for (const listener of lostListeners) listener(lost);
}

/** Ends a run at the next safe place. */
export function useStop() {
  const onSuccess = useRunsRefresh();
  return useMutation<unknown, HostError, string>({
    mutationFn: (runId) => host.call("run_stop", { runId }),
    onSuccess,
  });
}

/** Takes an interrupted run up where it was. */
export function useContinue() {
  const onSuccess = useRunsRefresh();
  return useMutation<unknown, HostError, string>({
    mutationFn: (runId) => host.call("run_continue", { runId }),
    onSuccess,
  });
}

/** Goes on with a run as another one, from where its history and what would be done now part. */
export function useFork() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"run_fork">, HostError, string>({
    mutationFn: (runId) => host.call("run_fork", { runId }),
    onSuccess,
  });
}

/** Finishes what is at work in a run and begins nothing else, until it is continued. */
export function usePause() {
  const onSuccess = useRunsRefresh();
  return useMutation<unknown, HostError, string>({
    mutationFn: (runId) => host.call("run_pause", { runId }),
    onSuccess,
  });
}

/** Tells the next planner of a run something; a run that ended gets one more cycle for it. */
export function useGuide() {
  const onSuccess = useRunsRefresh();
  return useMutation<unknown, HostError, { runId: string; words: string }>({
    mutationFn: (request) => host.call("run_guide", request),
    onSuccess,
  });
}

/** Accepts what a run made, whatever its judge said. */
export function useAccept() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"run_accept">, HostError, { runId: string; words: string | null }>({
    mutationFn: (request) => host.call("run_accept", request),
    onSuccess,
  });
}

/** Changes where a run stops, and lets it go on. */
export function useRaiseLimits() {
  const onSuccess = useRunsRefresh();
  return useMutation<unknown, HostError, { runId: string; limits: LimitsChange }>({
    mutationFn: (request) => host.call("run_raise_budget", request),
    onSuccess,
  });
}

/** A run whose task is to be run again. */
export interface Again {
  runId: string;
  /** What the folder picker is called, for a run that came from another computer. */
  pickTitle: string;
}

/** What the app says of a folder that is no longer where it was. */
const folderGone = ["folder_missing", "no_folder", "not_a_folder"];

/** Runs the same task once more, as a new run. One from another computer has no folder here, and another's may be moved or
 * gone, so a person picks one; null when they changed their mind. */
export function useRunAgain() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"run_again"> | null, HostError, Again>({
    mutationFn: async ({ runId, pickTitle }) => {
      try {
        return await host.call("run_again", { runId });
      } catch (thrown) {
        if (!["run_imported", ...folderGone].includes(asHostError(thrown).code)) throw thrown;
      }
      const folder = await host.pickFolder(pickTitle);
      return folder === null ? null : host.call("run_again", { runId, folder });
    },
    onSuccess,
  });
}

/** Starts the task of a run once more with another model for everything. Where its folder is not there, a person picks
 * one; null when they changed their mind. */
export function useStartWith() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"run_start"> | null, HostError, { header: RunHeader; model: string; pickTitle: string }>({
    mutationFn: async ({ header, model, pickTitle }) => {
      const { rulesAllowed, allowedEffects } = grantedBefore(header);
      const options = { models: { planner: model, judge: model, executor: { low: model, high: model } }, allowHooks: rulesAllowed, allowEffects: [...allowedEffects] };
      const request = { source: writeTask(header.task), title: header.title, options };
      try {
        return await host.call("run_start", { ...request, folder: header.envelope.folder });
      } catch (thrown) {
        if (!folderGone.includes(asHostError(thrown).code)) throw thrown;
      }
      const folder = await host.pickFolder(pickTitle);
      return folder === null ? null : host.call("run_start", { ...request, folder });
    },
    onSuccess,
  });
}

/** Saves what the models of a run answered as a file; null when a person changed their mind. */
export function useSaveRecording() {
  return useMutation<Reply<"run_record"> | null, HostError, { runId: string; suggested: string; pickTitle: string }>({
    mutationFn: async ({ runId, suggested, pickTitle }) => {
      const path = await host.saveFileAs(suggested, pickTitle);
      // The system's own picker has asked about a file that is there.
      return path === null ? null : host.call("run_record", { runId, path, replace: true });
    },
  });
}

/** Plays a recording that a person picks, in a folder that they pick; null when they changed their mind. */
export function usePlayRecording() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"recording_play"> | null, HostError, { fileTitle: string; folderTitle: string }>({
    mutationFn: async ({ fileTitle, folderTitle }) => {
      const path = await host.pickFile("recording", fileTitle);
      const folder = path === null ? null : await host.pickFolder(folderTitle);
      return path === null || folder === null ? null : host.call("recording_play", { path, folder });
    },
    onSuccess,
  });
}

/** Starts a task in a folder. */
export function useStartRun() {
  const onSuccess = useRunsRefresh();
  return useMutation<Reply<"run_start">, HostError, { source: string; folder: string; options?: RunOptions }>({
    mutationFn: (request) => host.call("run_start", request),
    onSuccess,
  });
}
