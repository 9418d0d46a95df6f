// The journal in a person's words: one line for each event that says something, newest at the bottom.

import type { Access, Answer, RunEventRecord, RunState, Task } from "../contract/index.ts";
import type { Text } from "../text/index.ts";
import { effectWords } from "./access.ts";
import { costWords } from "./cost.ts";
import { criteriaOf, criterionWords, type TaskCriterion } from "./criteria.ts";
import { count, duration, folderName } from "./format.ts";
import { stepName } from "./run.ts";
import { entry, leafOf } from "./runState.ts";
import { toolName } from "./toolName.ts";

/** How loud a line is. */
export type ActivityTone = "plain" | "passed" | "failed" | "waiting";

/** One line of the activity list. */
export interface ActivityLine {
  seq: number;
  atMs: number;
  who: string;
  what: string;
  /** What it cost or how long it took. */
  fact: string;
  tone: ActivityTone;
}

/** The line for an event; null for those that say nothing of their own. */
export function activityLine(record: RunEventRecord, state: RunState, t: Text): ActivityLine | null {
  const said = words(record, state, t);
  if (!said) return null;
  return { seq: record.seq, atMs: record.atMs, fact: "", tone: "plain", ...said };
}

/** The lines of a growing journal, each made once, with the names that were known when it was read. */
export class ActivityLog {
  private lines: ActivityLine[] = [];
  private read = 0;
  private said: Text | null = null;

  /** All lines up to this length of the journal. The same array as before when nothing was added. */
  upTo(records: readonly RunEventRecord[], length: number, state: RunState, t: Text): readonly ActivityLine[] {
    if (this.said !== t) {
      // In another language everything is said anew.
      this.said = t;
      this.read = 0;
      this.lines = [];
    }
    for (; this.read < length; this.read += 1) {
      const record = records[this.read];
      const line = record && activityLine(record, state, t);
      if (line) this.lines.push(line);
    }
    return this.lines;
  }
}

/** The lines up to an event: fewer than there are when one looks back. */
export function untilNow(lines: readonly ActivityLine[], lastSeq: number): readonly ActivityLine[] {
  const last = lines.findLastIndex((line) => line.seq <= lastSeq);
  return last === lines.length - 1 ? lines : lines.slice(0, last + 1);
}

/** The lines that contain these words; all of them for no words. */
export function filterLines(lines: readonly ActivityLine[], filter: string): readonly ActivityLine[] {
  const wanted = filter.trim().toLowerCase();
  if (wanted === "") return lines;
  return lines.filter((line) => `${line.who} ${line.what}`.toLowerCase().includes(wanted));
}

type Said = Pick<ActivityLine, "who" | "what"> & Partial<Pick<ActivityLine, "fact" | "tone">>;

function words(record: RunEventRecord, state: RunState, t: Text): Said | null {
  const { event } = record;
  const app = t("run.activity.app");
  const planner = t("run.activity.planner");
  const judge = t("run.activity.judge");
  const step = (cycle: number, id: string) => stepName(state, cycle, id);
  switch (event.type) {
    case "runStarted":
      return { who: app, what: t("run.activity.runStarted", { folder: folderName(event.header.envelope.folder) }) };
    case "runReopened":
      return { who: app, what: t("run.activity.runReopened", { why: event.why }) };
    case "runFinished":
      return {
        who: app,
        what: t(`run.activity.runFinished.${event.result.status}`),
        tone: event.result.status === "pass" ? "passed" : event.result.status === "fail" ? "failed" : "plain",
      };
    case "cycleStarted":
      return { who: app, what: t("run.activity.cycleStarted", { number: event.cycle }) };
    case "runPaused":
      return { who: t("run.activity.you"), what: t("run.activity.runPaused") };
    case "runContinued":
      return { who: t("run.activity.you"), what: t("run.activity.runContinued") };
    case "guidanceGiven":
      return { who: t("run.activity.you"), what: t("run.activity.guidanceGiven", { words: event.words }) };
    case "folderChanged":
      return { who: app, what: t("run.activity.folderChanged", { count: event.files.length }) };
    case "undoIntended": {
      const files = { count: event.files.length };
      return { who: t("run.activity.you"), what: event.redo ? t("run.activity.broughtBack", files) : t("run.activity.undone", files) };
    }
    case "undoFinished":
      return event.left.length === 0 ? null : { who: app, what: t("run.activity.notRestored", { paths: event.left.map((file) => file.path).join(", ") }), tone: "failed" };
    case "limitsRaised":
      return { who: t("run.activity.you"), what: t("run.activity.limitsRaised") };
    case "planChanged":
      if (event.by.length === 0) return { who: t("run.activity.you"), what: t("run.activity.planChangedByYou", { steps: event.steps.map((id) => stepName(state, event.cycle, id)).join(", ") }) };
      return { who: app, what: t("run.activity.planChanged", { by: event.by.join(", "), steps: event.steps.join(", ") }) };
    case "stepChanged":
      return { who: step(event.cycle, event.step.id), what: t("run.activity.stepChanged", { by: event.by.join(", ") }) };
    case "judgeAsked":
      return null;
    case "verdictChanged": {
      const by = event.by.includes("person") ? t("run.activity.you") : event.by.join(", ");
      return event.evaluation.verdict === "pass"
        ? { who: by, what: t("run.activity.verdictAccepted"), tone: "passed" }
        : { who: by, what: t("run.activity.verdictRefused"), tone: "failed" };
    }
    case "attemptOpened":
      // Why is in the line before: an answer, a failure, or that the run went on.
      return null;
    case "planningStarted":
      return { who: planner, what: event.feedback === null ? t("run.activity.planningStarted") : t("run.activity.replanning") };
    case "planRefused": {
      const problems = event.problems.join("; ");
      const what = event.again ? t("run.activity.planRefusedAgain", { problems }) : t("run.activity.planRefused", { problems });
      return { who: planner, what, tone: event.again ? "waiting" : "failed" };
    }
    case "planProposed":
      return { who: planner, what: t("run.activity.planProposed", { count: event.plan.steps.length }) };
    case "personAsked":
      switch (event.ask.kind) {
        case "approvePlan":
          return { who: planner, what: t("run.activity.askedPlan"), tone: "waiting" };
        case "uncertainEffect":
          return {
            who: step(event.ask.cycle, event.ask.step),
            what: t("run.activity.askedUncertain", { path: event.ask.path }),
            tone: "waiting",
          };
        case "gate":
          return {
            who: event.ask.cycle ? step(event.ask.cycle, event.ask.phase) : event.ask.phase,
            what: t("run.activity.askedGate", { text: event.ask.text }),
            tone: "waiting",
          };
        case "runStep":
          return {
            who: step(event.ask.cycle, event.ask.step),
            what: t("run.activity.askedStep", { rule: event.ask.rule }),
            tone: "waiting",
          };
        case "allowEffect": {
          const { verb, what } = effectWords(event.ask.effect, t);
          return { who: app, what: t("run.activity.askedEffect", { wants: `${verb} ${what}` }), tone: "waiting" };
        }
        case "permission":
          return {
            who: event.ask.cycle === 0 ? event.ask.step : step(event.ask.cycle, event.ask.step),
            what: t("run.activity.askedPermission", { wants: event.ask.wants }),
            tone: "waiting",
          };
      }
      return null;
    case "personAnswered":
      return { who: t("run.activity.you"), what: answerWords(event.answer, t) };
    case "planApproved":
      switch (event.by) {
        case "person":
          return null;
        case "earlier_approval":
          return { who: planner, what: t("run.activity.approvedEarlier") };
        case "no_approval_needed":
          return { who: planner, what: t("run.activity.approvedNever") };
      }
      return null;
    case "stepStarted":
      return { who: step(event.cycle, event.step), what: t("run.activity.stepStarted") };
    case "stepFinished":
      return stepFinished(event, step(event.cycle, event.step), state, t);
    case "modelCallStarted":
      switch (event.purpose) {
        case "plan":
          return { who: planner, what: t("run.activity.asksPlan") };
        case "judge":
          return { who: judge, what: t("run.activity.asksJudge") };
        case "arguments":
          return { who: event.step === null ? app : step(event.cycle, event.step), what: t("run.activity.asksArguments") };
        case "phase":
        case "answer":
          return { who: event.step ?? app, what: t("run.activity.asksReasoning") };
        case "guardrail":
          return { who: app, what: t("run.activity.asksGuardrail", { rail: event.step ?? "" }) };
        case "reasoning":
          return { who: event.step === null ? app : step(event.cycle, event.step), what: t("run.activity.asksReasoning") };
      }
      return null;
    case "modelAttempted": {
      const { error, waitMs, instead } = event.attempt;
      if (instead && waitMs === null) {
        const what = t("run.activity.instead", { model: instead.model, message: instead.because });
        return { who: callOwner(record, state, t), what, tone: "waiting" };
      }
      if (!error || waitMs === null) return null;
      const what = t("run.activity.retrying", { message: error.message, wait: duration(waitMs) });
      return { who: callOwner(record, state, t), what, tone: "waiting" };
    }
    case "modelCallFinished":
      if (event.error) {
        return {
          who: callOwner(record, state, t),
          what: t("run.activity.modelFailed", { message: event.error.message }),
          tone: "failed",
        };
      }
      if (!event.response) return null;
      return {
        who: callOwner(record, state, t),
        what: t("run.activity.modelAnswered"),
        fact: facts(tokens(event.response.usage.input + event.response.usage.output, t), callCost(state, [leafOf(record.key)])),
      };
    case "toolStarted": {
      const brought = event.access.find((access) => access.kind === "taskEffect");
      if (brought) {
        const does = effectWords(brought.effect, t);
        return { who: app, what: `${does.verb} ${does.what}` };
      }
      const what = event.access.flatMap(touched).join(", ");
      return {
        who: step(event.cycle, event.step),
        what: what ? t("run.activity.toolOn", { tool: toolName(event.tool, t), what }) : t("run.activity.tool", { tool: toolName(event.tool, t) }),
      };
    }
    case "effectIntended":
      return { who: toolOwner(record, state, t), what: t("run.activity.writing", { path: event.path }) };
    case "outsideEffectIntended":
      // The call itself, which says the same, stands one line above.
      return null;
    case "toolFinished": {
      if (!event.error) return null;
      const called = entry(state.tools, leafOf(record.key));
      const brought = called?.access.find((access) => access.kind === "taskEffect");
      const tool = brought ? effectWords(brought.effect, t).what : toolName(called?.tool ?? "", t);
      return {
        who: toolOwner(record, state, t),
        what: t("run.activity.toolFailed", { tool, message: event.error.message }),
        tone: "failed",
        fact: duration(event.durationMs),
      };
    }
    case "scratchpadWritten":
      // What the app notes for the judge at the end of each cycle is not news for a person.
      return event.entry.name.startsWith("_") ? null : { who: app, what: t("run.activity.noted", { name: event.entry.name }) };
    case "hookFinished":
      switch (event.result.kind) {
        case "unchanged":
          return null;
        case "replaced":
          return { who: app, what: t("run.activity.hookReplaced", { hook: event.hook }) };
        case "failed":
          // A person's answer to a plan is a line of its own.
          if (event.hook === "approval") return null;
          return { who: app, what: t("run.activity.hookFailed", { hook: event.hook, message: event.result.error.message }), tone: "failed" };
      }
      return null;
    case "judgingStarted":
      return { who: judge, what: t("run.activity.judging") };
    case "checkFinished":
      return {
        who: judge,
        what: t(`run.activity.check.${event.result.verdict}`, { text: criterionText(state, event.result.id, t) }),
        tone: event.result.verdict === "pass" ? "plain" : "failed",
      };
    case "cycleJudged": {
      const missing = event.evaluation.criteria.filter((result) => result.verdict === "fail").length;
      return event.evaluation.verdict === "pass"
        ? { who: judge, what: t("run.activity.judgedPass"), tone: "passed", fact: tokens(event.evaluation.tokensUsed, t) }
        : {
            who: judge,
            what: missing === 0 ? t("run.activity.judgedUnsure") : t("run.activity.judgedFail", { count: missing }),
            tone: "failed",
            fact: tokens(event.evaluation.tokensUsed, t),
          };
    }
    case "workFinished":
      return event.error
        ? { who: event.step, what: t("run.activity.workFailed", { message: event.error.message }), tone: "failed" }
        : { who: event.step, what: t("run.activity.workFinished"), fact: duration(event.durationMs) };
    case "topicEmitted":
      return { who: app, what: t("run.activity.emitted", { topic: event.topic }) };
    case "workUnblocked":
      return { who: t("run.activity.you"), what: t(`run.activity.unblocked.${event.how.kind}`) };
    case "overlayWritten":
      return { who: t("run.activity.you"), what: t("run.activity.corrected") };
    case "phaseStarted":
      return { who: event.phase, what: t("run.activity.stepStarted") };
    case "phaseSkipped":
      return {
        who: event.phase,
        what:
          event.failed === null
            ? t("run.activity.phaseNotNeeded")
            : t("run.activity.phaseSkipped", { step: event.failed }),
      };
    case "phaseFinished":
      return event.error
        ? { who: event.phase, what: t("run.activity.stepFailed", { message: event.error.message }), tone: "failed" }
        : { who: event.phase, what: t("run.activity.stepDone"), tone: "passed", fact: duration(event.durationMs) };
    case "phaseRouted":
      return event.log === null ? null : { who: event.from, what: event.log };
    case "answerGiven":
      return event.insteadOf === null ? { who: app, what: t("run.activity.answered.given") } : { who: app, what: t("run.activity.answered.replaced") };
    case "guardrailJudged":
      return event.result.violated ? { who: app, what: t("run.activity.guardrail", { rail: event.result.rail }), tone: "failed" } : null;
  }
}

function stepFinished(event: Extract<RunEventRecord["event"], { type: "stepFinished" }>, who: string, state: RunState, t: Text): Said | null {
  const message = event.error?.message ?? "";
  const leaves = state.cycles.find((cycle) => cycle.number === event.cycle)?.steps[event.step]?.leaves ?? [];
  const fact = facts(tokens(event.tokensUsed, t), callCost(state, leaves), duration(event.durationMs));
  switch (event.status) {
    case "done":
      return { who, what: t("run.activity.stepDone"), fact, tone: "passed" };
    case "kept":
      return { who, what: t("run.activity.stepKept") };
    case "failed":
      return { who, what: t("run.activity.stepFailed", { message }), fact, tone: "failed" };
    case "skipped":
      return { who, what: t("run.activity.stepSkipped", { message }) };
    case "waiting":
    case "running":
    case "waiting_for_person":
    case "uncertain":
      return null;
  }
}

function answerWords(answer: Answer, t: Text): string {
  switch (answer.kind) {
    case "approve":
      return answer.revisions ? t("run.activity.answered.approveRevisions") : t("run.activity.answered.approve");
    case "reject":
      return answer.reason
        ? t("run.activity.answered.rejectBecause", { reason: answer.reason })
        : t("run.activity.answered.reject");
    case "askForChanges":
      return t("run.activity.answered.askForChanges", { words: answer.words });
    case "allow":
      return t(`run.activity.answered.allow.${answer.scope}`);
    case "allowedMeanwhile":
    case "approveEdited":
    case "markDone":
    case "runAgain":
    case "stopRun":
    case "reply":
      return t(`run.activity.answered.${answer.kind}`);
  }
}

function callOwner(record: RunEventRecord, state: RunState, t: Text): string {
  const call = entry(state.calls, leafOf(record.key));
  if (!call) return t("run.activity.app");
  if (call.step !== null) return stepName(state, call.cycle, call.step);
  return call.purpose === "judge" ? t("run.activity.judge") : t("run.activity.planner");
}

function toolOwner(record: RunEventRecord, state: RunState, t: Text): string {
  const tool = entry(state.tools, leafOf(record.key));
  return tool && tool.step !== "" ? stepName(state, tool.cycle, tool.step) : t("run.activity.app");
}

function criterionText(state: RunState, id: string, t: Text): string {
  const task = state.header?.task;
  const criterion = task && criteriaById(task).get(id);
  return criterion ? criterionWords(criterion, t) : id;
}

const criteria = new WeakMap<Task, ReadonlyMap<string, TaskCriterion>>();

function criteriaById(task: Task): ReadonlyMap<string, TaskCriterion> {
  const known = criteria.get(task) ?? new Map(criteriaOf(task).map((criterion) => [criterion.id, criterion]));
  criteria.set(task, known);
  return known;
}

/** What these calls cost; what is no call costs nothing. */
function callCost(state: RunState, leaves: readonly string[]): string {
  return costWords(state, leaves.flatMap((leaf) => entry(state.calls, leaf) ?? []));
}

function facts(...parts: string[]): string {
  return parts.filter(Boolean).join(" · ");
}

function tokens(used: number, t: Text): string {
  return used > 0 ? t("common.tokens", { count: used, shown: count(used) }) : "";
}

/** What a call would touch, as its log line names it. */
function touched(access: Access): string[] {
  switch (access.kind) {
    case "read":
    case "write":
      return [access.path];
    case "execute":
      return [access.command];
    case "network":
      return [access.host];
    case "server":
      return [access.server];
    case "taskEffect":
      return [access.effect.kind === "webhook" ? access.effect.url : access.effect.run];
    case "writeScratchpad":
    case "search":
      return [];
  }
}
