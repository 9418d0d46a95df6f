// Answers the window's commands from made-up data, for looking at screens with `vite --mode mock`. Never built.
// A scenario is chosen with POST /mock: { "scenario": "first" | "busy" | "down" }.

import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Plugin } from "vite";
import type { Answer, RunEventRecord, RunStatus, RunSummary, Settings, StopReason } from "../src/contract/index.ts";
import { applyEvents, emptyRun, runStatus } from "../src/state/runState.ts";
import checks from "./checks.json" with { type: "json" };
import { type Beat, flaggedText, header, reportText, sampleBeats } from "./mock-data.ts";

interface MockRun {
  id: string;
  title: string;
  records: RunEventRecord[];
  rest: Beat[];
  driven: boolean;
  texts: Map<string, string>;
  startedAtMs: number;
  timer: NodeJS.Timeout | undefined;
}

/** The plugin that answers /ipc, /signals, /pick and /mock. */
export function mockServer(): Plugin {
  const world = new World();
  return {
    name: "tepa-mock-server",
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const url = request.url ?? "";
        if (url.startsWith("/signals")) world.subscribe(response);
        else if (/^\/(ipc|pick|mock|open)/.test(url)) void answer(world, url, request, response);
        else next();
      });
    },
  };
}

async function answer(world: World, url: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = JSON.parse((await text(request)) || "null") as Record<string, unknown>;
  const send = (status: number, value: unknown) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(value ?? null));
  };
  if (url === "/mock") {
    world.choose(String(body["scenario"]));
    return send(200, null);
  }
  if (url === "/open") return send(200, null);
  if (url === "/pick/folder") return send(200, { path: "/home/ada/Expenses/2026 Q2" });
  if (url.startsWith("/pick")) return send(200, { path: "/home/ada/Expenses/expenses.yaml" });
  if (world.scenario === "down") return send(500, { code: "store", message: "the store is locked by another program", hint: "close the other program and try again", retryable: true });
  try {
    send(200, world.call(url.slice("/ipc/".length), body ?? {}));
  } catch (error) {
    send(400, error instanceof Error ? { code: "not_found", message: error.message, hint: null, retryable: false } : error);
  }
}

async function text(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString("utf8");
}

const accountProviders = ["Anthropic", "OpenAI", "Gemini"].map((title) => ({
  name: title.toLowerCase(),
  title,
  needsBaseUrl: false,
  baseUrl: "",
  key: "required" as const,
  environment: [],
  usualAddresses: [],
}));

class World {
  scenario = "first";
  speed = 1;
  private runs: MockRun[] = [];
  private readonly subscribers = new Set<ServerResponse>();
  private settings: Settings = { theme: "system", limits: { maxCycles: 5, maxTokens: 64000, toolTimeout: 30000, maxParallel: 4, retryAttempts: 1 }, endpoint: null, prices: { currency: "USD", models: {} }, accounts: [], models: {}, permissions: { preset: "normal", commands: { kind: "ask" } } };
  private key: { last4: string; at: number } | null = null;
  private readonly drafts = new Map<string, unknown>();

  choose(scenario: string): void {
    for (const run of this.runs) clearTimeout(run.timer);
    this.scenario = scenario;
    this.runs = [];
    this.drafts.clear();
    if (scenario === "compose") {
      const source = readFileSync(new URL("../../prompts/samples/expenses.yaml", import.meta.url), "utf8").replace("Explains in plain words", "At most 400 words; explains in plain words");
      this.drafts.set("compose", { source, folder: header.envelope.folder, path: "/home/ada/Expenses/expenses.yaml", saved: source });
      this.settings.endpoint = { baseUrl: "http://localhost:11434/v1", model: "qwen3:14b" };
    } else this.settings.endpoint = null;
    if (scenario === "busy") {
      const now = Date.now();
      const titles = ["Supplier letters, second reminder", "Attendance of class 5B", "Meeting minutes into tasks", "Survey answers by theme", "Invoices without a match", "Reading list for the autumn term"];
      for (let n = 40; n > 0; n -= 1) {
        const [status, reason] = ([["pass", "passed"], ["pass", "passed"], ["fail", "max_cycles"], ["terminated", "cancelled"], ["fail", "error"], ["terminated", "budget"]] as const)[n % 6] ?? ["pass", "passed"];
        this.ended(`old-${n}`, titles[n % titles.length] ?? "Task", now - n * 26 * 3_600_000, status, reason);
      }
      this.played("interrupted", "Attendance of class 5B", "running1", false, now - 5_400_000);
      this.played("failed", "Survey answers by theme", "judged1", false, now - 4_000_000, "max_cycles");
      this.played("passed", "Quarterly expenses", "passed", false, now - 240_000);
      this.played("ask2", "Quarterly expenses", "ask2", true, now - 60_000);
      this.played("ask1", "Quarterly expenses", "ask1", true, now - 30_000);
      this.played("running", "Quarterly expenses", "running2", true, now - 20_000);
    }
    this.signal({ kind: "runsChanged" });
  }

  subscribe(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
    response.write(": hello\n\n");
    this.subscribers.add(response);
    response.on("close", () => this.subscribers.delete(response));
  }

  call(name: string, body: Record<string, unknown>): unknown {
    const run = () => {
      const found = this.runs.find((one) => one.id === body["runId"]);
      if (!found) throw new Error("there is no such run");
      return found;
    };
    switch (name) {
      case "app_info":
        return { version: "0.1.0", dataFolder: "/home/ada/.local/share/tepa", keychainProblem: null };
      case "sample_start":
      case "run_start":
      case "run_again": {
        const id = `run-${Date.now()}`;
        const made = this.make(id, "Quarterly expenses", sampleBeats(), true, Date.now());
        this.play(made);
        this.signal({ kind: "runsChanged" });
        return { runId: id };
      }
      case "run_list": {
        const status = (body["status"] as RunStatus[] | null) ?? [];
        const words = String(body["text"] ?? "").toLowerCase();
        const all = this.runs.map((one) => this.summary(one)).filter((one) => (status.length === 0 || status.includes(one.status)) && one.title.toLowerCase().includes(words));
        const from = Number(body["cursor"] ?? 0);
        const limit = Number(body["limit"]);
        return { found: [], runs: all.toReversed().slice(from, from + limit), next: from + limit < all.length ? String(from + limit) : null };
      }
      case "run_get":
        return this.summary(run());
      case "run_events": {
        const from = Number(body["fromSeq"]);
        return { events: run().records.slice(from - 1, from - 1 + Number(body["limit"])) };
      }
      case "run_deltas":
        return [...run().texts].map(([key, said]) => ({ key, text: said, reasoning: "" }));
      case "run_answer": {
        const found = run();
        const given = body["answer"] as Answer;
        const [next] = found.rest;
        if (next?.event.type === "personAnswered") next.event = { type: "personAnswered", answer: given };
        if (given.kind === "reject") {
          found.rest = [next as Beat, this.end("fail", "rejected")];
        }
        found.driven = true;
        this.play(found, true);
        return null;
      }
      case "run_stop": {
        const found = run();
        found.rest = [this.end("terminated", "cancelled")];
        this.play(found, true);
        return null;
      }
      case "run_continue": {
        const found = run();
        found.driven = true;
        this.play(found);
        this.signal({ kind: "runsChanged" });
        return null;
      }
      case "file_preview":
      case "file_before": {
        const path = String(body["path"]);
        if (path.endsWith(".md")) return { kind: "text", text: reportText, truncated: false, size: reportText.length };
        if (path.endsWith(".csv")) return { kind: "csv", text: flaggedText, truncated: false, size: flaggedText.length };
        return { kind: "missing", text: null, truncated: false, size: 0 };
      }
      case "checks_list":
        return { checks };
      case "tools_list":
        return { tools: [] };
      case "folder_info":
        return { exists: true, name: "2026 Q2", files: [{ extension: "csv", count: 3 }], folders: 0, rows: 401, problem: null };
      case "settings_get":
        return this.settings;
      case "settings_set":
        this.settings = body as unknown as Settings;
        return this.settings;
      case "key_info":
        return this.key && { account: body["account"], last4: this.key.last4, addedAtMs: this.key.at, source: "keychain" };
      case "key_set":
        this.key = { last4: String(body["key"]).slice(-4), at: Date.now() };
        return { account: body["account"], last4: this.key.last4, addedAtMs: this.key.at, source: "keychain" };
      case "key_delete":
        this.key = null;
        return null;
      case "providers_list":
        return { providers: accountProviders };
      case "provider_test":
        return String(body["baseUrl"]).includes("11434")
          ? { ok: true, message: "qwen3:14b answered in 1.2 s", models: ["qwen3:14b", "llama3.3:70b", "gemma3:12b"] }
          : { ok: false, message: "nobody answers at this address; is the server running?", models: [] };
      case "draft_get":
        return { value: this.drafts.get(String(body["name"])) ?? null };
      case "draft_set":
        this.drafts.set(String(body["name"]), body["value"]);
        return null;
      case "task_check":
        return { task: null, hooks: [], effects: [], problems: String(body["source"]).includes('goal: ""') ? [{ path: "goal", message: "write what you want done", warning: false }, { path: "expectedOutput[0].path", message: "write the file's name", warning: false }] : [] };
      case "task_save":
        return null;
      case "task_open":
        return { source: "goal: Sort the letters\ncontext: {}\nexpectedOutput: A list\n", path: body["path"], folder: "/home/ada/Letters", task: null, problems: [] };
      default:
        throw new Error(`${name} is not mocked`);
    }
  }

  private make(id: string, title: string, beats: Beat[], driven: boolean, startedAtMs: number): MockRun {
    const run: MockRun = { id, title, records: [], rest: beats, driven, texts: new Map(), startedAtMs, timer: undefined };
    this.runs.push(run);
    return run;
  }

  private end(status: RunStatus, stopReason: StopReason): Beat {
    return { wait: 50, key: "run:finished", event: { type: "runFinished", result: { status, stopReason, cycles: 1, tokensUsed: 4000, cost: null, feedback: "", outputs: [] } } };
  }

  private played(id: string, title: string, until: NonNullable<Beat["mark"]>, driven: boolean, startedAtMs: number, reason?: StopReason): void {
    const run = this.make(id, title, sampleBeats(), driven, startedAtMs);
    let at = startedAtMs;
    for (;;) {
      const beat = run.rest.shift();
      if (!beat) break;
      at += beat.wait;
      this.push(run, beat, at);
      if (beat.mark === until) break;
    }
    if (reason) this.push(run, this.end("fail", reason), at + 50);
    const [next] = run.rest;
    if (driven && next?.event.type === "modelAttempted") run.texts.set(next.key.replace(/:.*$/, ""), "Spending was 17,954.10, eleven percent above the first quarter. Travel rose because of the May ");
  }

  private ended(id: string, title: string, at: number, status: RunStatus, reason: StopReason): void {
    const run = this.make(id, title, [], false, at);
    this.push(run, { wait: 0, key: "run", event: { type: "runStarted", header: { ...header, title, recording: null } } }, at);
    this.push(run, { wait: 0, key: "cycle/1", event: { type: "cycleStarted", cycle: 1 } }, at);
    this.push(run, this.end(status, reason), at + 90_000);
  }

  private push(run: MockRun, beat: Beat, atMs: number): void {
    run.records.push({ runId: run.id, seq: run.records.length + 1, atMs, key: beat.key, event: beat.event });
  }

  private play(run: MockRun, answered = false): void {
    const [next] = run.rest;
    if (!next) {
      run.driven = false;
      this.signal({ kind: "runsChanged" });
      return;
    }
    if (next.event.type === "personAnswered" && !answered) {
      this.signal({ kind: "runsChanged" });
      return;
    }
    run.timer = setTimeout(() => {
      run.rest.shift();
      this.push(run, next, Date.now());
      if (next.event.type === "modelCallFinished") run.texts.delete(next.key);
      this.signal({ kind: "advanced", runId: run.id, seq: run.records.length });
      if (next.says && next.event.type === "modelCallStarted") this.say(run, next.key.replace(/:started$/, ""), next.says);
      this.play(run);
    }, next.wait / this.speed);
  }

  private say(run: MockRun, key: string, words: string): void {
    const pieces = words.match(/.{1,14}/gs) ?? [];
    let offset = 0;
    pieces.forEach((piece, index) => {
      const from = offset;
      offset += piece.length;
      setTimeout(() => {
        run.texts.set(key, words.slice(0, from + piece.length));
        this.signal({ kind: "delta", runId: run.id, key, offset: from, text: piece });
      }, (2400 / pieces.length) * index);
    });
  }

  private signal(signal: unknown): void {
    for (const response of this.subscribers) response.write(`data: ${JSON.stringify(signal)}\n\n`);
  }

  private summary(run: MockRun): RunSummary {
    const state = applyEvents(emptyRun, run.records);
    return {
      runId: run.id,
      title: run.title,
      status: runStatus(state),
      stopReason: state.result?.stopReason ?? null,
      cycles: Math.max(1, state.cycles.length),
      tokensUsed: state.result?.tokensUsed ?? state.tokensUsed,
      cost: state.header?.recording ? null : state.cost,
      models: [],
      workedMs: 0,
      folder: state.header?.envelope.folder ?? header.envelope.folder,
      recorded: (state.header?.recording ?? null) !== null,
      startedAtMs: run.startedAtMs,
      updatedAtMs: state.updatedAtMs,
      endedAtMs: state.result ? state.updatedAtMs : null,
      driven: run.driven && state.result === null,
    };
  }
}
