// The state of a run: a fold of its events, the same here as `RunState::apply` in Rust. Both reproduce the fixtures
// under tests/fixtures/run_state. The old state is never changed, so that what did not change is not drawn again.

import type {
  Answer,
  Ask,
  CycleState,
  Key,
  Limits,
  LlmAttempt,
  PhaseState,
  RunEventRecord,
  RunState,
  RunStatus,
  StepState,
  WaitingFor,
} from "../contract/index.ts";
import { askedModel, costOf, priceOf } from "./cost.ts";

/** The state before the first event. */
export const emptyRun: RunState = {
  lastSeq: 0,
  header: null,
  startedAtMs: 0,
  updatedAtMs: 0,
  result: null,
  cycles: [],
  waiting: null,
  tokensUsed: 0,
  tokensEstimated: 0,
  cost: { amount: 0, currency: "", unpriced: [] },
  paused: false,
  guidance: [],
  scratchpad: {},
  files: [],
  calls: {},
  tools: {},
  phases: {},
  answer: null,
  guardrails: [],
};

/** Takes the next event in. An event that is already in it changes nothing. */
export function applyEvent(state: RunState, record: RunEventRecord): RunState {
  return applyEvents(state, [record]);
}

/** Takes several events in, copying each changed part once. */
export function applyEvents(state: RunState, records: readonly RunEventRecord[]): RunState {
  const news = records.filter((record) => record.seq > state.lastSeq);
  if (news.length === 0) return state;
  const fold = new Fold(state);
  for (const record of news) fold.apply(record);
  return fold.state;
}

/** Where the run stands. */
export function runStatus(state: RunState): RunStatus {
  if (state.result) return state.result.status;
  if (state.paused) return "paused";
  return state.waiting ? "waiting" : "running";
}

/** The leaf that an entry belongs to: its key without the mark after the last colon. */
export function leafOf(key: Key): Key {
  const colon = key.lastIndexOf(":");
  return colon > key.lastIndexOf("/") ? key.slice(0, colon) : key;
}

/** The value under a name that a model or a file may have chosen. */
export function entry<T>(record: { [name: string]: T }, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function never(event: never): void {
  void event;
}

const waitingStep: StepState = {
  status: "waiting",
  startedAtMs: null,
  durationMs: null,
  tokensUsed: 0,
  inputs: [],
  output: null,
  error: null,
  leaves: [],
};

/** Takes events into a state of its own, which must not be given out before the last of them: each thing is copied once. */
export class Fold {
  readonly state: RunState;
  private readonly copied = new WeakSet<object>();

  constructor(state: RunState) {
    this.state = this.copy(state);
  }

  apply(record: RunEventRecord): void {
    const { state } = this;
    if (record.seq <= state.lastSeq) return;
    state.lastSeq = record.seq;
    state.updatedAtMs = record.atMs;
    const leaf = leafOf(record.key);
    const { event } = record;
    switch (event.type) {
      case "runStarted":
        state.header = event.header;
        state.startedAtMs = record.atMs;
        return;
      case "runReopened":
        state.result = null;
        state.paused = false;
        return;
      case "runPaused":
        state.paused = true;
        return;
      case "runContinued":
        state.paused = false;
        return;
      case "guidanceGiven":
        state.guidance = [...state.guidance, event.words];
        return;
      case "limitsRaised":
        this.raise(event.limits);
        return;
      case "runFinished":
        state.result = event.result;
        state.waiting = null;
        delete state.waitingAlso;
        this.inLastCycle((cycle) => (cycle.phase = "ended"));
        this.takeBackIdle();
        return;
      case "cycleStarted":
        state.cycles = this.copy(state.cycles);
        state.cycles.push(newCycle(event.cycle));
        return;
      case "attemptOpened":
      case "outsideEffectIntended":
      case "hookFinished":
      case "workFinished":
      case "topicEmitted":
      case "workUnblocked":
      case "overlayWritten":
      case "judgeAsked":
        return;
      case "planningStarted":
        this.inCycle(event.cycle, (cycle) => {
          cycle.phase = "planning";
          cycle.feedback = event.feedback;
        });
        return;
      case "planRefused":
        this.inCycle(event.cycle, (cycle) => (cycle.planProblems = event.problems));
        return;
      case "planProposed":
        this.inCycle(event.cycle, (cycle) => {
          cycle.phase = "proposed";
          cycle.planProblems = [];
          cycle.steps = Object.fromEntries(event.plan.steps.map((step) => [step.id, waitingStep]));
          cycle.plan = event.plan;
          cycle.planHash = event.planHash;
        });
        return;
      case "planChanged":
        this.inCycle(event.cycle, (cycle) => {
          const before = cycle.steps;
          cycle.steps = Object.fromEntries(
            event.plan.steps.map((step) => [step.id, entry(before, step.id) ?? waitingStep]),
          );
          cycle.plan = event.plan;
          cycle.planHash = event.planHash;
        });
        return;
      case "stepChanged":
        this.inCycle(event.cycle, (cycle) => {
          if (!cycle.plan) return;
          const steps = cycle.plan.steps.map((step) => (step.id === event.step.id ? event.step : step));
          cycle.plan = { ...cycle.plan, steps };
        });
        return;
      case "personAsked":
        this.ask(leaf, event.ask, record.atMs);
        return;
      case "personAnswered":
        this.answer(leaf, event.answer);
        return;
      case "planApproved":
        this.inCycle(event.cycle, (cycle) => {
          cycle.approvedBy = event.by;
          cycle.phase = "running";
        });
        return;
      case "stepStarted":
        this.inStep(event.cycle, event.step, (step) => {
          step.status = "running";
          step.startedAtMs = record.atMs;
          step.inputs = event.inputs.map((input) => input.name);
        });
        return;
      case "stepFinished":
        this.inStep(event.cycle, event.step, (step) => {
          step.status = event.status;
          step.output = event.output;
          step.error = event.error;
          step.tokensUsed = event.tokensUsed;
          step.durationMs = event.durationMs;
          if (event.keptFrom !== undefined) step.keptFrom = event.keptFrom;
        });
        return;
      case "modelCallStarted":
        this.addLeaf(event.cycle, event.step, leaf);
        state.calls = this.copy(state.calls);
        state.calls[leaf] = {
          cycle: event.cycle,
          purpose: event.purpose,
          step: event.step,
          model: event.model,
          request: event.request,
          attempts: [],
          response: null,
          error: null,
          durationMs: null,
        };
        return;
      case "modelAttempted": {
        this.count(leaf, event.attempt);
        this.inCall(leaf, (call) => (call.attempts = [...call.attempts, event.attempt]));
        return;
      }
      case "modelCallFinished":
        this.inCall(leaf, (call) => {
          call.response = event.response?.value ?? null;
          call.error = event.error;
          call.durationMs = event.durationMs;
        });
        return;
      case "toolStarted":
        this.addLeaf(event.cycle, event.step, leaf);
        state.tools = this.copy(state.tools);
        state.tools[leaf] = {
          cycle: event.cycle,
          step: event.step,
          tool: event.tool,
          args: event.args,
          access: event.access,
          output: null,
          error: null,
          logs: [],
          durationMs: null,
        };
        return;
      case "effectIntended": {
        const tool = entry(state.tools, leaf);
        if (!tool) return;
        const { path, before, after } = event;
        state.files = [...state.files, { path, before, after, cycle: tool.cycle, step: tool.step, done: false }];
        return;
      }
      case "folderChanged": {
        const tool = entry(state.tools, leaf);
        if (!tool) return;
        const { cycle, step } = tool;
        const changes = event.files.map(({ path, before, after }) => ({ path, before: before?.hash ?? null, after: after?.hash ?? null, cycle, step, done: true }));
        state.files = [...state.files, ...changes];
        return;
      }
      case "undoIntended": {
        const { redo, files } = event;
        state.undos = [...(state.undos ?? []), { redo, files, left: null, atMs: record.atMs }];
        return;
      }
      case "undoFinished": {
        const last = state.undos?.at(-1);
        if (last) state.undos = [...(state.undos ?? []).slice(0, -1), { ...last, left: event.left }];
        return;
      }
      case "toolFinished":
        for (const written of event.scratchpad) this.write(written.name, written.value);
        this.finishTool(leaf, event);
        return;
      case "scratchpadWritten":
        this.write(event.entry.name, event.entry.value);
        return;
      case "judgingStarted":
        this.inCycle(event.cycle, (cycle) => (cycle.phase = "judging"));
        return;
      case "checkFinished":
        this.inCycle(event.cycle, (cycle) => (cycle.checks = [...cycle.checks, event.result]));
        return;
      case "cycleJudged":
        this.inCycle(event.cycle, (cycle) => {
          cycle.evaluation = event.evaluation;
          cycle.phase = "ended";
        });
        return;
      case "phaseStarted": {
        const { phase, kind, visit, inputs } = event;
        this.beginPhase(leaf, { ...newPhase(phase, visit, record.atMs), kind, inputs, status: "running" });
        return;
      }
      case "phaseSkipped":
        this.beginPhase(leaf, newPhase(event.phase, event.visit, record.atMs));
        return;
      case "phaseFinished":
        this.atPhase(leaf, (phase) => {
          phase.status = event.error ? "failed" : "done";
          phase.output = event.output;
          phase.error = event.error;
          phase.durationMs = event.durationMs;
        });
        return;
      case "phaseRouted":
        this.atPhase(leaf, (phase) => (phase.routedTo = event.to));
        return;
      case "answerGiven":
        state.answer = event.text;
        return;
      case "guardrailJudged":
        state.guardrails = [...state.guardrails, event.result];
        return;
      case "verdictChanged":
        this.inCycle(event.cycle, (cycle) => {
          cycle.changedVerdict = { by: event.by, evaluation: event.evaluation };
        });
        return;
      default:
        never(event);
    }
  }

  private beginPhase(key: Key, phase: PhaseState): void {
    this.state.phases = this.copy(this.state.phases);
    this.state.phases[key] = phase;
  }

  private atPhase(key: Key, change: (phase: PhaseState) => void): void {
    const found = entry(this.state.phases, key);
    if (!found) return;
    this.state.phases = this.copy(this.state.phases);
    const phase = this.copy(found);
    this.state.phases[key] = phase;
    change(phase);
  }

  /** Changes the innermost visit of a flow's step that an address lies in. */
  private inPhase(key: Key, change: (phase: PhaseState) => void): void {
    for (let slash = key.lastIndexOf("/"); slash > 0; slash = key.lastIndexOf("/", slash - 1)) {
      const place = key.slice(0, slash);
      if (entry(this.state.phases, place)) return this.atPhase(place, change);
    }
  }

  private raise(limits: Limits): void {
    const { header } = this.state;
    if (!header) return;
    const envelope = { ...header.envelope, maxTokens: limits.maxTokens ?? 0, maxCycles: limits.maxCycles ?? 0 };
    this.state.header = { ...header, envelope, task: { ...header.task, limits } };
  }

  /** Counts an attempt of the call at this leaf. The sums are made in the order in which `RunState::apply` makes them. */
  private count(leaf: Key, attempt: LlmAttempt): void {
    const { state } = this;
    const { usage } = attempt;
    if (!usage) return;
    const total = usage.input + usage.output;
    state.tokensUsed += total;
    if (usage.estimated) state.tokensEstimated += total;
    const call = entry(state.calls, leaf);
    const { header } = state;
    if (!header || !call || header.recording !== null) return;
    const model = askedModel(call, attempt);
    const price = priceOf(header.prices, model);
    const { amount, currency, unpriced } = state.cost;
    if (price) {
      state.cost = { amount: amount + costOf(price, usage), currency: header.prices?.currency ?? currency, unpriced };
    } else if (!unpriced.includes(model)) {
      state.cost = { amount, currency, unpriced: [...unpriced, model] };
    }
  }

  private ask(key: Key, ask: Ask, atMs: number): void {
    if (ask.kind === "uncertainEffect") this.inStep(ask.cycle, ask.step, (step) => (step.status = "uncertain"));
    if (ask.kind === "runStep") this.inStep(ask.cycle, ask.step, (step) => (step.status = "waiting_for_person"));
    if (ask.kind === "permission" || ask.kind === "gate") this.inPlace(key, ask, "waiting_for_person");
    const { state } = this;
    const question = { key, ask, sinceMs: atMs };
    if (state.waiting) state.waitingAlso = [...(state.waitingAlso ?? []), question];
    else state.waiting = question;
  }

  /** The end came before these steps did anything. */
  private takeBackIdle(): void {
    const last = this.state.cycles.at(-1);
    for (const [id, step] of Object.entries(last?.steps ?? {})) {
      if (last === undefined || step.status !== "running" || step.leaves.length > 0) continue;
      this.inStep(last.number, id, (idle) => {
        idle.status = "waiting";
        idle.startedAtMs = null;
      });
    }
  }

  /** A step of a plan or of a flow that asks to be permitted something, or to be told. */
  private inPlace(key: Key, ask: Extract<Ask, { kind: "permission" | "gate" }>, status: "waiting_for_person" | "running"): void {
    const [cycle, name] = ask.kind === "gate" ? [ask.cycle ?? 0, ask.phase] : [ask.cycle, ask.step];
    this.inStep(cycle, name, (step) => (step.status = status));
    this.inPhase(key, (phase) => (phase.status = status));
  }

  /** Takes the question out that an answer at this key belongs to. */
  private takeQuestion(key: Key): WaitingFor | null {
    const { state } = this;
    const also = state.waitingAlso ?? [];
    const named = also.find((question) => question.key === key);
    const taken = named ?? state.waiting;
    const left = also.filter((question) => question !== named);
    if (!named) state.waiting = left.shift() ?? null;
    if (left.length > 0) state.waitingAlso = left;
    else delete state.waitingAlso;
    return taken;
  }

  private answer(key: Key, answer: Answer): void {
    const waiting = this.takeQuestion(key);
    if (!waiting) return;
    const { ask } = waiting;
    if (ask.kind === "uncertainEffect" || ask.kind === "runStep")
      this.inStep(ask.cycle, ask.step, (step) => (step.status = "running"));
    else if (ask.kind === "permission" || ask.kind === "gate") this.inPlace(waiting.key, ask, "running");
    else if (ask.kind === "approvePlan" && answer.kind === "askForChanges") this.inCycle(ask.cycle, (cycle) => (cycle.phase = "planning"));
  }

  private finishTool(leaf: Key, event: Extract<RunEventRecord["event"], { type: "toolFinished" }>): void {
    const { state } = this;
    const found = entry(state.tools, leaf);
    if (!found) return;
    state.tools = this.copy(state.tools);
    const tool = this.copy(found);
    state.tools[leaf] = tool;
    tool.output = event.output;
    tool.error = event.error;
    tool.logs = event.logs;
    tool.durationMs = event.durationMs;
    if (event.error) return;
    const mine = (change: RunState["files"][number]) =>
      change.cycle === tool.cycle && change.step === tool.step && !change.done;
    if (state.files.some(mine)) {
      state.files = state.files.map((change) => (mine(change) ? { ...change, done: true } : change));
    }
  }

  private write(name: string, value: RunState["scratchpad"][string]): void {
    this.state.scratchpad = this.copy(this.state.scratchpad);
    this.state.scratchpad[name] = value;
  }

  private addLeaf(cycle: number, step: string | null, leaf: Key): void {
    // A step may have thousands of them; its list is copied once in a fold, and not once for each.
    const add = (part: { leaves: Key[] }) => {
      part.leaves = this.copy(part.leaves);
      part.leaves.push(leaf);
    };
    this.inPhase(leaf, add);
    if (step !== null) this.inStep(cycle, step, add);
  }

  private inCall(leaf: Key, change: (call: RunState["calls"][string]) => void): void {
    const found = entry(this.state.calls, leaf);
    if (!found) return;
    this.state.calls = this.copy(this.state.calls);
    const call = this.copy(found);
    this.state.calls[leaf] = call;
    change(call);
  }

  private inLastCycle(change: (cycle: CycleState) => void): void {
    this.atCycle(this.state.cycles.length - 1, change);
  }

  private inCycle(number: number, change: (cycle: CycleState) => void): void {
    this.atCycle(
      this.state.cycles.findLastIndex((cycle) => cycle.number === number),
      change,
    );
  }

  private atCycle(index: number, change: (cycle: CycleState) => void): void {
    const found = this.state.cycles[index];
    if (!found) return;
    this.state.cycles = this.copy(this.state.cycles);
    const cycle = this.copy(found);
    this.state.cycles[index] = cycle;
    change(cycle);
  }

  private inStep(number: number, id: string, change: (step: StepState) => void): void {
    this.inCycle(number, (cycle) => {
      const found = entry(cycle.steps, id);
      if (!found) return;
      cycle.steps = this.copy(cycle.steps);
      const step = this.copy(found);
      cycle.steps[id] = step;
      change(step);
    });
  }

  /** A copy that may be changed: made once for each part in one fold. */
  private copy<T extends object>(value: T): T {
    if (this.copied.has(value)) return value;
    const copy = (Array.isArray(value) ? [...(value as unknown[])] : { ...value }) as T;
    this.copied.add(copy);
    return copy;
  }
}

function newPhase(phase: string, visit: number, atMs: number): PhaseState {
  return {
    phase,
    kind: null,
    visit,
    status: "skipped",
    startedAtMs: atMs,
    durationMs: null,
    inputs: null,
    output: null,
    error: null,
    routedTo: null,
    leaves: [],
  };
}

function newCycle(number: number): CycleState {
  return {
    number,
    phase: "planning",
    feedback: null,
    planProblems: [],
    plan: null,
    planHash: null,
    approvedBy: null,
    steps: {},
    checks: [],
    evaluation: null,
    changedVerdict: null,
  };
}
