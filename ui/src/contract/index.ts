// Generated from the Rust types by `cargo run -p app --bin bindings`. Do not edit: change the Rust type
// and run it again; `./check` fails when this file is not what it writes.

/**
 * A run to accept.
 */
export type AcceptRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * Why, for the record.
 */
words?: string | null, };

/**
 * One thing that a tool call would touch.
 */
export type Access = { "kind": "read",
/**
 * As the tool was given it.
 */
path: string, } | { "kind": "write",
/**
 * As the tool was given it.
 */
path: string, } | { "kind": "writeScratchpad" } | { "kind": "execute",
/**
 * The command line as the tool was given it.
 */
command: string, } | { "kind": "network",
/**
 * The host's name or address in lower case, with `:port` where it is not the scheme's own.
 */
host: string,
/**
 * Whether the request may change something there.
 */
effect: boolean, } | { "kind": "search" } | { "kind": "server",
/**
 * The server's name here.
 */
server: string,
/**
 * The tool, as the server calls it.
 */
tool: string, } | { "kind": "taskEffect",
/**
 * Exactly this.
 */
effect: TaskEffect, };

/**
 * A model account.
 */
export type Account = {
/**
 * What stands before the colon in `provider:model`; its key is kept under this name.
 */
name: string,
/**
 * The kind of provider, such as `anthropic`.
 */
kind: string,
/**
 * Where it is; the provider's own address when absent.
 */
baseUrl?: string, };

/**
 * The settings of servers as they were pasted; what lies in them may be secret.
 */
export type AddServers = {
/**
 * JSON with `mcpServers`.
 */
text: string, };

/**
 * What came of adding servers.
 */
export type AddedServers = {
/**
 * Their names here.
 */
names: Array<string>,
/**
 * Those of them whose values are kept only until the app closes, since there is no keychain.
 */
forgottenAtClose: Array<string>, };

/**
 * A model with tools (latent `@subagent`, a tool step of a plan).
 */
export type AgentStep = {
/**
 * What the model is told: a template.
 */
instructions: string,
/**
 * The tools it has: names of tools, or of flows that the run knows.
 */
tools: Array<string>,
/**
 * Templates of complete arguments by tool name: where each tool is called once, no model is asked for them.
 * `tool_1` and so on are the results of the tools before.
 */
args?: { [tool: string]: unknown },
/**
 * 0 for the same answer each time, as far as the provider keeps that promise.
 */
temperature?: number,
/**
 * The most tokens of an answer.
 */
maxTokens?: number, } & ({ "mode": "eachOnce" } | { "mode": "free",
/**
 * The most rounds of asking and calling.
 */
maxRounds: number, });

/**
 * How far a yes to what is not inside the envelope reaches.
 */
export type AllowedFor = "once" | "run" | "task";

/**
 * What a person said.
 */
export type Answer = { "kind": "approve",
/**
 * Revisions inside the same envelope too, without asking again.
 */
revisions: boolean, } | { "kind": "approveEdited",
/**
 * The plan that runs in the place of the one that was shown.
 */
plan: Plan,
/**
 * Revisions inside the same envelope too, without asking again.
 */
revisions: boolean, } | { "kind": "reject",
/**
 * Why, for the record and for the next planner.
 */
reason: string | null, } | { "kind": "askForChanges",
/**
 * What should be different, for the planner.
 */
words: string, } | { "kind": "markDone" } | { "kind": "runAgain" } | { "kind": "stopRun" } | { "kind": "allow",
/**
 * How far the yes reaches.
 */
scope: AllowedFor, } | { "kind": "allowedMeanwhile" } | { "kind": "reply",
/**
 * Fits the question's schema.
 */
value: unknown, };

/**
 * A person's answer to the question that a run waits with.
 */
export type AnswerRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * The question's key, as the run's state has it.
 */
key: Key,
/**
 * The answer.
 */
answer: Answer, };

/**
 * Says the last word (latent `@respond`).
 */
export type AnswerStep = {
/**
 * The answer, or with the step's `model` what the model is told to answer: a template.
 */
text: string, };

/**
 * What happened, in words, and what to do next. `code` is what programs decide by.
 */
export type AppError = {
/**
 * Stable, snake_case.
 */
code: string,
/**
 * What happened, in lower case, without a full stop.
 */
message: string,
/**
 * What to do about it.
 */
hint: string | null,
/**
 * Whether the same request may succeed if it is made again.
 */
retryable: boolean,
/**
 * Every single problem, when there are several, each with its place.
 */
problems?: Array<Problem>, };

/**
 * What the app is and where it keeps things.
 */
export type AppInfo = {
/**
 * The version of the app.
 */
version: string,
/**
 * The versions of the app and of what it stands on.
 */
versions: Versions,
/**
 * Where history, settings and logs are, absolute.
 */
dataFolder: string,
/**
 * Why the system's keychain cannot keep keys, in words; none when it can.
 */
keychainProblem: string | null, };

/**
 * When a plan waits for a person.
 */
export type Approval = "every_plan" | "first_plan" | "never";

/**
 * What a person approves of a server.
 */
export type ApproveServer = {
/**
 * Its name here.
 */
name: string,
/**
 * The address of what they were shown.
 */
offered: Hash, };

/**
 * Who let a plan run.
 */
export type ApprovedBy = "person" | "earlier_approval" | "no_approval_needed";

/**
 * A recorded value, whole.
 */
export type ArtifactValue = {
/**
 * The value; the bytes of a file as text.
 */
value: JsonValue, };

/**
 * A question that waits, durably, for a person.
 */
export type Ask = { "kind": "approvePlan",
/**
 * Whose plan it is.
 */
cycle: number,
/**
 * Exactly this plan.
 */
planHash: Hash,
/**
 * What it may touch.
 */
envelope: Envelope, } | { "kind": "uncertainEffect",
/**
 * The cycle it belongs to.
 */
cycle: number,
/**
 * The step it belongs to.
 */
step: string,
/**
 * The tool that was at work.
 */
tool: string,
/**
 * The file it was about to change, or what else it was about to do: a command line, a request.
 */
path: string, } | { "kind": "permission",
/**
 * The cycle it belongs to; 0 in a flow.
 */
cycle: number,
/**
 * The step it belongs to.
 */
step: string,
/**
 * The tool that it calls.
 */
tool: string,
/**
 * All that is missing.
 */
access: Array<Access>,
/**
 * What it wants to do, in words.
 */
wants: string,
/**
 * Why it is asked about.
 */
reason: string, } | { "kind": "allowEffect",
/**
 * Exactly this.
 */
effect: TaskEffect,
/**
 * Its address.
 */
hash: Hash,
/**
 * What it would do, in words.
 */
wants: string, } | { "kind": "gate",
/**
 * The cycle of the plan whose step asks; 0 in a flow, and in older journals.
 */
cycle?: number,
/**
 * The step that asks.
 */
phase: string,
/**
 * What the person reads.
 */
text: string,
/**
 * JSON Schema of the answer; without one it is yes or no.
 */
question: unknown, } | { "kind": "runStep",
/**
 * The cycle it belongs to.
 */
cycle: number,
/**
 * The step.
 */
step: string,
/**
 * What it does, in a few words.
 */
title: string,
/**
 * The tools it calls.
 */
tools: Array<string>,
/**
 * The rule, in words.
 */
rule: string, };

/**
 * When a person is asked.
 */
export type AskMe = "plan" | "step" | { "tool": string };

/**
 * Asks a model once (latent `@phase`, agntz `llm`, a reasoning step of a plan).
 */
export type AskStep = {
/**
 * What the model is told about its part: a template.
 */
instructions: string,
/**
 * What the person says to it: a template; the run's messages when absent.
 */
prompt?: string,
/**
 * 0 for the same answer each time, as far as the provider keeps that promise.
 */
temperature?: number,
/**
 * The most tokens of an answer.
 */
maxTokens?: number, };

/**
 * An effect that a task asks for, and whether a person allowed it when the run began.
 */
export type AskedEffect = {
/**
 * What is asked for.
 */
effect: TaskEffect,
/**
 * Its address, by which it is allowed.
 */
hash: Hash,
/**
 * Whether it is allowed already; the run asks about it otherwise.
 */
allowed: boolean, };

/**
 * The models that can be asked for in a list of runs.
 */
export type AskedModels = {
/**
 * Each that a run of the history asked, as `provider:model`.
 */
models: Array<string>, };

/**
 * How an attempt ended.
 */
export type AttemptStatus = "success" | "retry" | "error" | "interrupted";

/**
 * A note for an audit.
 */
export type AuditEvent = {
/**
 * What kind, such as `llm.extracted`.
 */
type: string,
/**
 * What belongs to it.
 */
payload?: JsonValue,
/**
 * The model call that it is about.
 */
llmTrace?: LlmTrace, };

/**
 * Where a copy of the data goes.
 */
export type BackUp = {
/**
 * The folder that a person picked, absolute; the copy is a new folder in it.
 */
folder: string, };

/**
 * A copy of the data.
 */
export type BackedUp = {
/**
 * The new folder, absolute.
 */
path: string,
/**
 * How large it is.
 */
bytes: number, };

/**
 * A model call.
 */
export type CallState = {
/**
 * Whose.
 */
cycle: number,
/**
 * What for.
 */
purpose: Purpose,
/**
 * Which step.
 */
step: string | null,
/**
 * `provider:model`.
 */
model: string,
/**
 * The request.
 */
request: ValueRef,
/**
 * The attempts so far.
 */
attempts: Array<LlmAttempt>,
/**
 * The whole answer.
 */
response: ValueRef | null,
/**
 * Why there is none.
 */
error: StepError | null,
/**
 * How long it took; none while it is at work.
 */
durationMs: number | null, };

/**
 * What a model can do besides writing; what is absent is not known.
 */
export type Capabilities = {
/**
 * It calls tools through the provider's own tool calls.
 */
tools?: boolean | null,
/**
 * It keeps to a JSON schema that is sent along.
 */
shapes?: boolean | null,
/**
 * It can be told how much to think.
 */
effort?: boolean | null, };

/**
 * A verdict over the judge's.
 */
export type ChangedVerdict = {
/**
 * Who changed it: hooks, or `person`.
 */
by: Array<string>,
/**
 * The verdict that counts.
 */
evaluation: Evaluation, };

/**
 * One turn of a conversation.
 */
export type ChatMessage = {
/**
 * Whose turn.
 */
role: ChatRole,
/**
 * What was said.
 */
content: string, };

/**
 * Whose turn it was.
 */
export type ChatRole = "user" | "assistant";

/**
 * A check as the composer, the YAML and the documentation see it.
 */
export type CheckInfo = {
/**
 * Its name in YAML, snake_case.
 */
name: string,
/**
 * Its name for people, such as `Has columns and rows`.
 */
title: string,
/**
 * What holds when it passes, in one sentence.
 */
description: string,
/**
 * JSON Schema of its arguments; the composer's form is drawn from it. `null` takes none.
 */
schema: JsonValue,
/**
 * Whether it needs a file (rather than a final answer's text).
 */
needsFile: boolean, };

/**
 * The checks that a criterion can name.
 */
export type CheckList = {
/**
 * In the order in which a composer offers them.
 */
checks: Array<CheckInfo>, };

/**
 * A plan that a person is changing.
 */
export type CheckPlan = {
/**
 * The run that asks about its plan.
 */
runId: RunId,
/**
 * The plan as it is now; it may break every rule.
 */
plan: unknown, };

/**
 * Which check, with which arguments; written `{ words: { max: 400 } }`, or just `exists`.
 */
export type CheckSpec = string | { [name: string]: unknown };

/**
 * A task's text to look at.
 */
export type CheckTask = {
/**
 * YAML or JSON.
 */
source: string,
/**
 * The folder that a run of it would work in, when it is known: what was allowed for this task before is said then.
 */
folder?: string, };

/**
 * A plan that was held against the rules.
 */
export type CheckedPlan = {
/**
 * What is wrong with it; nothing when it may run.
 */
problems: Array<LocatedProblem>,
/**
 * The address that an approval would bind; none while something is wrong.
 */
planHash: Hash | null,
/**
 * What the run would still cost with it; none while something is wrong.
 */
estimate: Estimate | null,
/**
 * The tools that its steps may use.
 */
tools: Array<string>,
/**
 * The models that its steps may name.
 */
models: Array<string>, };

/**
 * What a task's text says.
 */
export type CheckedTask = {
/**
 * The task, when nothing must be put right.
 */
task: Task | null,
/**
 * Everything that must be put right, and the warnings. Text that is not YAML at all is one problem with its
 * line and column.
 */
problems: Array<Problem>,
/**
 * The rules that the task asks for, in words; they are off until a person allows them for a run.
 */
hooks: Array<string>,
/**
 * What the task would have the app do by itself: commands and webhooks as rules, commands as checks. Each is off until
 * a person allows exactly it; `allowed` says that they did for this task.
 */
effects: Array<AskedEffect>, };

/**
 * A file that a person picked for an undo or a redo.
 */
export type ChosenFile = {
/**
 * The file, as the preview names it.
 */
path: string,
/**
 * What to do when somebody edited or removed it since; absent, the undo is refused then.
 */
choice?: UndoChoice | null, };

/**
 * Which commands may be run.
 */
export type CommandGrant = { "kind": "off" } | { "kind": "ask" } | { "kind": "listed",
/**
 * The command lines.
 */
patterns: Array<string>, };

/**
 * A command as a rule: JSON on its standard input, JSON or nothing on its standard output.
 */
export type CommandRule = {
/**
 * The command line, for the system's shell, in the working folder.
 */
run: string,
/**
 * When it is run.
 */
on: Array<HookEvent>,
/**
 * After how many milliseconds it is ended; what the task allows a tool may be less.
 */
timeout: number,
/**
 * Whether the run goes on when it fails.
 */
continueOnError: boolean, };

/**
 * A judge's confidence in its verdict, from 0 to 1.
 */
export type Confidence = { "below": number } | { "above": number };

/**
 * What a run cost.
 */
export type Cost = {
/**
 * The sum of all attempts whose price is known.
 */
amount: number,
/**
 * In which currency; empty when no price is known.
 */
currency: string,
/**
 * Models that were used and whose price is not known: their tokens are not in the sum.
 */
unpriced: Array<string>, };

/**
 * One criterion's result, with the evidence for it.
 */
export type CriterionResult = {
/**
 * The criterion's id.
 */
id: string,
/**
 * What was found.
 */
verdict: CriterionVerdict,
/**
 * The place or the quotation that shows it.
 */
evidence: string,
/**
 * Who decided.
 */
by: DecidedBy,
/**
 * The value that a check saw.
 */
observed: JsonValue | null, };

/**
 * A criterion as it is written: a sentence, or an object that adds to one.
 */
export type CriterionSpec = string | FullCriterion;

/**
 * What became of one criterion.
 */
export type CriterionVerdict = "pass" | "fail" | "unknown" | "not_judged";

/**
 * How far a cycle is.
 */
export type CyclePhase = "planning" | "proposed" | "running" | "judging" | "ended";

/**
 * A cycle of plan, run and judge.
 */
export type CycleState = {
/**
 * Counted from 1.
 */
number: number,
/**
 * How far it is.
 */
phase: CyclePhase,
/**
 * What its planner was told to change.
 */
feedback: string | null,
/**
 * What was wrong with the planner's last reply.
 */
planProblems: Array<string>,
/**
 * The plan.
 */
plan: Plan | null,
/**
 * The plan's address.
 */
planHash: Hash | null,
/**
 * Who let it run.
 */
approvedBy: ApprovedBy | null,
/**
 * The plan's steps by id, in the plan's order.
 */
steps: { [step: string]: StepState },
/**
 * What the app's checks found so far.
 */
checks: Array<CriterionResult>,
/**
 * The verdict.
 */
evaluation: Evaluation | null,
/**
 * The verdict that counts in its place, when a hook or a person changed it.
 */
changedVerdict: ChangedVerdict | null, };

/**
 * How large the data is.
 */
export type DataSize = {
/**
 * Bytes of history, settings and recorded values on disk.
 */
bytes: number, };

/**
 * Who decides a criterion.
 */
export type DecidedBy = "app" | "model";

/**
 * Whose rules a flow follows where they differ.
 */
export type Dialect = "flow" | "manifest" | "plan";

/**
 * A draft as it was last kept.
 */
export type Draft = {
/**
 * What was kept; null when nothing is.
 */
value: unknown, };

/**
 * How much a model should think before it answers (models page, "One trait": reasoning effort). Each provider has more
 * words for it; these three are the ones that all of them have.
 */
export type Effort = "low" | "medium" | "high";

/**
 * A model behind a chat-completions server.
 */
export type Endpoint = {
/**
 * Where the server is, such as `http://localhost:11434/v1`.
 */
baseUrl: string,
/**
 * The server's name for the model.
 */
model: string, };

/**
 * What a run may touch, shown with the plan and approved with it.
 */
export type Envelope = {
/**
 * The working folder, absolute.
 */
folder: string,
/**
 * Whether files in it may be changed; reading it is always part of the grant.
 */
write: boolean,
/**
 * The most tokens the run may use.
 */
maxTokens: number,
/**
 * The most cycles it may take.
 */
maxCycles: number,
/**
 * The most money, in the currency of the settings; no limit when absent.
 */
maxCost?: number,
/**
 * The most minutes at work, without what it waits for a person; no limit when absent.
 */
maxMinutes?: number,
/**
 * When a person is asked.
 */
preset?: Preset,
/**
 * Files and folders beside the working folder.
 */
folders?: Array<FolderGrant>,
/**
 * Which commands may be run.
 */
commands?: CommandGrant,
/**
 * Whether commands may use the network: all of it or none.
 */
commandNetwork?: boolean,
/**
 * The hosts that may be asked.
 */
hosts?: Array<HostGrant>,
/**
 * The host of the search service that may be asked, as [`Access::Network`] writes it; none where none is set up or
 * the run does not search.
 */
search?: string,
/**
 * The MCP servers whose tools may be used, by name.
 */
mcpServers?: Array<string>,
/**
 * What the task's file has the app do by itself: commands and requests as rules, commands as checks.
 */
effects?: Array<AskedEffect>,
/**
 * What a person allowed for this task in an earlier run of it.
 */
kept?: Array<Access>, };

/**
 * What a run will still cost when its plan is let run.
 */
export type Estimate = {
/**
 * This plan and its verdict.
 */
cycle: Expected,
/**
 * Until the end of the run, with all further cycles that it may take, at most as much as its limits allow.
 */
run: Expected,
/**
 * How many earlier runs of the same task this rests on; with none it rests on the plan alone.
 */
pastRuns: number,
/**
 * Models whose price is not known, so that there is no amount of money.
 */
unpriced: Array<string>,
/**
 * Whether a recording answers, which costs nothing.
 */
recorded: boolean,
/**
 * Whether the run's limits end it before it has had what it may need.
 */
limited: Limited, };

/**
 * The judge's answer for one cycle.
 */
export type Evaluation = {
/**
 * Pass or fail.
 */
verdict: Verdict,
/**
 * 0 to 1; 1 when a check decided.
 */
confidence: number,
/**
 * What to change; always there on a fail, and exactly what the next planner reads.
 */
feedback: string | null,
/**
 * What was accomplished; always there on a pass.
 */
summary: string | null,
/**
 * One result for every criterion, in the task's order.
 */
criteria: Array<CriterionResult>,
/**
 * The weighted mean of what passed, 0 to 1.
 */
score: number,
/**
 * What the judge cost.
 */
tokensUsed: number, };

/**
 * Entries of a run's journal, in order and without gaps.
 */
export type EventPage = {
/**
 * The entries; fewer than asked for only at the end.
 */
events: Array<RunEventRecord>, };

/**
 * The two models that do steps.
 */
export type ExecutorModels = {
/**
 * For simple steps, such as making a tool's arguments.
 */
low?: string,
/**
 * For steps that need thought.
 */
high?: string, };

/**
 * What something will take.
 */
export type Expected = {
/**
 * In tokens.
 */
tokens: Range,
/**
 * In money; absent where a price is not known.
 */
cost: MoneyRange | null, };

/**
 * One expected result: a file when it has a path, otherwise an answer.
 */
export type ExpectedItem = {
/**
 * Where the file should be, relative to the working folder.
 */
path?: string,
/**
 * What it is, in words.
 */
description: string,
/**
 * What must hold for it.
 */
criteria?: Array<CriterionSpec>, };

/**
 * One sentence, or a list of results that are checked one by one.
 */
export type ExpectedOutput = string | Array<ExpectedItem>;

/**
 * As what a run is written for others.
 */
export type ExportForm = "html" | "markdown" | "steps" | "calls";

/**
 * A run to write to a file.
 */
export type ExportRun = {
/**
 * Which run; to be written whole it has to be at its end.
 */
runId: RunId,
/**
 * The file to write, absolute; it must not be there yet.
 */
path: string,
/**
 * As what it is written for others; absent, it is written whole.
 */
form?: ExportForm | null, };

/**
 * A run that was written to a file or read from one.
 */
export type ExportedRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * What it is called.
 */
title: string,
/**
 * The file, absolute.
 */
path: string, };

/**
 * The models that are asked when the first choice does not answer, each as `provider:model`.
 */
export type Fallbacks = {
/**
 * By role.
 */
roles?: PerRole<string>,
/**
 * For every model of an account, by the account's name; a role's own goes before it.
 */
accounts?: { [key in string]: string }, };

/**
 * A change to a file.
 */
export type FileChange = {
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * The address of its bytes before; none when it was not there.
 */
before: Hash | null,
/**
 * The address of its bytes after.
 */
after: Hash | null,
/**
 * Whose.
 */
cycle: number,
/**
 * Which step.
 */
step: string,
/**
 * Whether the change is known to have been made.
 */
done: boolean, };

/**
 * Files of one kind.
 */
export type FileCount = {
/**
 * What their names end in, in lower case, without the dot; empty for none.
 */
extension: string,
/**
 * How many.
 */
count: number, };

/**
 * A file that a command changed, as a comparison of the folder before and after found it.
 */
export type FileDelta = {
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * What was there; none when nothing was.
 */
before: FileFace | null,
/**
 * What is there now; none when nothing is.
 */
after: FileFace | null,
/**
 * Whether the bytes from before were kept, so that the change can be undone.
 */
kept: boolean, };

/**
 * What has a name in the working folder: a file, or a link.
 */
export type FileFace = {
/**
 * The address of its bytes; of a link, of the path that it leads to.
 */
hash: Hash,
/**
 * Its permissions as the system counts them; none where they are not known, or the system has no such numbers.
 */
mode?: number,
/**
 * Whether it is a link.
 */
link?: boolean, };

/**
 * A file to look at.
 */
export type FilePreview = {
/**
 * How to show it.
 */
kind: PreviewKind,
/**
 * Its text, or the beginning of it; none for what is not text.
 */
text: string | null,
/**
 * What to draw, for an image.
 */
image?: Image,
/**
 * Whether there is more than `text`.
 */
truncated: boolean,
/**
 * Bytes in the whole file.
 */
size: number, };

/**
 * One file of an undo or of its taking back.
 */
export type FileRestore = {
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * What is there; none when nothing is.
 */
from: FileFace | null,
/**
 * What comes in its place; none when the file goes.
 */
to: FileFace | null,
/**
 * Whether what comes is put together from what is there and what was before the run.
 */
merged?: boolean, };

/**
 * An answer that ends the run (latent `Respond`).
 */
export type Finish = {
/**
 * The answer: a template.
 */
text: string,
/**
 * Lets a model say it in other words.
 */
rewrite?: Rewrite, };

/**
 * Why a model stopped.
 */
export type FinishReason = "end_turn" | "max_tokens" | "stop_sequence" | "tool_use" | "refusal" | "content_filter" | "unknown";

/**
 * Steps in their declared order, and what they are given and give back.
 */
export type Flow = {
/**
 * What it is called by a `ref` and in a trace.
 */
id: string,
/**
 * What a person calls it; the id when absent.
 */
name?: string,
/**
 * For the record.
 */
version?: string,
/**
 * What it does, for people and for a model that may call it.
 */
description?: string,
/**
 * Whose rules it follows where they differ.
 */
dialect?: Dialect,
/**
 * Where its output lands in a flow that refers to it (agntz `stateKey` of an agent).
 */
key?: string,
/**
 * `provider:model` for every step that names none.
 */
model?: string,
/**
 * The key of the step it begins with; the first that is not an answer when absent.
 */
initial?: string,
/**
 * JSON Schema of what it is given, an object; without one it is given one value, `userQuery`.
 */
input?: unknown,
/**
 * The steps.
 */
steps: Array<FlowStep>,
/**
 * Templates of what it gives back, nested as they please; the last output when absent, or of
 * parallel steps all of them by key.
 */
output?: unknown,
/**
 * Where a run of it stops.
 */
limits?: FlowLimits,
/**
 * What decides which step is next.
 */
order?: Order,
/**
 * What a failed step means for the others.
 */
onFailure?: OnFailure,
/**
 * Rules around the whole run.
 */
guardrails?: Array<Guardrail>, } & ({ "mode": "sequence",
/**
 * Repeats the steps until this condition holds after a pass.
 */
until?: string,
/**
 * The most passes; an `until` needs it.
 */
max?: number, } | { "mode": "parallel" } | { "mode": "forEach",
/**
 * A template of the list. The steps see `item` and `index`.
 */
items: unknown,
/**
 * How many items are worked on at once; as many as the run allows when absent.
 */
concurrency?: number, });

/**
 * Where a run of a flow stops.
 */
export type FlowLimits = {
/**
 * The most steps that run, in a flow that has an answer or a route (latent: 20).
 */
maxTotalPhases: number,
/**
 * The most tokens; strictly more ends the run.
 */
maxTokens?: number,
/**
 * How long one tool execution may take, in milliseconds.
 */
toolTimeout?: number,
/**
 * How many branches run at once.
 */
maxParallel?: number, };

/**
 * A flow that is about to run, complete: nothing is looked up later, so that a run can go on when
 * files have changed.
 */
export type FlowRun = {
/**
 * The flow.
 */
flow: Flow,
/**
 * Every flow and agent that a `ref` in it names, by id; those that these name too.
 */
refs?: { [id: string]: Flow },
/**
 * What it is given.
 */
input: unknown,
/**
 * The conversation up to now, the person's last words included.
 */
messages: Array<ChatMessage>, };

/**
 * One step: what it does, what it is given, and where it leads.
 */
export type FlowStep = {
/**
 * Names the step in a trace; its key when it has no other.
 */
id: string,
/**
 * Where its output lands (agntz `stateKey`).
 */
key?: string,
/**
 * A few words for the graph; the id when absent.
 */
name?: string,
/**
 * What it is given: templates by name, against the state around it. Absent is not empty: a step
 * without any is given the output before it.
 */
reads?: { [name: string]: unknown },
/**
 * Runs the step only when this condition holds; otherwise its output is null.
 */
when?: string,
/**
 * Where to go afterwards, first match wins; absent: to the next step.
 */
routes?: Array<Route>,
/**
 * Templates to write to the metadata when the step is done; `output` is its own output.
 */
set?: { [name: string]: unknown },
/**
 * JSON Schema of what the step itself sees: exactly the keys that are declared here.
 */
input?: unknown,
/**
 * JSON Schema that its output must have.
 */
output?: unknown,
/**
 * `provider:model` for this step alone.
 */
model?: string, } & ({ "ask": AskStep } | { "tool": ToolStep } | { "agent": AgentStep } | { "group": GroupStep } | { "gate": GateStep } | { "answer": AnswerStep } | { "task": TaskStep } | { "ref": string });

/**
 * A file or folder beside the working folder, with everything below it.
 */
export type FolderGrant = {
/**
 * Absolute.
 */
path: string,
/**
 * Whether it may be changed too.
 */
write: boolean, };

/**
 * What is in a folder, at a glance.
 */
export type FolderInfo = {
/**
 * Whether it is there and is a folder.
 */
exists: boolean,
/**
 * Its own name, without where it is.
 */
name: string,
/**
 * How many files of each kind are directly in it, most first.
 */
files: Array<FileCount>,
/**
 * How many folders are directly in it.
 */
folders: number,
/**
 * Rows of all its CSV files together, without their headings; none when there are none or too many to count.
 */
rows: number | null,
/**
 * Why it cannot be worked in, in words; none when it can.
 */
problem: string | null, };

/**
 * The piece of text of a run that says best why it was found.
 */
export type Found = {
/**
 * Which run.
 */
runId: RunId,
/**
 * What the text is a piece of.
 */
place: FoundIn,
/**
 * The piece in one line; an ellipsis where something was left out.
 */
text: string,
/**
 * What to mark in it, in order and apart from each other.
 */
marks: Array<Marked>, };

/**
 * Which words of a run something was found in.
 */
export type FoundIn = "title" | "goal" | "feedback";

/**
 * A server that answered.
 */
export type FoundServer = {
/**
 * The name of the server program that usually listens there.
 */
title: string,
/**
 * Its address.
 */
url: string,
/**
 * The models that it lists.
 */
models: Array<ModelInfo>, };

/**
 * The servers that were found on this machine.
 */
export type FoundServers = {
/**
 * Those that answer at their usual addresses.
 */
servers: Array<FoundServer>, };

/**
 * The long form of a criterion.
 */
export type FullCriterion = {
/**
 * The sentence.
 */
text: string,
/**
 * How the app checks it; a model judges it when there is none.
 */
check?: CheckSpec,
/**
 * Whether the result fails without it (default true).
 */
required?: boolean,
/**
 * How much it counts in the score (default 1).
 */
weight?: number, };

/**
 * A person answers before the run goes on.
 */
export type GateStep = {
/**
 * What the person reads: a template.
 */
text: string,
/**
 * JSON Schema of the answer; without one it is yes or no.
 */
question?: unknown, };

/**
 * A draft's name.
 */
export type GetDraft = {
/**
 * Which; the window chooses the names.
 */
name: string, };

/**
 * Steps inside a step, with a state of their own.
 */
export type GroupStep = {
/**
 * The steps.
 */
steps: Array<FlowStep>,
/**
 * What decides which of them is next.
 */
order?: Order,
/**
 * Templates of what the group gives back, against its own state.
 */
output?: unknown, } & ({ "mode": "sequence",
/**
 * Repeats the steps until this condition holds after a pass.
 */
until?: string,
/**
 * The most passes; an `until` needs it.
 */
max?: number, } | { "mode": "parallel" } | { "mode": "forEach",
/**
 * A template of the list. The steps see `item` and `index`.
 */
items: unknown,
/**
 * How many items are worked on at once; as many as the run allows when absent.
 */
concurrency?: number, });

/**
 * A rule around the whole run, never around a step.
 */
export type Guardrail = {
/**
 * Names it in a trace.
 */
id?: string,
/**
 * Before the run or after it.
 */
timing: Timing,
/**
 * What a violation does.
 */
outcome: GuardrailOutcome,
/**
 * A score from here on is a violation.
 */
threshold: number,
/**
 * What is said in place of the answer.
 */
message: string,
/**
 * What it means when the rule itself fails.
 */
onError?: OnError, } & ({ "condition": string } | { "contains": string } | { "judged": string });

/**
 * What a violation does.
 */
export type GuardrailOutcome = "active" | "passive";

/**
 * What a guardrail found.
 */
export type GuardrailResult = {
/**
 * Its id, or its place among the guardrails of the flow, from 1 on.
 */
rail: string,
/**
 * Before the run or after it.
 */
timing: Timing,
/**
 * What a violation does.
 */
outcome: GuardrailOutcome,
/**
 * Whether it is violated.
 */
violated: boolean,
/**
 * The score, when a model gave one.
 */
score: number | null,
/**
 * Why the rule itself failed.
 */
error: StepError | null, };

/**
 * Words for a run.
 */
export type GuideRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * What its next planner is told.
 */
words: string, };

/**
 * A file that the system handed to the app.
 */
export type HandedFile = {
/**
 * Absolute.
 */
path: string, };

/**
 * A content address, written `sha256:` and 64 hexadecimal digits.
 */
export type Hash = string;

/**
 * The eight places.
 */
export type HookEvent = "prePlanner" | "postPlanner" | "preExecutor" | "postExecutor" | "preEvaluator" | "postEvaluator" | "preStep" | "postStep";

/**
 * What a hook returned.
 */
export type HookResult = { "kind": "unchanged" } | { "kind": "replaced",
/**
 * The data.
 */
value: ValueRef, } | { "kind": "failed",
/**
 * Why.
 */
error: StepError, };

/**
 * One rule.
 */
export type HookRule = { "askMe": AskMe } | { "forbid": string } | { "maxSteps": number } | { "stop": Confidence } | { "accept": Confidence } | { "command": CommandRule } | { "webhook": WebhookRule };

/**
 * A host that may be asked.
 */
export type HostGrant = {
/**
 * Its name or address as [`Access::Network`] writes it; `*.example.org` is every name below `example.org`.
 */
host: string,
/**
 * Whether requests may change something there (POST and the like).
 */
change: boolean,
/**
 * Whether it may lie on this computer or in its own network: such addresses are blocked otherwise, whatever name
 * leads to them.
 */
private: boolean, };

/**
 * An image, whole.
 */
export type Image = {
/**
 * What it really is, such as `image/png`.
 */
mediaType: string,
/**
 * Its bytes.
 */
base64: string,
/**
 * In pixels.
 */
width: number,
/**
 * In pixels.
 */
height: number, };

/**
 * A file to take a run from.
 */
export type ImportRun = {
/**
 * The file, absolute.
 */
path: string, };

/**
 * A model that is asked because the first choice did not answer (models page: fallbacks only where the user set one).
 */
export type Instead = {
/**
 * `provider:model`.
 */
model: string,
/**
 * What kept the first choice from answering.
 */
code: LlmErrorCode,
/**
 * The same in words.
 */
because: string, };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]: JsonValue } | null;

/**
 * What a judge says besides its judgements.
 */
export type JudgeWords = {
/**
 * 0 to 1.
 */
confidence: number,
/**
 * What to change.
 */
feedback: string | null,
/**
 * What was accomplished.
 */
summary: string | null, };

/**
 * Criteria that are judged in one question, and the results that it shows.
 */
export type JudgedPart = {
/**
 * The ids of the criteria.
 */
criteria: Array<string>,
/**
 * The names of the results.
 */
shown: Array<string>,
/**
 * How much of each is shown at most, in characters.
 */
most: number, };

/**
 * Where in a run something happened, such as `cycle/1/step/step_3#0/tool/1/call`.
 *
 * Keys never depend on timing; `(run, key)` is unique in the journal. What belongs to a leaf
 * but is not its result hangs off its key with a colon: `…/call/0:started`.
 */
export type Key = string;

/**
 * An account.
 */
export type KeyAccount = {
/**
 * Its name, such as `openai_compatible`.
 */
account: string, };

/**
 * All that the window may know about a key.
 */
export type KeyInfo = {
/**
 * The account it belongs to, such as `openai_compatible`.
 */
account: string,
/**
 * Its last four characters, for keys long enough that these give nothing away.
 */
last4: string | null,
/**
 * When it was stored, if that is known.
 */
addedAtMs: number | null,
/**
 * Where it is.
 */
source: KeySource, };

/**
 * Whether a kind of provider needs a key.
 */
export type KeyNeed = "required" | "optional" | "none";

/**
 * Where a key was found.
 */
export type KeySource = "keychain" | "session" | "environment";

/**
 * How a server is reached.
 */
export type Launch = { "kind": "program",
/**
 * The program, looked for where programs are.
 */
command: string,
/**
 * Its arguments, which are shown. In the place of a secret stands `${name}`.
 */
args: Array<string>,
/**
 * The variables that it is given, by name.
 */
variables: Array<string>,
/**
 * The folder in which it starts; the person's own when absent.
 */
folder?: string,
/**
 * The names of the values that stand in its arguments.
 */
hidden?: Array<string>, } | { "kind": "address",
/**
 * Where it is. In the place of a secret stands `${name}`.
 */
url: string,
/**
 * The headers that are sent along, by name.
 */
headers: Array<string>,
/**
 * The names of the values that stand in its address.
 */
hidden?: Array<string>, };

/**
 * Whether the limits of a run are less than it may need.
 */
export type Limited = "no" | "perhaps" | "surely";

/**
 * Where a run stops (seed *tepa-how-it-works*: 5 cycles, 64,000 tokens).
 */
export type Limits = {
/**
 * The most cycles of plan, run and judge.
 */
maxCycles: number,
/**
 * The most tokens; strictly more ends the run.
 */
maxTokens: number,
/**
 * How long one tool execution may take, in milliseconds.
 */
toolTimeout: number,
/**
 * How many steps may run at once.
 */
maxParallel: number,
/**
 * How often a step without effects is repeated after a passing error.
 */
retryAttempts: number,
/**
 * The most money, in the currency of the settings; strictly more ends the run. No limit when absent.
 */
maxCost?: number,
/**
 * The most minutes at work; more ends the run. What it waits for a person does not count. No limit when absent.
 */
maxMinutes?: number, };

/**
 * Limits that a person changes; what is absent stays as it is.
 */
export type LimitsChange = {
/**
 * The most cycles.
 */
maxCycles?: number | null,
/**
 * The most tokens.
 */
maxTokens?: number | null,
/**
 * The most money, in the currency of the settings.
 */
maxCost?: number | null,
/**
 * Takes the limit of money away.
 */
withoutMaxCost?: boolean,
/**
 * The most minutes at work.
 */
maxMinutes?: number | null,
/**
 * Takes the limit of time away.
 */
withoutMaxMinutes?: boolean,
/**
 * How long one tool execution may take, in milliseconds.
 */
toolTimeout?: number | null,
/**
 * How many steps may run at once.
 */
maxParallel?: number | null,
/**
 * How often a step without effects is repeated after a passing error.
 */
retryAttempts?: number | null, };

/**
 * Whose models to list.
 */
export type ListModels = {
/**
 * Whether to ask the servers; otherwise what they said last is told.
 */
refresh: boolean, };

/**
 * A page of history.
 */
export type ListRuns = {
/**
 * Where the page before ended.
 */
cursor?: string | null,
/**
 * The most runs to return; 1 to 200.
 */
limit: number,
/**
 * Only runs that stand like this; all when absent or empty.
 */
status?: Array<RunStatus> | null,
/**
 * Only runs whose title, goal or feedback has every word of this, or a longer word that begins so.
 */
text?: string | null,
/**
 * Only runs that ended for this reason; `status` then counts for nothing.
 */
ended?: StopReason | null,
/**
 * Only runs that asked this model, as `provider:model`.
 */
model?: string | null,
/**
 * Only runs that cost so much or more, in the currency of their prices; what is not known counts as nothing.
 */
costFrom?: number | null,
/**
 * Only runs that cost less than this.
 */
costBelow?: number | null, };

/**
 * A price as somebody publishes it.
 */
export type ListedPrice = {
/**
 * In which currency, such as `USD`.
 */
currency: string,
/**
 * The day on which that was so, as in `2026-11-21`; absent when the provider said it just now.
 */
asOf?: string | null,
/**
 * A million tokens read.
 */
input: number,
/**
 * A million tokens written.
 */
output: number,
/**
 * A million tokens that came from the provider's cache; as `input` when absent.
 */
cacheRead?: number | null,
/**
 * A million tokens that were put into it; as `input` when absent.
 */
cacheWrite?: number | null,
/**
 * What a long question costs in all its parts, where the provider takes more for those.
 */
long?: LongPrice | null, };

/**
 * One attempt of a call, for the journal (the reference's `LlmLogEntry`).
 */
export type LlmAttempt = {
/**
 * Counted from 0.
 */
attempt: number,
/**
 * How it ended.
 */
status: AttemptStatus,
/**
 * How long it took.
 */
durationMs: number,
/**
 * What it cost; an attempt that failed half-way may have cost something too.
 */
usage: Usage | null,
/**
 * Why it failed.
 */
error: LlmError | null,
/**
 * How long the next attempt waits.
 */
waitMs: number | null,
/**
 * How much the model was told to think; absent where it was told nothing, or cannot be told.
 */
effort?: Effort,
/**
 * The model that was asked in the place of the call's own, and why.
 */
instead?: Instead, };

/**
 * Why a model did not answer.
 */
export type LlmError = {
/**
 * The kind, to decide by.
 */
code: LlmErrorCode,
/**
 * What happened, in words.
 */
message: string,
/**
 * The HTTP status, when there was one.
 */
status: number | null,
/**
 * What the server asked to wait before another try.
 */
retryAfterMs: number | null,
/**
 * What helps, when something is known to.
 */
remedy?: Remedy,
/**
 * The provider's id of the request that failed, for its support.
 */
requestId?: string, };

/**
 * The kinds of failures of a model call.
 */
export type LlmErrorCode = "connection" | "timeout" | "rate_limit" | "authentication" | "model_not_found" | "context_length" | "invalid_request" | "server" | "stream_cut" | "bad_response" | "not_recorded";

/**
 * A model's whole answer.
 */
export type LlmResponse = {
/**
 * Its words.
 */
text: string,
/**
 * The tools it called.
 */
toolUses: Array<ToolUse>,
/**
 * Why it stopped.
 */
finishReason: FinishReason,
/**
 * What it cost.
 */
usage: Usage,
/**
 * The model that answered, in the provider's own words.
 */
model: string,
/**
 * The provider's id of the request, for its support.
 */
requestId: string | null, };

/**
 * A model's answer in the journal; long texts are artifacts.
 */
export type LlmResponseRef = {
/**
 * The whole [`LlmResponse`].
 */
value: ValueRef,
/**
 * Why it stopped.
 */
finishReason: FinishReason,
/**
 * What it cost.
 */
usage: Usage, };

/**
 * A model call that succeeded, in numbers and addresses.
 */
export type LlmTrace = {
/**
 * The model that answered, in the provider's own words.
 */
model: string,
/**
 * Tokens read.
 */
promptTokens: number,
/**
 * Tokens written.
 */
completionTokens: number,
/**
 * How long it took, in milliseconds.
 */
durationMs: number,
/**
 * The address of the request as it was sent.
 */
inputHash: Hash,
/**
 * The address of `{ model, content, finishReason }`, alike for all providers.
 */
outputHash: Hash,
/**
 * The request itself.
 */
input?: JsonValue,
/**
 * The answer itself.
 */
output?: JsonValue, };

/**
 * Something that is wrong with a plan, and where.
 */
export type LocatedProblem = {
/**
 * The steps that it is about, by their place in the plan, from 0; none when it is about the plan as a whole.
 */
steps: Array<number>,
/**
 * What is wrong, in a sentence.
 */
message: string, };

/**
 * A line of a run's log (seed *tepa-pipeline-in-detail*, "LogEntry").
 */
export type LogEntry = {
/**
 * Milliseconds since 1970, UTC.
 */
timestamp: number,
/**
 * The cycle it belongs to; 0 before the first.
 */
cycle: number,
/**
 * The step it belongs to.
 */
step?: string,
/**
 * The tool it belongs to.
 */
tool?: string,
/**
 * The words.
 */
message: string,
/**
 * How long it took.
 */
durationMs?: number,
/**
 * What it cost.
 */
tokensUsed?: number, };

/**
 * A line of the run's log.
 */
export type LogLine = {
/**
 * `debug`, `info`, `warn` or `error`.
 */
level: string,
/**
 * The words.
 */
message: string, };

/**
 * What a million tokens cost when a question is long: every token of such a call, the answer's too.
 */
export type LongPrice = {
/**
 * A question is long when it has more tokens than this, what the cache read and wrote included.
 */
above: number,
/**
 * A million tokens read.
 */
input: number,
/**
 * A million tokens written.
 */
output: number,
/**
 * A million tokens that came from the provider's cache; as `input` when absent.
 */
cacheRead?: number | null,
/**
 * A million tokens that were put into it; as `input` when absent.
 */
cacheWrite?: number | null, };

/**
 * A folder that a person picked.
 */
export type LookAtFolder = {
/**
 * Absolute.
 */
path: string, };

/**
 * The model that made a tool call, and the account that it was asked through.
 */
export type MadeBy = {
/**
 * The account, which stands before the colon in `provider:model`.
 */
provider: string,
/**
 * The model's name as it was asked for.
 */
model: string, };

/**
 * Part of a text, counted as JavaScript counts a string's length.
 */
export type Marked = {
/**
 * Where it begins.
 */
from: number,
/**
 * Where it has ended.
 */
to: number, };

/**
 * A server as its page shows it.
 */
export type McpServer = {
/**
 * Its name here.
 */
name: string,
/**
 * How it is reached.
 */
launch: Launch,
/**
 * The names of the values that are kept for it, which nobody is shown.
 */
values: Array<string>,
/**
 * When it was added: milliseconds since 1970, UTC.
 */
addedAtMs: number,
/**
 * Its tools as they were approved.
 */
approved: Array<ServerTool> | null,
/**
 * When: milliseconds since 1970, UTC.
 */
approvedAtMs: number | null,
/**
 * What it offered when it was last asked in this process.
 */
offered: Offer | null,
/**
 * Whether it is at work now.
 */
running: boolean,
/**
 * Why it could not be talked to when that was last tried.
 */
problem: AppError | null,
/**
 * The last lines that it said about itself.
 */
log: Array<string>, };

/**
 * Whether what a person changed since and what is undone can both be had.
 */
export type Merging = "clean" | "overlaps" | "impossible";

/**
 * How a step uses its tools.
 */
export type Mode = "each_once" | "free";

/**
 * A model that a provider offers: what the provider says of it, with what the catalog and the person add.
 */
export type ModelInfo = {
/**
 * The provider's own name.
 */
id: string,
/**
 * What it is, when the provider says.
 */
description: string | null,
/**
 * How many tokens it can read, when the provider says.
 */
contextWindow: number | null,
/**
 * How many tokens it can answer with, when the provider says.
 */
maxOutput?: number,
/**
 * How much it can do among its kind; not known of most models of local servers.
 */
tier?: ModelTier,
/**
 * What it can do besides writing.
 */
capabilities?: Capabilities,
/**
 * What it costs; absent when nobody says, which is not the same as nothing.
 */
price?: ListedPrice, };

/**
 * The models of every account.
 */
export type ModelList = {
/**
 * The accounts, those of each kind's own first.
 */
accounts: Array<ProviderModels>, };

/**
 * What a person knows better about a model; what is absent is as its provider or the catalog has it.
 */
export type ModelOverride = {
/**
 * How much it can do.
 */
tier?: ModelTier | null,
/**
 * How many tokens it can read.
 */
contextWindow?: number | null,
/**
 * How many tokens it can answer with.
 */
maxOutput?: number | null,
/**
 * Whether it calls tools.
 */
tools?: boolean | null, };

/**
 * How much a model can do among those of its provider, and so what it costs (models page, "One trait").
 */
export type ModelTier = "fast" | "balanced" | "advanced";

/**
 * What a run used of one model.
 */
export type ModelUse = {
/**
 * `provider:model`.
 */
model: string,
/**
 * The tokens of all attempts.
 */
tokens: number,
/**
 * What those cost, in the run's currency; none when the price is not known.
 */
cost: number | null,
/**
 * How long its attempts took together.
 */
timeMs: number, };

/**
 * From so much money to so much.
 */
export type MoneyRange = {
/**
 * When all goes well.
 */
low: number,
/**
 * When much of what may be needed is needed.
 */
high: number,
/**
 * In which currency.
 */
currency: string, };

/**
 * A value's address under a name.
 */
export type NamedHash = {
/**
 * The name.
 */
name: string,
/**
 * The address.
 */
hash: Hash, };

/**
 * A value under a name.
 */
export type NamedValue = {
/**
 * The name.
 */
name: string,
/**
 * The value.
 */
value: ValueRef, };

/**
 * A file that was to be restored and was not; it is as it was found.
 */
export type NotRestored = {
/**
 * The file.
 */
path: string,
/**
 * Why, in words.
 */
why: string, };

/**
 * What a server offers.
 */
export type Offer = {
/**
 * The tools.
 */
tools: Array<ServerTool>,
/**
 * Their address.
 */
hash: Hash,
/**
 * What is not as it was approved; everything where nothing was.
 */
changes: Array<ToolChange>, };

/**
 * What it means when a rule fails itself.
 */
export type OnError = "ignore" | "raise";

/**
 * What a failed step means for the others.
 */
export type OnFailure = "stop" | "skipDependents";

/**
 * One run.
 */
export type OneRun = {
/**
 * Which.
 */
runId: RunId, };

/**
 * A server by its name.
 */
export type OneServer = {
/**
 * Its name here.
 */
name: string, };

/**
 * A file that a person picked.
 */
export type OpenTask = {
/**
 * Absolute.
 */
path: string, };

/**
 * A task's file as it is.
 */
export type OpenedTask = {
/**
 * The text of the file, unchanged.
 */
source: string,
/**
 * Where it is, absolute.
 */
path: string,
/**
 * The folder that a run of it would work in: the file's own, or the one inside it that the task asks for.
 */
folder: string,
/**
 * The task, when nothing must be put right.
 */
task: Task | null,
/**
 * Everything that must be put right, and the warnings.
 */
problems: Array<Problem>, };

/**
 * What decides which step is next.
 */
export type Order = "chain" | "reads";

/**
 * Something a run produced.
 */
export type OutputArtifact = {
/**
 * The file, relative to the working folder; `answer` for a final answer.
 */
path: string,
/**
 * What it was expected to be, or which step made it.
 */
description: string,
/**
 * What kind of thing it is.
 */
type: OutputKind,
/**
 * The value of a final answer.
 */
value: ValueRef | null, };

/**
 * The seed's kinds of outputs.
 */
export type OutputKind = "file" | "data" | "report";

/**
 * Something for each role, where it was said.
 */
export type PerRole<T> = {
/**
 * For whoever makes plans.
 */
planner?: T,
/**
 * For whoever judges results.
 */
judge?: T,
/**
 * For simple steps.
 */
executorLow?: T,
/**
 * For steps that need thought.
 */
executorHigh?: T, };

/**
 * What runs may do when nobody says otherwise: when a person is asked, and about commands.
 */
export type PermissionDefaults = {
/**
 * When a person is asked.
 */
preset: Preset,
/**
 * Which commands may be run.
 */
commands: CommandGrant, };

/**
 * One visit of a flow's step.
 */
export type PhaseState = {
/**
 * The step's path.
 */
phase: string,
/**
 * What kind of step; none when it was skipped.
 */
kind: string | null,
/**
 * Which visit, from 1 on.
 */
visit: number,
/**
 * Where it stands.
 */
status: StepStatus,
/**
 * When it began.
 */
startedAtMs: number,
/**
 * How long it took.
 */
durationMs: number | null,
/**
 * What it alone was given.
 */
inputs: ValueRef | null,
/**
 * Its output.
 */
output: ValueRef | null,
/**
 * Why it failed.
 */
error: StepError | null,
/**
 * The key of the step after it.
 */
routedTo: string | null,
/**
 * The keys of its model calls and tool executions, in order.
 */
leaves: Array<Key>, };

/**
 * Steps in the planner's order, with its reasons.
 */
export type Plan = {
/**
 * The steps.
 */
steps: Array<PlanStep>,
/**
 * The planner's estimate for carrying them out.
 */
estimatedTokens: number,
/**
 * Why the plan is as it is.
 */
reasoning: string, };

/**
 * One unit of work.
 */
export type PlanStep = {
/**
 * Unique within the plan.
 */
id: string,
/**
 * A few words for the graph; the description when absent.
 */
name?: string,
/**
 * What the step does.
 */
description: string,
/**
 * The tools it calls, in order; none makes it a reasoning step.
 */
tools: Array<string>,
/**
 * What success looks like.
 */
expectedOutcome: string,
/**
 * The steps whose outputs it receives.
 */
dependencies: Array<string>,
/**
 * Results of earlier cycles that it receives, such as `cycle_1.step_3`.
 */
inputs?: Array<string>,
/**
 * The model for this step alone; wins over the tier.
 */
model?: string,
/**
 * Which of the two executor models does it.
 */
tier?: Tier,
/**
 * How it uses its tools.
 */
mode?: Mode,
/**
 * The most rounds of a free step; 10 when it does not say.
 */
maxRounds?: number,
/**
 * Complete arguments by tool name; where they are given no model is asked for them.
 */
args?: { [tool: string]: unknown }, };

/**
 * A recording to play.
 */
export type PlayRecording = {
/**
 * Its file, absolute.
 */
path: string,
/**
 * The working folder, absolute.
 */
folder: string, };

/**
 * When a person is asked.
 */
export type Preset = "careful" | "normal" | "handsOff";

/**
 * A file of a run, as it was.
 */
export type PreviewBefore = {
/**
 * The address of its bytes, from the run's `files`.
 */
hash: Hash,
/**
 * Its path, which says what kind of file it is.
 */
path: string, };

/**
 * A file of a run, as it is now.
 */
export type PreviewFile = {
/**
 * Whose folder.
 */
runId: RunId,
/**
 * Relative to that folder.
 */
path: string, };

/**
 * How to show a file.
 */
export type PreviewKind = "text" | "csv" | "json" | "image" | "binary" | "missing";

/**
 * An undo to look at before.
 */
export type PreviewUndo = {
/**
 * Which run.
 */
runId: RunId,
/**
 * Whether what was undone would be brought again.
 */
redo?: boolean, };

/**
 * What a million tokens of a model cost.
 */
export type Price = {
/**
 * A million tokens read.
 */
input: number,
/**
 * A million tokens written.
 */
output: number,
/**
 * A million tokens that came from the provider's cache; as `input` when absent.
 */
cacheRead?: number | null,
/**
 * A million tokens that were put into it; as `input` when absent.
 */
cacheWrite?: number | null,
/**
 * What a long question costs in all its parts, where the provider takes more for those.
 */
long?: LongPrice | null, };

/**
 * Prices by model, in one currency.
 */
export type Prices = {
/**
 * The currency, such as `USD`.
 */
currency: string,
/**
 * The prices by `provider:model`, or by the model's name alone.
 */
models: { [key in string]: Price }, };

/**
 * One thing that is wrong with something a person or a model wrote, and where.
 */
export type Problem = {
/**
 * The path to the place, such as `expectedOutput[0].criteria[2].check`; empty for the whole.
 */
path: string,
/**
 * What is wrong and what would be right, in words.
 */
message: string,
/**
 * Whether it only deserves attention (an unknown key) rather than a correction.
 */
warning: boolean, };

/**
 * A kind of provider.
 */
export type ProviderInfo = {
/**
 * Its name, the part before the colon in `provider:model`; also the account of its key, unless a person has
 * several.
 */
name: string,
/**
 * Its name for people.
 */
title: string,
/**
 * Whether a person must say where the server is.
 */
needsBaseUrl: boolean,
/**
 * Where it is when nobody says; empty where a person must.
 */
baseUrl: string,
/**
 * Whether it needs a key.
 */
key: KeyNeed,
/**
 * The environment variables that may hold its key, the first that is set counts.
 */
environment: Array<string>,
/**
 * Where a person buys credit, in a web browser; absent where it depends on the server.
 */
creditPage: string | null,
/**
 * Where a person makes a key.
 */
keysPage: string | null,
/**
 * Where such servers usually are, to choose from.
 */
usualAddresses: Array<UsualAddress>, };

/**
 * The kinds of model servers that can be set up.
 */
export type ProviderList = {
/**
 * In the order in which the settings show them.
 */
providers: Array<ProviderInfo>, };

/**
 * A model account, with the models that it offers here.
 */
export type ProviderModels = {
/**
 * Its name, the part before the colon in `provider:model`.
 */
provider: string,
/**
 * The name of its kind, such as `anthropic`.
 */
kind: string,
/**
 * The name of its kind, for people.
 */
title: string,
/**
 * Where its server is, if that is known.
 */
baseUrl: string | null,
/**
 * What may be shown of its key, and where the key is from.
 */
key: KeyInfo | null,
/**
 * The model that runs ask when their task names none.
 */
chosen: string | null,
/**
 * The models that the server lists, with what else is known of them.
 */
models: Array<ModelInfo>,
/**
 * The model to propose for each tier, from fast to advanced, of those that the server lists.
 */
recommended: Array<string>,
/**
 * Why there are none, in words.
 */
problem: string | null, };

/**
 * What came of trying a server.
 */
export type ProviderTest = {
/**
 * Whether it answered as it should.
 */
ok: boolean,
/**
 * What happened, in words.
 */
message: string,
/**
 * The models it offers, when it says.
 */
models: Array<string>,
/**
 * What helps, when it did not answer and something is known to.
 */
remedy?: Remedy,
/**
 * What is missing for runs although it answers, in words.
 */
lacks?: string,
/**
 * Whether what is missing can be set up here: an Ollama model that reads too little.
 */
canWiden: boolean,
/**
 * Whether what is missing is tool calls, where a person may know better than one trial.
 */
callsNoTools: boolean, };

/**
 * Which part of the work asks a model.
 */
export type Purpose = "plan" | "arguments" | "reasoning" | "agent" | "judge" | "phase" | "answer" | "guardrail";

/**
 * More room for a run.
 */
export type RaiseBudget = {
/**
 * Which run.
 */
runId: RunId,
/**
 * Where it stops from now on.
 */
limits: LimitsChange, };

/**
 * From so many tokens to so many.
 */
export type Range = {
/**
 * When all goes well.
 */
low: number,
/**
 * When much of what may be needed is needed.
 */
high: number, };

/**
 * A recorded value.
 */
export type ReadArtifact = {
/**
 * Its address.
 */
hash: Hash, };

/**
 * Part of a run's journal.
 */
export type ReadEvents = {
/**
 * Whose.
 */
runId: RunId,
/**
 * The first entry wanted; they count from 1.
 */
fromSeq: number,
/**
 * The most entries to return; 1 to 1000.
 */
limit: number, };

/**
 * A task that was saved to a file.
 */
export type RecentTask = {
/**
 * What it is called.
 */
title: string,
/**
 * Where it is, absolute.
 */
path: string,
/**
 * When it was last saved or opened.
 */
updatedAtMs: number, };

/**
 * Tasks that were saved to a file, newest first.
 */
export type RecentTasks = {
/**
 * The tasks.
 */
tasks: Array<RecentTask>, };

/**
 * A run to write as a recording.
 */
export type RecordRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * The file to write, absolute.
 */
path: string,
/**
 * Whether a file that is there may be replaced: a person was asked about it.
 */
replace?: boolean, };

/**
 * A recording that was written.
 */
export type Recorded = {
/**
 * Where it is.
 */
file: string,
/**
 * How many answers it has.
 */
calls: number, };

/**
 * What helps against a failure of a model call: each is one button.
 */
export type Remedy = "key" | "credit" | "model" | "provider" | "address" | "server" | "network" | "clock" | "less" | "wait";

/**
 * What a task's file asks for beside its working folder (`permissions`): a wish, until a person grants it. It is also
 * how a person says what a run may touch besides.
 */
export type Requests = {
/**
 * Files and folders.
 */
folders: Array<FolderGrant>,
/**
 * Command lines, with `*` for plain words.
 */
commands: Array<string>,
/**
 * The network for commands.
 */
commandNetwork: boolean,
/**
 * Hosts.
 */
hosts: Array<HostGrant>,
/**
 * MCP servers, by name.
 */
mcpServers: Array<string>, };

/**
 * A grant to take back.
 */
export type RevokeGrant = {
/**
 * Its number.
 */
id: number, };

/**
 * How a model is to say an answer.
 */
export type Rewrite = {
/**
 * What the model is told: a template.
 */
instructions: string,
/**
 * `provider:model`; the flow's when absent.
 */
model?: string, };

/**
 * Models by what they do, each as `provider:model`.
 */
export type Roles = {
/**
 * Makes plans.
 */
planner: string,
/**
 * Judges results.
 */
judge: string,
/**
 * Does simple steps.
 */
executorLow: string,
/**
 * Does steps that need thought.
 */
executorHigh: string,
/**
 * How much each thinks, where a person said so.
 */
reasoning?: PerRole<Effort>,
/**
 * What is asked when one does not answer; only what a person set.
 */
fallbacks?: Fallbacks, };

/**
 * A way on from a step.
 */
export type Route = {
/**
 * Taken when this condition holds; null always does.
 */
when?: string,
/**
 * Templates to write to the metadata when it is taken.
 */
set?: { [name: string]: unknown },
/**
 * A line for the run's log when it is taken: a template.
 */
log?: string, } & ({ "to": string } | { "finish": Finish });

/**
 * A run whose task is to be run again.
 */
export type RunAgain = {
/**
 * Which.
 */
runId: RunId,
/**
 * The working folder, absolute; the run's own when absent, which one that was imported has not got here.
 */
folder?: string | null, };

/**
 * What happened.
 */
export type RunEvent = { "type": "runStarted",
/**
 * All it needs to be driven.
 */
header: RunHeader, } | { "type": "runReopened",
/**
 * Why, in words.
 */
why: string, } | { "type": "runFinished",
/**
 * What it leaves behind.
 */
result: RunResult, } | { "type": "cycleStarted",
/**
 * Counted from 1.
 */
cycle: number, } | { "type": "attemptOpened",
/**
 * The address without its number.
 */
of: Key,
/**
 * The number.
 */
n: number,
/**
 * Why, in words.
 */
why: string, } | { "type": "planningStarted",
/**
 * Which cycle.
 */
cycle: number,
/**
 * What it was told to change: the judge's feedback, or a person's words.
 */
feedback: string | null,
/**
 * How many of a person's words are in that feedback or were in an earlier one.
 */
guidance: number, } | { "type": "planRefused",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Everything that is wrong with it.
 */
problems: Array<string>,
/**
 * Whether the planner is told and tries again.
 */
again: boolean, } | { "type": "planProposed",
/**
 * Which cycle.
 */
cycle: number,
/**
 * The plan.
 */
plan: Plan,
/**
 * Its address, which an approval binds.
 */
planHash: Hash,
/**
 * What the planner noted; absent in older journals.
 */
notes?: Array<AuditEvent>, } | { "type": "personAsked",
/**
 * What is asked.
 */
ask: Ask, } | { "type": "personAnswered",
/**
 * What was said.
 */
answer: Answer, } | { "type": "planApproved",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Exactly this plan.
 */
planHash: Hash,
/**
 * By a person now, or by what was allowed before.
 */
by: ApprovedBy, } | { "type": "stepStarted",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Which step.
 */
step: string,
/**
 * What it was given: the address of each input by name.
 */
inputs: Array<NamedHash>, } | { "type": "stepFinished",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Which step.
 */
step: string,
/**
 * How: done, kept, failed or skipped.
 */
status: StepStatus,
/**
 * Its output.
 */
output: ValueRef | null,
/**
 * Why it failed.
 */
error: StepError | null,
/**
 * What its model calls cost.
 */
tokensUsed: number,
/**
 * How long it took.
 */
durationMs: number,
/**
 * Where a kept result was really made, such as `cycle_1.step_3`.
 */
keptFrom?: string, } | { "type": "modelCallStarted",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Which part of the work asks.
 */
purpose: Purpose,
/**
 * Which step, for a step's call.
 */
step: string | null,
/**
 * `provider:model`.
 */
model: string,
/**
 * The address of the call's meaning; a resumed run must arrive at the same one.
 */
inputHash: Hash,
/**
 * The request as it was sent.
 */
request: ValueRef,
/**
 * The address of the prompt template.
 */
promptHash: Hash, } | { "type": "modelAttempted",
/**
 * How, and what it cost.
 */
attempt: LlmAttempt, } | { "type": "modelCallFinished",
/**
 * The whole answer.
 */
response: LlmResponseRef | null,
/**
 * Or why there is none.
 */
error: StepError | null,
/**
 * How long it took, waits included.
 */
durationMs: number, } | { "type": "toolStarted",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Which step.
 */
step: string,
/**
 * Which tool.
 */
tool: string,
/**
 * Its arguments, references resolved.
 */
args: ValueRef,
/**
 * What it will touch.
 */
access: Array<Access>,
/**
 * The address of the call's meaning.
 */
inputHash: Hash, } | { "type": "effectIntended",
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * The address of its bytes before; none when it is not there yet.
 */
before: Hash | null,
/**
 * The address of its bytes after.
 */
after: Hash | null,
/**
 * What the tool returns when the change is made.
 */
output: ValueRef,
/**
 * Folders that are made for it, the outermost first; absent in older journals.
 */
folders?: Array<string>, } | { "type": "folderChanged",
/**
 * The files, sorted by path.
 */
files: Array<FileDelta>,
/**
 * Folders that were made, the outermost first.
 */
folders: Array<string>,
/**
 * What was not compared, in words: a changed file in it is not listed here.
 */
leftOut: Array<string>, } | { "type": "outsideEffectIntended",
/**
 * What, in words: the command line, or the request.
 */
what: string,
/**
 * What the tool returns when a person says that it was done.
 */
output: ValueRef, } | { "type": "toolFinished",
/**
 * What it returned.
 */
output: ValueRef | null,
/**
 * Or why it did not.
 */
error: StepError | null,
/**
 * What it wrote to the scratchpad.
 */
scratchpad: Array<NamedValue>,
/**
 * What it wrote to the run's log.
 */
logs: Array<LogLine>,
/**
 * The address of everything that a call without effects read, as it was before the call; none
 * when that cannot be told.
 */
observed?: Array<NamedHash>,
/**
 * How long it took.
 */
durationMs: number, } | { "type": "scratchpadWritten",
/**
 * What.
 */
entry: NamedValue, } | { "type": "hookFinished",
/**
 * Which.
 */
hook: string,
/**
 * Where in the pipeline.
 */
event: HookEvent,
/**
 * What it returned.
 */
result: HookResult,
/**
 * Whether the built-in line of this event is left out of the run's log (reference, `preventDefault`).
 */
preventDefault: boolean, } | { "type": "planChanged",
/**
 * Which cycle.
 */
cycle: number,
/**
 * The hooks that changed it, in order; none when a person did.
 */
by: Array<string>,
/**
 * The plan as it is now.
 */
plan: Plan,
/**
 * Its address.
 */
planHash: Hash,
/**
 * The ids of the steps that are new, other or gone.
 */
steps: Array<string>,
/**
 * What changed, `{ path, before, after }` each, steps by their ids; absent in older journals.
 */
diff?: JsonValue, } | { "type": "stepChanged",
/**
 * Which cycle.
 */
cycle: number,
/**
 * The hooks that changed it, in order.
 */
by: Array<string>,
/**
 * The step as it is now; its id is what it was.
 */
step: PlanStep, } | { "type": "judgingStarted",
/**
 * Which cycle.
 */
cycle: number, } | { "type": "checkFinished",
/**
 * Which cycle.
 */
cycle: number,
/**
 * What was found.
 */
result: CriterionResult,
/**
 * How long it took.
 */
durationMs: number, } | { "type": "cycleJudged",
/**
 * Which cycle.
 */
cycle: number,
/**
 * The whole verdict.
 */
evaluation: Evaluation,
/**
 * What the judge noted; absent in older journals.
 */
notes?: Array<AuditEvent>, } | { "type": "judgeAsked",
/**
 * Which cycle.
 */
cycle: number,
/**
 * The address of each result that is shown, by its name.
 */
shown: Array<NamedHash>,
/**
 * Judgements of earlier cycles about the same results, by the same model.
 */
reused: Array<CriterionResult>,
/**
 * What was said with them; none where nothing is reused, and in older journals.
 */
said: JudgeWords | null,
/**
 * The questions, in their order; none in older journals, whose questions follow from the results.
 */
parts: Array<JudgedPart> | null, } | { "type": "verdictChanged",
/**
 * Which cycle.
 */
cycle: number,
/**
 * Who changed it: hooks, or `person`.
 */
by: Array<string>,
/**
 * The verdict that counts now.
 */
evaluation: Evaluation, } | { "type": "guidanceGiven",
/**
 * The words.
 */
words: string, } | { "type": "limitsRaised",
/**
 * The limits from now on.
 */
limits: Limits, } | { "type": "undoIntended",
/**
 * Whether what was undone is brought again.
 */
redo: boolean,
/**
 * Every file that is about to change.
 */
files: Array<FileRestore>, } | { "type": "undoFinished",
/**
 * The files that could not be restored.
 */
left: Array<NotRestored>,
/**
 * Folders that the run had made and that went with their last file.
 */
folders: Array<string>, } | { "type": "runPaused" } | { "type": "runContinued" } | { "type": "workFinished",
/**
 * Which step.
 */
step: string,
/**
 * Which workflow.
 */
workflowId: string,
/**
 * Which version of it.
 */
workflowVersion: string,
/**
 * Its whole result, input included.
 */
result: ValueRef | null,
/**
 * Or why there is none.
 */
error: StepError | null,
/**
 * How long it took.
 */
durationMs: number, } | { "type": "topicEmitted",
/**
 * Under which topic.
 */
topic: string,
/**
 * What.
 */
payload: ValueRef, } | { "type": "workUnblocked",
/**
 * How.
 */
how: Unblocked, } | { "type": "overlayWritten",
/**
 * The fields with their values.
 */
values: ValueRef, } | { "type": "phaseStarted",
/**
 * The step's path: its key, after those of the groups around it.
 */
phase: string,
/**
 * The step's id, which names its span in a trace (agntz, "Steps"); absent when it is the key.
 */
id?: string,
/**
 * What kind of step: `ask`, `tool`, `agent`, `group`, `gate`, `answer`, `task` or `ref`.
 */
kind: string,
/**
 * How often it has begun in this state, from 1 on.
 */
visit: number,
/**
 * What it alone is given; none when it sees the state around it.
 */
inputs: ValueRef | null, } | { "type": "phaseFinished",
/**
 * The step's path.
 */
phase: string,
/**
 * Its output.
 */
output: ValueRef | null,
/**
 * Or why there is none.
 */
error: StepError | null,
/**
 * What it wrote to the metadata.
 */
set: Array<NamedValue>,
/**
 * How long it took.
 */
durationMs: number, } | { "type": "phaseSkipped",
/**
 * The step's path.
 */
phase: string,
/**
 * Which visit, from 1 on.
 */
visit: number,
/**
 * The failed step; none when its own condition is false.
 */
failed: string | null, } | { "type": "phaseRouted",
/**
 * The path of the step that ended.
 */
from: string,
/**
 * The key of the next step; none at the end.
 */
to: string | null,
/**
 * What the route wrote to the metadata.
 */
set: Array<NamedValue>,
/**
 * What the route says in the log.
 */
log: string | null, } | { "type": "answerGiven",
/**
 * The words.
 */
text: ValueRef,
/**
 * The answer that a guardrail took back.
 */
insteadOf: ValueRef | null, } | { "type": "guardrailJudged",
/**
 * What it found.
 */
result: GuardrailResult, };

/**
 * An entry as the journal holds it.
 */
export type RunEventRecord = {
/**
 * Whose.
 */
runId: RunId,
/**
 * Counted from 1, without gaps.
 */
seq: number,
/**
 * Milliseconds since 1970, UTC.
 */
atMs: number,
/**
 * Its address; unique in the run.
 */
key: Key,
/**
 * What happened.
 */
event: RunEvent, };

/**
 * A file that a run changed, from before the run to how the run left it.
 */
export type RunFile = {
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * The address of its bytes before; none when the run made it.
 */
before: Hash | null,
/**
 * The address of its bytes as the run left them; none when it removed it.
 */
after: Hash | null,
/**
 * Lines that came; none where they cannot be counted.
 */
added: number | null,
/**
 * Lines that went; none where they cannot be counted.
 */
removed: number | null,
/**
 * Whether it is no text.
 */
binary: boolean,
/**
 * Whether the change is undone.
 */
undone: boolean, };

/**
 * The files that a run changed.
 */
export type RunFiles = {
/**
 * In the order in which it did.
 */
files: Array<RunFile>, };

/**
 * All that a run needs to be driven, kept in its first event.
 */
export type RunHeader = {
/**
 * The task as it was when the run started.
 */
task: Task,
/**
 * What to call the run.
 */
title: string,
/**
 * What it may touch at most.
 */
envelope: Envelope,
/**
 * Which model does what.
 */
roles: Roles,
/**
 * The registered hooks, in order, so that a resumed run meets the same ones.
 */
hooks: Array<string>,
/**
 * The task's rules that a person allowed.
 */
rules?: Array<HookRule>,
/**
 * What the run's models cost, as it was known when the run started.
 */
prices?: Prices,
/**
 * The recording that answers for the models, when it is not a model that does.
 */
recording: string | null,
/**
 * The version of the app, for the record.
 */
appVersion: string,
/**
 * The flow that runs in place of the task; the task is then its name and its limits.
 */
flow?: FlowRun,
/**
 * The tools of MCP servers that the run may be offered, as a person had approved them when it began.
 */
serverTools?: Array<ServerTool>,
/**
 * What a step of a plan may name beside the models of its role, each as `provider:model`; what is proposed first
 * (models page, "Providers").
 */
models?: Array<string>, };

/**
 * One execution of a task; a UUID of version 7, so ids sort by the time they were made.
 */
export type RunId = string;

/**
 * What a person wants to be different for one run; what is absent is as the task and the settings have it.
 */
export type RunOptions = {
/**
 * Where it stops.
 */
limits?: LimitsChange | null,
/**
 * When a plan waits for a person.
 */
approval?: Approval | null,
/**
 * Which model does what.
 */
models?: TaskModels | null,
/**
 * What is asked when a model does not answer, in the place of what the settings say.
 */
fallbacks?: Fallbacks | null,
/**
 * Whether the task's rules are allowed. A task asks; only a person grants. Those that reach out are allowed one by
 * one, with `allow_effects` or when the run asks.
 */
allowHooks: boolean,
/**
 * Whether everything that the task's file asks for under `permissions` is granted.
 */
allowPermissions?: boolean,
/**
 * What of the effects that the task brings by itself is allowed, by its content: commands and webhooks as rules,
 * commands as checks.
 */
allowEffects?: Array<Hash>,
/**
 * What is granted besides.
 */
grant?: Requests | null,
/**
 * When a person is asked; as the settings say when absent.
 */
preset?: Preset | null, };

/**
 * Runs, newest first.
 */
export type RunPage = {
/**
 * The runs.
 */
runs: Array<RunSummary>,
/**
 * Where the next page starts; none at the end.
 */
next: string | null,
/**
 * Where the wanted words stand in them, where that can be shown; nothing when no words were wanted.
 */
found: Array<Found>, };

/**
 * The seed's `TepaResult`: a run's result with its log and what it cost.
 */
export type RunReport = {
/**
 * Pass, fail or terminated; where it stands while it is not at its end.
 */
status: RunStatus,
/**
 * How many cycles ran.
 */
cycles: number,
/**
 * What all model calls cost together.
 */
tokensUsed: number,
/**
 * What that is in money; none for a recording.
 */
cost: Cost | null,
/**
 * What was really produced.
 */
outputs: Array<OutputArtifact>,
/**
 * What happened, line by line; a fold of the journal.
 */
logs: Array<LogEntry>,
/**
 * The judge's summary, its feedback, or what went wrong; empty while the run is not at its end.
 */
feedback: string,
/**
 * Why it ended.
 */
stopReason: StopReason | null, };

/**
 * What a run leaves behind (seed *tepa-pipeline-in-detail*, "TepaResult").
 */
export type RunResult = {
/**
 * Pass, fail or terminated.
 */
status: RunStatus,
/**
 * Why.
 */
stopReason: StopReason,
/**
 * How many cycles ran.
 */
cycles: number,
/**
 * What all model calls cost together.
 */
tokensUsed: number,
/**
 * What that is in money; none for a recording, which costs nothing.
 */
cost: Cost | null,
/**
 * The judge's summary, its feedback, or what went wrong.
 */
feedback: string,
/**
 * What was really produced.
 */
outputs: Array<OutputArtifact>,
/**
 * Why it failed, with a code to decide by; a flow's run that failed has it.
 */
error?: StepError, };

/**
 * Everything that the run's screens draw.
 */
export type RunState = {
/**
 * The last event that is in it.
 */
lastSeq: number,
/**
 * How the run began.
 */
header: RunHeader | null,
/**
 * When it began.
 */
startedAtMs: number,
/**
 * When something last happened.
 */
updatedAtMs: number,
/**
 * How it ended.
 */
result: RunResult | null,
/**
 * The cycles, in order.
 */
cycles: Array<CycleState>,
/**
 * The question that waits for a person; of several, the first that was asked.
 */
waiting: WaitingFor | null,
/**
 * The questions that wait besides, in the order in which they were asked.
 */
waitingAlso?: Array<WaitingFor>,
/**
 * What all attempts of all model calls cost.
 */
tokensUsed: number,
/**
 * How many of these tokens are the app's own guess, because a server did not say.
 */
tokensEstimated: number,
/**
 * What the tokens cost in money, as far as prices are known; nothing for a recording.
 */
cost: Cost,
/**
 * Whether a person paused it.
 */
paused: boolean,
/**
 * What a person said to the planners of later cycles, in order.
 */
guidance: Array<string>,
/**
 * The scratchpad, in the order of first writing.
 */
scratchpad: { [name: string]: ValueRef },
/**
 * Files that the run changed, in order; the first change holds the bytes from before the run.
 */
files: Array<FileChange>,
/**
 * Every model call by its key.
 */
calls: { [key: string]: CallState },
/**
 * Every tool execution by its key.
 */
tools: { [key: string]: ToolState },
/**
 * Every visit of a flow's step by its key, in the order of their beginning.
 */
phases: { [key: string]: PhaseState },
/**
 * A flow's answer.
 */
answer: ValueRef | null,
/**
 * What the flow's guardrails found.
 */
guardrails: Array<GuardrailResult>,
/**
 * What a person took back in files or brought again, in order.
 */
undos?: Array<UndoState>, };

/**
 * Where a run stands (goal-pipeline page, "Ends").
 */
export type RunStatus = "running" | "waiting" | "paused" | "pass" | "fail" | "terminated";

/**
 * A run as a list shows it.
 */
export type RunSummary = {
/**
 * Which run.
 */
runId: RunId,
/**
 * What it is called.
 */
title: string,
/**
 * Where it stands.
 */
status: RunStatus,
/**
 * Why it ended.
 */
stopReason: StopReason | null,
/**
 * How many cycles began.
 */
cycles: number,
/**
 * What it cost so far.
 */
tokensUsed: number,
/**
 * What that is in money; none for a recording, which costs nothing.
 */
cost: Cost | null,
/**
 * The models that were asked, in the order in which they first were; none where a recording answered.
 */
models: Array<ModelUse>,
/**
 * How long it was at work: without the time in which it waited for a person, stood paused or was at its end.
 */
workedMs: number,
/**
 * The working folder.
 */
folder: string,
/**
 * Whether a recording answered for the models.
 */
recorded: boolean,
/**
 * Milliseconds since 1970, UTC.
 */
startedAtMs: number,
/**
 * When something last happened.
 */
updatedAtMs: number,
/**
 * When it ended.
 */
endedAtMs: number | null,
/**
 * Whether somebody drives it now; a run that is not at its end and not driven was interrupted,
 * or waits for a person.
 */
driven: boolean, };

/**
 * The waits of a run between two attempts.
 */
export type RunWaits = {
/**
 * One for each account.
 */
waits: Array<Wait>, };

/**
 * What a model has said so far in a call that is still at work.
 */
export type RunningText = {
/**
 * The call's key.
 */
key: Key,
/**
 * Its words, or the arguments of the tool it calls, so far.
 */
text: string,
/**
 * Its thoughts so far, where it shows them.
 */
reasoning: string, };

/**
 * A file to write diagnostics to.
 */
export type SaveDiagnostics = {
/**
 * The file, absolute.
 */
path: string,
/**
 * Whether a file that is there may be replaced: a person was asked about it.
 */
replace?: boolean, };

/**
 * A task's text to write to a file that a person picked.
 */
export type SaveTask = {
/**
 * Absolute, ending in `.yaml`, `.yml` or `.json`.
 */
path: string,
/**
 * The text, written as it is.
 */
source: string, };

/**
 * A kind of search service.
 */
export type SearchKind = {
/**
 * Its name in the settings.
 */
name: string,
/**
 * Its name for people.
 */
title: string,
/**
 * Where it is when nobody says; empty where a person must.
 */
baseUrl: string,
/**
 * Whether it needs a key.
 */
needsKey: boolean,
/**
 * Where a person makes a key.
 */
keysPage: string | null, };

/**
 * The kinds of search services.
 */
export type SearchKinds = {
/**
 * In the order in which a person chooses.
 */
kinds: Array<SearchKind>,
/**
 * The account under which the key of the service is kept.
 */
account: string, };

/**
 * A service that searches the web. Its key is kept like those of model accounts.
 */
export type SearchService = {
/**
 * The kind, such as `searxng`.
 */
kind: string,
/**
 * Where it is; the kind's own address when absent.
 */
baseUrl?: string, };

/**
 * What came of asking the service that is set up.
 */
export type SearchTest = {
/**
 * Whether it answered with results.
 */
ok: boolean,
/**
 * What happened, in words.
 */
message: string, };

/**
 * All servers.
 */
export type ServerList = {
/**
 * In the order in which they were added.
 */
servers: Array<McpServer>, };

/**
 * A definition with its address.
 */
export type ServerTool = {
/**
 * The name for planners and models: letters, digits, `_` and `-`, at most 64.
 */
name: string,
/**
 * The server's name here.
 */
server: string,
/**
 * The tool, as the server calls it.
 */
tool: string,
/**
 * What the server says that it does.
 */
description: string,
/**
 * JSON Schema of its arguments, as the server gave it.
 */
parameters: JsonValue,
/**
 * Whether the server says that it changes nothing. A word of a stranger: it is shown, and decides nothing.
 */
saysReadOnly?: boolean,
/**
 * The address of the tool, its description and its parameters.
 */
hash: Hash, };

/**
 * A draft to keep.
 */
export type SetDraft = {
/**
 * Which.
 */
name: string,
/**
 * What to keep; null forgets it.
 */
value: unknown, };

/**
 * A key to keep.
 */
export type SetKey = {
/**
 * The account it belongs to, such as `openai_compatible`.
 */
account: string,
/**
 * The key itself.
 */
key: string,
/**
 * The server that it is for, where that is not the one in the settings; it is sent nowhere else.
 */
baseUrl?: string | null,
/**
 * Whether a person agreed that it goes to that server without encryption, where the address says so.
 */
plain?: boolean | null,
/**
 * Whether it is kept only until the app closes, where a person wants that or the keychain is locked.
 */
untilClose?: boolean | null, };

/**
 * Everything that can be set, except keys.
 */
export type Settings = {
/**
 * Light, dark, or as the system has it.
 */
theme: Theme,
/**
 * Where a run stops when its task does not say.
 */
limits: Limits,
/**
 * The model that runs ask when their task names none.
 */
endpoint: Endpoint | null,
/**
 * What models cost, as a person typed it in.
 */
prices: Prices,
/**
 * Model accounts besides the one that each kind of provider has by itself, under the kind's own name; or that one
 * at another address.
 */
accounts: Array<Account>,
/**
 * Which model does what when a task does not say, each written `provider:model`.
 */
models: TaskModels,
/**
 * What is asked when a model does not answer; nothing where a person set nothing.
 */
fallbacks?: Fallbacks,
/**
 * What a person knows better about a model than its provider and the catalog, by `provider:model`.
 */
overrides?: { [key in string]: ModelOverride },
/**
 * What runs may do when nobody says otherwise.
 */
permissions: PermissionDefaults,
/**
 * The service that searches the web; none where nobody set one up.
 */
search?: SearchService | null, };

/**
 * What the app says without being asked. A signal carries no news itself: whoever hears one pulls what is new,
 * so a slow window costs nothing and a missed signal loses nothing.
 */
export type Signal = { "kind": "advanced",
/**
 * Which run.
 */
runId: RunId,
/**
 * Its last entry.
 */
seq: number, } | { "kind": "delta",
/**
 * Which run.
 */
runId: RunId,
/**
 * The call's key.
 */
key: Key,
/**
 * Where `text` goes, counted as JavaScript counts a string's length.
 */
offset: number,
/**
 * The next words, or the next piece of a tool call's arguments.
 */
text: string, } | { "kind": "reasoning",
/**
 * Which run.
 */
runId: RunId,
/**
 * The call's key.
 */
key: Key,
/**
 * Where `text` goes, counted as JavaScript counts a string's length.
 */
offset: number,
/**
 * The next thoughts.
 */
text: string, } | { "kind": "interrupted",
/**
 * Which run.
 */
runId: RunId,
/**
 * Why.
 */
error: AppError, } | { "kind": "runsChanged" } | { "kind": "fileHanded" };

/**
 * Runs to delete.
 */
export type SomeRuns = {
/**
 * Which; at most 200 at once.
 */
runIds: Array<RunId>, };

/**
 * A task to run, in a folder that a person picked.
 */
export type StartRun = {
/**
 * The task's text, YAML or JSON.
 */
source: string,
/**
 * The working folder, absolute.
 */
folder: string,
/**
 * What to call the run; the task's own title when absent.
 */
title?: string | null,
/**
 * What is different for this run: limits, models, approval, and whether the task's rules are allowed.
 */
options?: RunOptions | null, };

/**
 * A run that began.
 */
export type StartedRun = {
/**
 * Its id.
 */
runId: RunId, };

/**
 * Why a unit of work failed (seed *verist-steps*, "StepError").
 */
export type StepError = {
/**
 * One of [`code`], or a step's own; snake_case.
 */
code: string,
/**
 * What happened.
 */
message: string,
/**
 * Safe to repeat with identical input and context.
 */
retryable: boolean,
/**
 * What lies underneath, if anything does.
 */
cause: JsonValue | null, };

/**
 * A step of a plan.
 */
export type StepState = {
/**
 * Where it stands.
 */
status: StepStatus,
/**
 * When it began.
 */
startedAtMs: number | null,
/**
 * How long it took.
 */
durationMs: number | null,
/**
 * What its model calls cost.
 */
tokensUsed: number,
/**
 * What it was given, by name.
 */
inputs: Array<string>,
/**
 * Its output.
 */
output: ValueRef | null,
/**
 * Why it failed.
 */
error: StepError | null,
/**
 * Where a kept result was really made, such as `cycle_1.step_3`.
 */
keptFrom?: string,
/**
 * The keys of its model calls and tool executions, in order.
 */
leaves: Array<Key>, };

/**
 * Where a step of a plan stands.
 */
export type StepStatus = "waiting" | "running" | "done" | "kept" | "failed" | "skipped" | "waiting_for_person" | "uncertain";

/**
 * Why a run ended.
 */
export type StopReason = "passed" | "accepted" | "max_cycles" | "no_progress" | "rejected" | "error" | "budget" | "cancelled";

/**
 * A goal, its context and the expected results.
 */
export type Task = {
/**
 * What should be done, in plain words.
 */
goal: string,
/**
 * Anything worth knowing: paths, values, rules.
 */
context: { [key: string]: unknown },
/**
 * What success looks like.
 */
expectedOutput: ExpectedOutput,
/**
 * What the task is called; the beginning of the goal when it has no name.
 */
name?: string,
/**
 * The folder it asks to work in, relative to the task's file. A request: the person grants it.
 */
workingFolder?: string,
/**
 * Which model does what; the settings decide where this is silent.
 */
models?: TaskModels,
/**
 * Where a run stops.
 */
limits?: Limits,
/**
 * When a plan waits for a person.
 */
approval?: Approval,
/**
 * The tools the planner may use; all of them when absent.
 */
tools?: Array<string>,
/**
 * The rules it asks for, as they are written; [`crate::rule::HookRule`] reads each. Requests: they are off until
 * a person allows them.
 */
hooks?: Array<JsonValue>, };

/**
 * One such effect, whole: what a person allows is exactly this.
 */
export type TaskEffect = { "kind": "check",
/**
 * The command line.
 */
run: string, } | { "kind": "command" } & CommandRule | { "kind": "webhook" } & WebhookRule;

/**
 * Something that a person allowed for every run of a task.
 */
export type TaskGrant = {
/**
 * Its number.
 */
id: number,
/**
 * What the task is called.
 */
title: string,
/**
 * The folder that it works in.
 */
folder: string,
/**
 * What is allowed.
 */
access: Access,
/**
 * Milliseconds since 1970, UTC.
 */
grantedAtMs: number, };

/**
 * The models a task asks for; each a `provider:model` or a model of the default provider.
 */
export type TaskModels = {
/**
 * Makes the plan.
 */
planner?: string,
/**
 * Judges the results.
 */
judge?: string,
/**
 * Does the steps.
 */
executor?: ExecutorModels,
/**
 * How much each thinks.
 */
reasoning?: PerRole<Effort>, };

/**
 * A whole task, from plan to verdict, as one step.
 */
export type TaskStep = {
/**
 * What should be done: a template.
 */
goal: string,
/**
 * Anything worth knowing: templates.
 */
context?: { [key: string]: unknown },
/**
 * What success looks like.
 */
expectedOutput: ExpectedOutput, };

/**
 * A server to try, before or after its address is saved.
 */
export type TestProvider = {
/**
 * The account to try; when absent, the chat-completions server at `base_url`.
 */
provider?: string | null,
/**
 * Where the server is; where the account's is when empty.
 */
baseUrl: string,
/**
 * The model to ask for. Where a provider has an address of its own, none is needed: its models are listed.
 */
model: string,
/**
 * Whether to send the stored key along (default true).
 */
useStoredKey?: boolean, };

/**
 * How the app looks.
 */
export type Theme = "system" | "light" | "dark";

/**
 * How much thought a step needs.
 */
export type Tier = "low" | "high";

/**
 * When a guardrail looks.
 */
export type Timing = "pre" | "post";

/**
 * A tool that is not as it was approved.
 */
export type ToolChange = {
/**
 * The tool, as the server calls it.
 */
tool: string,
/**
 * What was approved; none when it is new.
 */
before: ToolWords | null,
/**
 * What is offered now; none when it is gone.
 */
after: ToolWords | null, };

/**
 * A tool as planners, models and people see it.
 */
export type ToolInfo = {
/**
 * Its name, snake_case.
 */
name: string,
/**
 * What it does and returns, for a model.
 */
description: string,
/**
 * JSON Schema of its arguments.
 */
parameters: JsonValue,
/**
 * Whether some of its calls change the world or the scratchpad.
 */
hasEffects: boolean, };

/**
 * The tools that a plan can use.
 */
export type ToolList = {
/**
 * In the order in which a planner reads them.
 */
tools: Array<ToolInfo>, };

/**
 * A tool execution.
 */
export type ToolState = {
/**
 * Whose.
 */
cycle: number,
/**
 * Which step.
 */
step: string,
/**
 * Which tool.
 */
tool: string,
/**
 * Its arguments.
 */
args: ValueRef,
/**
 * What it touches.
 */
access: Array<Access>,
/**
 * What it returned.
 */
output: ValueRef | null,
/**
 * Why it did not.
 */
error: StepError | null,
/**
 * What it wrote to the log.
 */
logs: Array<LogLine>,
/**
 * How long it took; none while it is at work.
 */
durationMs: number | null, };

/**
 * Calls a tool (latent `@tool`, agntz `tool`).
 */
export type ToolStep = {
/**
 * Its name.
 */
tool: string,
/**
 * Templates of its arguments.
 */
args?: { [name: string]: unknown }, };

/**
 * A tool call that a model made, its arguments already parsed.
 */
export type ToolUse = {
/**
 * The provider's id of the call.
 */
id: string,
/**
 * The tool.
 */
name: string,
/**
 * Its arguments.
 */
input: JsonValue,
/**
 * What the provider wants to have back with this call in the next request, unread: thoughts that led to it, or a
 * signature. Only the account and the model that wrote it understand it, and nobody else is sent it.
 */
carried?: JsonValue,
/**
 * Who made the call; absent in what was written down before this was known.
 */
madeBy?: MadeBy, };

/**
 * What a definition says.
 */
export type ToolWords = {
/**
 * What the tool is said to do.
 */
description: string,
/**
 * JSON Schema of its arguments.
 */
parameters: JsonValue, };

/**
 * What was said to work that waited (kernel page, "Commands").
 */
export type Unblocked = { "kind": "approved" } | { "kind": "rejected" } | { "kind": "overridden" } | { "kind": "resumed",
/**
 * What it waited for.
 */
data: ValueRef, };

/**
 * What a person wants with a file that somebody edited or removed since.
 */
export type UndoChoice = "keep" | "restore" | "merge";

/**
 * A file in the preview of an undo or a redo.
 */
export type UndoFile = {
/**
 * The file, relative to the working folder.
 */
path: string,
/**
 * How it stands.
 */
standing: UndoStanding,
/**
 * The address of what it gets; none when it goes.
 */
to: Hash | null,
/**
 * The address of what the run (or the undo) left; none when it removed it.
 */
left: Hash | null,
/**
 * The address of what is there now; none when nothing is.
 */
now: Hash | null,
/**
 * Whether a link is there now.
 */
isLink: boolean,
/**
 * For one that was edited: whether both can be had; none for others.
 */
merging: Merging | null, };

/**
 * What an undo or a redo would do, file by file.
 */
export type UndoPreview = {
/**
 * Whether what was undone is brought again.
 */
redo: boolean,
/**
 * The files that the run changed, in the order in which it did.
 */
files: Array<UndoFile>,
/**
 * Folders that the run made; each goes with an undo when nothing is in it any more.
 */
folders: Array<string>,
/**
 * The address of what was seen: an undo that names it is refused when a file has changed since.
 */
stamp: Hash,
/**
 * Whether an earlier undo or redo was broken off; the next one finishes it first.
 */
unfinished: boolean, };

/**
 * What was undone or brought again.
 */
export type UndoResult = {
/**
 * Whether what was undone was brought again.
 */
redo: boolean,
/**
 * Files that got back what they held.
 */
restored: Array<string>,
/**
 * Files that went.
 */
deleted: Array<string>,
/**
 * Files where both changes were put together.
 */
merged: Array<string>,
/**
 * Files that stay as they are because a person wants that, or because there was nothing to do.
 */
kept: Array<string>,
/**
 * Files that could not be restored.
 */
left: Array<NotRestored>,
/**
 * Folders that the run made and that went with their last file.
 */
folders: Array<string>, };

/**
 * An undo.
 */
export type UndoRun = {
/**
 * Which run.
 */
runId: RunId,
/**
 * Whether what was undone is brought again.
 */
redo?: boolean,
/**
 * Which files; all when empty.
 */
files: Array<ChosenFile>,
/**
 * The stamp of the preview from which they were chosen: refused when a file has changed since.
 */
stamp: Hash, };

/**
 * How a file stands before an undo or a redo.
 */
export type UndoStanding = "restores" | "deletes" | "unchanged" | "edited" | "missing" | "done" | "not_kept" | "blocked";

/**
 * An undo of what the run changed in files, or of an earlier undo.
 */
export type UndoState = {
/**
 * Whether what was undone was brought again.
 */
redo: boolean,
/**
 * The files that were to change.
 */
files: Array<FileRestore>,
/**
 * Those of them that could not; none while it is at work, or when it was broken off.
 */
left: Array<NotRestored> | null,
/**
 * When it began.
 */
atMs: number, };

/**
 * Tokens of one attempt; each is counted once.
 */
export type Usage = {
/**
 * All that was read, cache reads and writes included.
 */
input: number,
/**
 * All that was written, reasoning included.
 */
output: number,
/**
 * Of the input, what came from the provider's cache.
 */
cacheRead: number,
/**
 * Of the input, what was put into it.
 */
cacheWrite: number,
/**
 * Of the output, what was thought and not said.
 */
reasoning: number,
/**
 * Whether these are the app's own guess, because the server did not say.
 */
estimated?: boolean, };

/**
 * A server that people often run.
 */
export type UsualAddress = {
/**
 * The name of the server program.
 */
title: string,
/**
 * Its address when nothing was changed.
 */
url: string, };

/**
 * A value by its content address, with the value itself when it is small.
 */
export type ValueRef = {
/**
 * The address of the whole value's canonical JSON.
 */
hash: Hash,
/**
 * The length of that JSON in bytes.
 */
bytes: number,
/**
 * The value, when it is small; otherwise it is an artifact under `hash`.
 */
inline: JsonValue | null,
/**
 * The beginning of a large value, to show; empty for what is said to a model and what it answers, of which the
 * beginning says nothing.
 */
excerpt: string | null, };

/**
 * Whether a cycle's results are good.
 */
export type Verdict = "pass" | "fail";

/**
 * The versions of the app and of what it stands on.
 */
export type Versions = {
/**
 * Of the app.
 */
app: string,
/**
 * Of the history's format.
 */
format: string,
/**
 * Of SQLite, which is built in.
 */
sqlite: string,
/**
 * Of the system, as it calls itself.
 */
system: string,
/**
 * The machine's kind, such as `x86_64`.
 */
architecture: string,
/**
 * Of what draws the window; none without one.
 */
webview: string | null, };

/**
 * A wait before the next attempt at a provider.
 */
export type Wait = {
/**
 * The account, such as `anthropic`.
 */
account: string,
/**
 * When it ends, in milliseconds since 1970.
 */
untilMs: number, };

/**
 * A question that waits for a person.
 */
export type WaitingFor = {
/**
 * The question's address; the answer goes there.
 */
key: Key,
/**
 * The question.
 */
ask: Ask,
/**
 * Since when.
 */
sinceMs: number, };

/**
 * A webhook as a rule: JSON in the body of a POST, JSON or nothing in that of the answer.
 */
export type WebhookRule = {
/**
 * The address, beginning with https:// or http://.
 */
url: string,
/**
 * When it is told.
 */
on: Array<HookEvent>,
/**
 * After how many milliseconds it is given up; what the task allows a tool may be less.
 */
timeout: number,
/**
 * Whether the run goes on when it fails.
 */
continueOnError: boolean, };

/**
 * What deleting runs takes with it. The files in people's folders stay.
 */
export type WhatGoes = {
/**
 * How many of the runs are there.
 */
runs: number,
/**
 * Entries of their journals.
 */
events: number,
/**
 * Recorded values that no other run uses.
 */
values: number,
/**
 * How many bytes those have.
 */
bytes: number, };

/**
 * A model that reads more.
 */
export type WideModel = {
/**
 * Its name.
 */
model: string,
/**
 * How many tokens it reads.
 */
contextWindow: number, };

/**
 * A model of an Ollama that should read more.
 */
export type WidenModel = {
/**
 * Where the Ollama is.
 */
baseUrl: string,
/**
 * The model.
 */
model: string, };

/**
 * Where diagnostics were written, and what is in them.
 */
export type WrittenDiagnostics = {
/**
 * The file, absolute.
 */
path: string,
/**
 * The names of the texts in it.
 */
parts: Array<string>, };

/** Every command that the app answers: what it is asked with, and what it replies. */
export type Commands = {
  app_info: [null, AppInfo];
  file_handed: [null, HandedFile | null];
  diagnostics_save: [SaveDiagnostics, WrittenDiagnostics];
  data_size: [null, DataSize];
  data_back_up: [BackUp, BackedUp];
  checks_list: [null, CheckList];
  tools_list: [null, ToolList];
  providers_list: [null, ProviderList];
  sample_start: [null, StartedRun];
  task_check: [CheckTask, CheckedTask];
  task_open: [OpenTask, OpenedTask];
  task_save: [SaveTask, null];
  task_recent: [null, RecentTasks];
  run_start: [StartRun, StartedRun];
  run_list: [ListRuns, RunPage];
  run_models: [null, AskedModels];
  run_get: [OneRun, RunSummary];
  run_events: [ReadEvents, EventPage];
  run_deltas: [OneRun, Array<RunningText>];
  run_answer: [AnswerRun, null];
  run_stop: [OneRun, null];
  run_continue: [OneRun, null];
  run_fork: [OneRun, StartedRun];
  run_again: [RunAgain, StartedRun];
  run_pause: [OneRun, null];
  run_guide: [GuideRun, null];
  run_accept: [AcceptRun, RunResult];
  run_raise_budget: [RaiseBudget, null];
  run_report: [OneRun, RunReport];
  run_record: [RecordRun, Recorded];
  recording_play: [PlayRecording, StartedRun];
  run_waits: [OneRun, RunWaits];
  run_try_now: [OneRun, null];
  run_files: [OneRun, RunFiles];
  run_undo_preview: [PreviewUndo, UndoPreview];
  run_undo: [UndoRun, UndoResult];
  run_undo_finish: [OneRun, UndoResult];
  run_estimate: [OneRun, Estimate | null];
  run_check_plan: [CheckPlan, CheckedPlan];
  run_export: [ExportRun, ExportedRun];
  run_import: [ImportRun, ExportedRun];
  run_deletion: [SomeRuns, WhatGoes];
  run_delete: [SomeRuns, WhatGoes];
  artifact_read: [ReadArtifact, ArtifactValue];
  file_preview: [PreviewFile, FilePreview];
  file_before: [PreviewBefore, FilePreview];
  folder_info: [LookAtFolder, FolderInfo];
  settings_get: [null, Settings];
  settings_set: [Settings, Settings];
  grants_list: [null, Array<TaskGrant>];
  grant_revoke: [RevokeGrant, null];
  mcp_list: [null, ServerList];
  mcp_add: [AddServers, AddedServers];
  mcp_connect: [OneServer, McpServer];
  mcp_leave: [OneServer, null];
  mcp_approve: [ApproveServer, McpServer];
  mcp_remove: [OneServer, null];
  search_kinds: [null, SearchKinds];
  search_test: [null, SearchTest];
  key_set: [SetKey, KeyInfo];
  key_info: [KeyAccount, KeyInfo | null];
  key_delete: [KeyAccount, null];
  models_list: [ListModels, ModelList];
  servers_find: [null, FoundServers];
  model_widen: [WidenModel, WideModel];
  provider_test: [TestProvider, ProviderTest];
  draft_get: [GetDraft, Draft];
  draft_set: [SetDraft, null];
};
