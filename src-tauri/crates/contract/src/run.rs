//! One execution of a task: how it starts, stands and ends.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::access::Envelope;
use crate::cost::{Cost, Prices};
use crate::flow::FlowRun;
use crate::ids::RunId;
use crate::rule::HookRule;
use crate::step::StepError;
use crate::task::Task;
use crate::value_ref::ValueRef;

/// All that a run needs to be driven, kept in its first event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunHeader {
    /// The task as it was when the run started.
    pub task: Task,
    /// What to call the run.
    pub title: String,
    /// What it may touch at most.
    pub envelope: Envelope,
    /// Which model does what.
    pub roles: Roles,
    /// The registered hooks, in order, so that a resumed run meets the same ones.
    pub hooks: Vec<String>,
    /// The task's rules that a person allowed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<HookRule>>", optional)]
    pub rules: Vec<HookRule>,
    /// What the run's models cost, as it was known when the run started.
    #[serde(default, skip_serializing_if = "Prices::is_empty")]
    #[ts(as = "Option<Prices>", optional)]
    pub prices: Prices,
    /// The recording that answers for the models, when it is not a model that does.
    pub recording: Option<String>,
    /// The version of the app, for the record.
    pub app_version: String,
    /// The flow that runs in place of the task; the task is then its name and its limits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub flow: Option<Box<FlowRun>>,
}

/// Models by what they do, each as `provider:model`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Roles {
    /// Makes plans.
    pub planner: String,
    /// Judges results.
    pub judge: String,
    /// Does simple steps.
    pub executor_low: String,
    /// Does steps that need thought.
    pub executor_high: String,
}

/// Where a run stands (goal-pipeline page, "Ends").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// At work.
    Running,
    /// A person has to say something first.
    Waiting,
    /// A person paused it.
    Paused,
    /// The criteria hold.
    Pass,
    /// They do not, and it ended.
    Fail,
    /// A limit or a person ended it.
    Terminated,
}

impl RunStatus {
    /// Whether nothing more happens by itself.
    pub fn is_end(self) -> bool {
        match self {
            Self::Pass | Self::Fail | Self::Terminated => true,
            Self::Running | Self::Waiting | Self::Paused => false,
        }
    }
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The judge passed it, or the flow came to its end.
    Passed,
    /// A person accepted it as it is.
    Accepted,
    /// The cycles ran out.
    MaxCycles,
    /// The same plan failed the same way twice.
    NoProgress,
    /// A person refused the plan.
    Rejected,
    /// Something failed for good.
    Error,
    /// The tokens ran out.
    Budget,
    /// A person stopped it.
    Cancelled,
}

impl StopReason {
    /// The status that goes with the reason.
    pub fn status(self) -> RunStatus {
        match self {
            Self::Passed | Self::Accepted => RunStatus::Pass,
            Self::MaxCycles | Self::NoProgress | Self::Rejected | Self::Error => RunStatus::Fail,
            Self::Budget | Self::Cancelled => RunStatus::Terminated,
        }
    }
}

/// What a run leaves behind (seed *tepa-pipeline-in-detail*, "TepaResult").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    /// Pass, fail or terminated.
    pub status: RunStatus,
    /// Why.
    pub stop_reason: StopReason,
    /// How many cycles ran.
    pub cycles: u32,
    /// What all model calls cost together.
    pub tokens_used: u64,
    /// What that is in money; none for a recording, which costs nothing.
    #[serde(default)]
    pub cost: Option<Cost>,
    /// The judge's summary, its feedback, or what went wrong.
    pub feedback: String,
    /// What was really produced.
    pub outputs: Vec<OutputArtifact>,
    /// Why it failed, with a code to decide by; a flow's run that failed has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<StepError>,
}

/// The seed's `TepaResult`: a run's result with its log and what it cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunReport {
    /// Pass, fail or terminated; where it stands while it is not at its end.
    pub status: RunStatus,
    /// How many cycles ran.
    pub cycles: u32,
    /// What all model calls cost together.
    pub tokens_used: u64,
    /// What that is in money; none for a recording.
    pub cost: Option<Cost>,
    /// What was really produced.
    pub outputs: Vec<OutputArtifact>,
    /// What happened, line by line; a fold of the journal.
    pub logs: Vec<LogEntry>,
    /// The judge's summary, its feedback, or what went wrong; empty while the run is not at its end.
    pub feedback: String,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
}

/// A line of a run's log (seed *tepa-pipeline-in-detail*, "LogEntry").
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Milliseconds since 1970, UTC.
    pub timestamp_ms: i64,
    /// The cycle it belongs to; 0 before the first.
    pub cycle: u32,
    /// The step it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub step: Option<String>,
    /// The tool it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tool: Option<String>,
    /// The words.
    pub message: String,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub duration_ms: Option<u64>,
    /// What it cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub tokens_used: Option<u64>,
}

/// Something a run produced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OutputArtifact {
    /// The file, relative to the working folder; `answer` for a final answer.
    pub path: String,
    /// What it was expected to be, or which step made it.
    pub description: String,
    /// What kind of thing it is.
    #[serde(rename = "type")]
    pub kind: OutputKind,
    /// The value of a final answer.
    pub value: Option<ValueRef>,
}

/// The seed's kinds of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum OutputKind {
    /// A file.
    File,
    /// A value.
    Data,
    /// Words for a person.
    Report,
}

/// A run as a list shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    /// Which run.
    pub run_id: RunId,
    /// What it is called.
    pub title: String,
    /// Where it stands.
    pub status: RunStatus,
    /// Why it ended.
    pub stop_reason: Option<StopReason>,
    /// How many cycles began.
    pub cycles: u32,
    /// What it cost so far.
    pub tokens_used: u64,
    /// The working folder.
    pub folder: String,
    /// Whether a recording answered for the models.
    pub recorded: bool,
    /// Milliseconds since 1970, UTC.
    pub started_at_ms: i64,
    /// When something last happened.
    pub updated_at_ms: i64,
    /// When it ended.
    pub ended_at_ms: Option<i64>,
    /// Whether somebody drives it now; a run that is not at its end and not driven was interrupted,
    /// or waits for a person.
    pub driven: bool,
}
