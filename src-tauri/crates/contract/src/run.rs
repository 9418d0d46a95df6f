//! One execution of a task: how it starts, stands and ends.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::access::Envelope;
use crate::flow::FlowRun;
use crate::ids::RunId;
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
    /// The judge's summary, its feedback, or what went wrong.
    pub feedback: String,
    /// What was really produced.
    pub outputs: Vec<OutputArtifact>,
    /// Why it failed, with a code to decide by; a flow's run that failed has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<StepError>,
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
