//! What happened in a run: the entries of the journal (kernel page).
//!
//! One closed enum in the past tense; each variant is small and complete enough to draw the screen.
//! A leaf writes `…Started` with its input and `…Finished` with its result. No secret ever stands
//! in an event.

mod parts;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::access::Access;
use crate::audit::AuditEvent;
use crate::evaluation::{CriterionResult, Evaluation};
use crate::flow::GuardrailResult;
use crate::hash::Hash;
use crate::ids::{Key, RunId};
use crate::llm::LlmAttempt;
use crate::person::{Answer, Ask};
use crate::plan::{Plan, PlanStep};
use crate::run::{RunHeader, RunResult};
use crate::step::{StepError, StepStatus};
use crate::task::Limits;
use crate::undo::{FileDelta, FileRestore, NotRestored};
use crate::value_ref::ValueRef;

pub use self::parts::{
    ApprovedBy, HookResult, JudgeWords, JudgedPart, LlmResponseRef, LogLine, NamedHash, NamedValue, Purpose, Unblocked,
};

/// An entry as the journal holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunEventRecord {
    /// Whose.
    pub run_id: RunId,
    /// Counted from 1, without gaps.
    pub seq: u64,
    /// Milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// Its address; unique in the run.
    pub key: Key,
    /// What happened.
    pub event: RunEvent,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum RunEvent {
    /// The run began.
    RunStarted {
        /// All it needs to be driven.
        header: Box<RunHeader>,
    },
    /// The run went on after its end.
    RunReopened {
        /// Why, in words.
        why: String,
    },
    /// The run came to its end.
    RunFinished {
        /// What it leaves behind.
        result: RunResult,
    },
    /// A cycle of plan, run and judge began.
    CycleStarted {
        /// Counted from 1.
        cycle: u32,
    },
    /// An attempt or revision was opened under this address.
    AttemptOpened {
        /// The address without its number.
        of: Key,
        /// The number.
        n: u32,
        /// Why, in words.
        why: String,
    },

    /// A planner began.
    PlanningStarted {
        /// Which cycle.
        cycle: u32,
        /// What it was told to change: the judge's feedback, or a person's words.
        feedback: Option<String>,
        /// How many of a person's words are in that feedback or were in an earlier one.
        #[serde(default)]
        guidance: u32,
    },
    /// A planner's reply broke the rules of plans.
    PlanRefused {
        /// Which cycle.
        cycle: u32,
        /// Everything that is wrong with it.
        problems: Vec<String>,
        /// Whether the planner is told and tries again.
        again: bool,
    },
    /// There is a plan.
    PlanProposed {
        /// Which cycle.
        cycle: u32,
        /// The plan.
        plan: Plan,
        /// Its address, which an approval binds.
        plan_hash: Hash,
        /// What the planner noted; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        notes: Option<Vec<AuditEvent>>,
    },
    /// A person has to say something first.
    PersonAsked {
        /// What is asked.
        ask: Ask,
    },
    /// A person said something. The key is the question's.
    PersonAnswered {
        /// What was said.
        answer: Answer,
    },
    /// A plan may run as it is.
    PlanApproved {
        /// Which cycle.
        cycle: u32,
        /// Exactly this plan.
        plan_hash: Hash,
        /// By a person now, or by what was allowed before.
        by: ApprovedBy,
    },

    /// A step of the plan began.
    StepStarted {
        /// Which cycle.
        cycle: u32,
        /// Which step.
        step: String,
        /// What it was given: the address of each input by name.
        inputs: Vec<NamedHash>,
    },
    /// A step of the plan ended.
    StepFinished {
        /// Which cycle.
        cycle: u32,
        /// Which step.
        step: String,
        /// How: done, kept, failed or skipped.
        status: StepStatus,
        /// Its output.
        output: Option<ValueRef>,
        /// Why it failed.
        error: Option<StepError>,
        /// What its model calls cost.
        tokens_used: u64,
        /// How long it took.
        duration_ms: u64,
        /// Where a kept result was really made, such as `cycle_1.step_3`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        kept_from: Option<String>,
    },

    /// A model was asked.
    ModelCallStarted {
        /// Which cycle.
        cycle: u32,
        /// Which part of the work asks.
        purpose: Purpose,
        /// Which step, for a step's call.
        step: Option<String>,
        /// `provider:model`.
        model: String,
        /// The address of the call's meaning; a resumed run must arrive at the same one.
        input_hash: Hash,
        /// The request as it was sent.
        request: ValueRef,
        /// The address of the prompt template.
        prompt_hash: Hash,
    },
    /// One attempt of a model call ended.
    ModelAttempted {
        /// How, and what it cost.
        attempt: LlmAttempt,
    },
    /// A model answered.
    ModelCallFinished {
        /// The whole answer.
        response: Option<LlmResponseRef>,
        /// Or why there is none.
        error: Option<StepError>,
        /// How long it took, waits included.
        duration_ms: u64,
    },

    /// A tool was called.
    ToolStarted {
        /// Which cycle.
        cycle: u32,
        /// Which step.
        step: String,
        /// Which tool.
        tool: String,
        /// Its arguments, references resolved.
        args: ValueRef,
        /// What it will touch.
        access: Vec<Access>,
        /// The address of the call's meaning.
        input_hash: Hash,
    },
    /// A tool is about to change a file; committed with a full sync before it does.
    EffectIntended {
        /// The file, relative to the working folder.
        path: String,
        /// The address of its bytes before; none when it is not there yet.
        before: Option<Hash>,
        /// The address of its bytes after.
        after: Option<Hash>,
        /// What the tool returns when the change is made.
        output: ValueRef,
        /// Folders that are made for it, the outermost first; absent in older journals.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>", optional)]
        folders: Vec<String>,
    },
    /// A command changed files: what a comparison of the working folder before and after it found. The key is the
    /// execution's, marked.
    FolderChanged {
        /// The files, sorted by path.
        files: Vec<FileDelta>,
        /// Folders that were made, the outermost first.
        folders: Vec<String>,
        /// What was not compared, in words: a changed file in it is not listed here.
        left_out: Vec<String>,
    },
    /// A tool is about to do something that cannot be looked up afterwards, such as running a command; committed with
    /// a full sync before it does.
    OutsideEffectIntended {
        /// What, in words: the command line, or the request.
        what: String,
        /// What the tool returns when a person says that it was done.
        output: ValueRef,
    },
    /// A tool ended.
    ToolFinished {
        /// What it returned.
        output: Option<ValueRef>,
        /// Or why it did not.
        error: Option<StepError>,
        /// What it wrote to the scratchpad.
        scratchpad: Vec<NamedValue>,
        /// What it wrote to the run's log.
        logs: Vec<LogLine>,
        /// The address of everything that a call without effects read, as it was before the call; none
        /// when that cannot be told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        observed: Option<Vec<NamedHash>>,
        /// How long it took.
        duration_ms: u64,
    },
    /// The app wrote to the scratchpad.
    ScratchpadWritten {
        /// What.
        entry: NamedValue,
    },
    /// A hook returned.
    HookFinished {
        /// Which.
        hook: String,
        /// Where in the pipeline.
        event: crate::ports::hook::HookEvent,
        /// What it returned.
        result: HookResult,
        /// Whether the built-in line of this event is left out of the run's log (reference, `preventDefault`).
        #[serde(default)]
        prevent_default: bool,
    },
    /// A hook, or the person who approved it, changed a plan after it was proposed; this one runs.
    PlanChanged {
        /// Which cycle.
        cycle: u32,
        /// The hooks that changed it, in order; none when a person did.
        by: Vec<String>,
        /// The plan as it is now.
        plan: Plan,
        /// Its address.
        plan_hash: Hash,
        /// The ids of the steps that are new, other or gone.
        steps: Vec<String>,
        /// What changed, `{ path, before, after }` each, steps by their ids; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        diff: Option<Value>,
    },
    /// A hook changed a step before it ran.
    StepChanged {
        /// Which cycle.
        cycle: u32,
        /// The hooks that changed it, in order.
        by: Vec<String>,
        /// The step as it is now; its id is what it was.
        step: Box<PlanStep>,
    },

    /// The judging of a cycle began.
    JudgingStarted {
        /// Which cycle.
        cycle: u32,
    },
    /// The app checked a criterion.
    CheckFinished {
        /// Which cycle.
        cycle: u32,
        /// What was found.
        result: CriterionResult,
        /// How long it took.
        duration_ms: u64,
    },
    /// A cycle has its verdict.
    CycleJudged {
        /// Which cycle.
        cycle: u32,
        /// The whole verdict.
        evaluation: Evaluation,
        /// What the judge noted; absent in older journals.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        notes: Option<Vec<AuditEvent>>,
    },
    /// What the model is asked to judge in a cycle, and what it need not be asked again.
    JudgeAsked {
        /// Which cycle.
        cycle: u32,
        /// The address of each result that is shown, by its name.
        shown: Vec<NamedHash>,
        /// Judgements of earlier cycles about the same results, by the same model.
        reused: Vec<CriterionResult>,
        /// What was said with them; none where nothing is reused, and in older journals.
        #[serde(default)]
        said: Option<JudgeWords>,
        /// The questions, in their order; none in older journals, whose questions follow from the results.
        #[serde(default)]
        parts: Option<Vec<JudgedPart>>,
    },
    /// Another verdict counts: a hook's, or a person's who accepts the results as they are. The judge's stays in
    /// the history.
    VerdictChanged {
        /// Which cycle.
        cycle: u32,
        /// Who changed it: hooks, or `person`.
        by: Vec<String>,
        /// The verdict that counts now.
        evaluation: Evaluation,
    },
    /// A person said something that the next planner is told.
    GuidanceGiven {
        /// The words.
        words: String,
    },
    /// A person changed where the run stops.
    LimitsRaised {
        /// The limits from now on.
        limits: Limits,
    },
    /// A person takes back what the run changed in files, or brings it again; committed with a full sync, with the bytes
    /// that are there now, before anything is touched. The run's end stays what it was.
    UndoIntended {
        /// Whether what was undone is brought again.
        redo: bool,
        /// Every file that is about to change.
        files: Vec<FileRestore>,
    },
    /// What was intended was done, except for some files. The key is the intention's, without its mark.
    UndoFinished {
        /// The files that could not be restored.
        left: Vec<NotRestored>,
        /// Folders that the run had made and that went with their last file.
        folders: Vec<String>,
    },
    /// A person paused the run; what was at work is finished.
    RunPaused,
    /// A person let a paused run go on.
    RunContinued,

    /// A step of a workflow ended; its output, its commands and its events are one entry.
    WorkFinished {
        /// Which step.
        step: String,
        /// Which workflow.
        workflow_id: String,
        /// Which version of it.
        workflow_version: String,
        /// Its whole result, input included.
        result: Option<ValueRef>,
        /// Or why there is none.
        error: Option<StepError>,
        /// How long it took.
        duration_ms: u64,
    },
    /// A step told the outside something; never repeated.
    TopicEmitted {
        /// Under which topic.
        topic: String,
        /// What.
        payload: ValueRef,
    },
    /// Work that waited for somebody was answered.
    WorkUnblocked {
        /// How.
        how: Unblocked,
    },
    /// A person wrote over what steps computed.
    OverlayWritten {
        /// The fields with their values.
        values: ValueRef,
    },
    /// A step of a flow began. The key is the visit's, marked.
    PhaseStarted {
        /// The step's path: its key, after those of the groups around it.
        phase: String,
        /// The step's id, which names its span in a trace (agntz, "Steps"); absent when it is the key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(optional)]
        id: Option<String>,
        /// What kind of step: `ask`, `tool`, `agent`, `group`, `gate`, `answer`, `task` or `ref`.
        kind: String,
        /// How often it has begun in this state, from 1 on.
        visit: u32,
        /// What it alone is given; none when it sees the state around it.
        inputs: Option<ValueRef>,
    },
    /// A step of a flow ended. The key is the visit's.
    PhaseFinished {
        /// The step's path.
        phase: String,
        /// Its output.
        output: Option<ValueRef>,
        /// Or why there is none.
        error: Option<StepError>,
        /// What it wrote to the metadata.
        set: Vec<NamedValue>,
        /// How long it took.
        duration_ms: u64,
    },
    /// A step of a flow was not run: its condition is false, or a step that it reads failed.
    PhaseSkipped {
        /// The step's path.
        phase: String,
        /// Which visit, from 1 on.
        visit: u32,
        /// The failed step; none when its own condition is false.
        failed: Option<String>,
    },
    /// A flow went on from a step.
    PhaseRouted {
        /// The path of the step that ended.
        from: String,
        /// The key of the next step; none at the end.
        to: Option<String>,
        /// What the route wrote to the metadata.
        set: Vec<NamedValue>,
        /// What the route says in the log.
        log: Option<String>,
    },
    /// A flow gave its answer.
    AnswerGiven {
        /// The words.
        text: ValueRef,
        /// The answer that a guardrail took back.
        instead_of: Option<ValueRef>,
    },
    /// A guardrail looked.
    GuardrailJudged {
        /// What it found.
        result: GuardrailResult,
    },
}
