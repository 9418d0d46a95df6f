//! One execution of a task: how it starts, stands and ends.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::access::Envelope;
use crate::cost::{Cost, Prices};
use crate::flow::FlowRun;
use crate::ids::RunId;
use crate::llm::Effort;
use crate::plan::Tier;
use crate::rule::HookRule;
use crate::server_tool::ServerTool;
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
    /// The tools of MCP servers that the run may be offered, as a person had approved them when it began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<ServerTool>>", optional)]
    pub server_tools: Vec<ServerTool>,
    /// What a step of a plan may name beside the models of its role, each as `provider:model`; what is proposed first
    /// (models page, "Providers").
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[ts(as = "Option<Vec<String>>", optional)]
    pub models: Vec<String>,
}

impl RunHeader {
    /// Every model that a step of a plan may name: those that do steps, then the others.
    pub fn step_models(&self) -> Vec<String> {
        let roles = [&self.roles.executor_low, &self.roles.executor_high];
        let mut models: Vec<String> = Vec::with_capacity(self.models.len() + roles.len());
        for model in roles.into_iter().chain(&self.models) {
            if !models.contains(model) {
                models.push(model.clone());
            }
        }
        models
    }
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
    /// How much each thinks, where a person said so.
    #[serde(default, skip_serializing_if = "PerRole::is_empty")]
    #[ts(as = "Option<PerRole<Effort>>", optional)]
    pub reasoning: PerRole<Effort>,
    /// What is asked when one does not answer; only what a person set.
    #[serde(default, skip_serializing_if = "Fallbacks::is_empty")]
    #[ts(as = "Option<Fallbacks>", optional)]
    pub fallbacks: Fallbacks,
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Making plans.
    Planner,
    /// Judging results.
    Judge,
    /// Simple steps.
    ExecutorLow,
    /// Steps that need thought.
    ExecutorHigh,
}

impl Part {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Planner, Self::Judge, Self::ExecutorLow, Self::ExecutorHigh];

    /// Who does a step of this tier.
    pub fn of_tier(tier: Tier) -> Self {
        match tier {
            Tier::Low => Self::ExecutorLow,
            Tier::High => Self::ExecutorHigh,
        }
    }
}

/// Something for each role, where it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PerRole<T> {
    /// For whoever makes plans.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub planner: Option<T>,
    /// For whoever judges results.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub judge: Option<T>,
    /// For simple steps.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub executor_low: Option<T>,
    /// For steps that need thought.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub executor_high: Option<T>,
}

fn nothing<T>() -> Option<T> {
    None
}

impl<T> Default for PerRole<T> {
    fn default() -> Self {
        Self {
            planner: None,
            judge: None,
            executor_low: None,
            executor_high: None,
        }
    }
}

impl<T> PerRole<T> {
    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        Part::ALL.iter().all(|part| self.of(*part).is_none())
    }

    /// What was said for a role.
    pub fn of(&self, part: Part) -> Option<&T> {
        match part {
            Part::Planner => self.planner.as_ref(),
            Part::Judge => self.judge.as_ref(),
            Part::ExecutorLow => self.executor_low.as_ref(),
            Part::ExecutorHigh => self.executor_high.as_ref(),
        }
    }

    /// The same with what `other` says where nothing was said.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            planner: self.planner.or(other.planner),
            judge: self.judge.or(other.judge),
            executor_low: self.executor_low.or(other.executor_low),
            executor_high: self.executor_high.or(other.executor_high),
        }
    }
}

/// The models that are asked when the first choice does not answer, each as `provider:model`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase", default)]
pub struct Fallbacks {
    /// By role.
    #[serde(skip_serializing_if = "PerRole::is_empty")]
    #[ts(as = "Option<PerRole<String>>", optional)]
    pub roles: PerRole<String>,
    /// For every model of an account, by the account's name; a role's own goes before it.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[ts(as = "Option<BTreeMap<String, String>>", optional)]
    pub accounts: BTreeMap<String, String>,
}

impl Fallbacks {
    /// Whether none is set.
    pub fn is_empty(&self) -> bool {
        self.roles.is_empty() && self.accounts.is_empty()
    }
}

impl Roles {
    /// One model for everything.
    pub fn all(model: impl Into<String>) -> Self {
        let model = model.into();
        Self {
            planner: model.clone(),
            judge: model.clone(),
            executor_low: model.clone(),
            executor_high: model,
            reasoning: PerRole::default(),
            fallbacks: Fallbacks::default(),
        }
    }

    /// The model of a role.
    pub fn model(&self, part: Part) -> &str {
        match part {
            Part::Planner => &self.planner,
            Part::Judge => &self.judge,
            Part::ExecutorLow => &self.executor_low,
            Part::ExecutorHigh => &self.executor_high,
        }
    }

    /// What is asked when a model does not answer: what was set for the role that asks, where the model is the role's
    /// own; else for another role with that model; else for the model's account. A flow's steps ask for no role.
    pub fn fallback(&self, part: Option<Part>, model: &str) -> Option<&str> {
        let of_role = |part: Part| self.fallbacks.roles.of(part).filter(|_| self.model(part) == model);
        let of_account = || self.fallbacks.accounts.get(model.split_once(':')?.0);
        let set = part
            .and_then(of_role)
            .or_else(|| Part::ALL.into_iter().find_map(of_role))
            .or_else(of_account);
        set.map(String::as_str).filter(|set| *set != model)
    }
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
    pub timestamp: i64,
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

/// What a run used of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ModelUse {
    /// `provider:model`.
    pub model: String,
    /// The tokens of all attempts.
    pub tokens: u64,
    /// What those cost, in the run's currency; none when the price is not known.
    pub cost: Option<f64>,
    /// How long its attempts took together.
    pub time_ms: u64,
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
    /// What that is in money; none for a recording, which costs nothing.
    pub cost: Option<Cost>,
    /// The models that were asked, in the order in which they first were; none where a recording answered.
    pub models: Vec<ModelUse>,
    /// How long it was at work: without the time in which it waited for a person, stood paused or was at its end.
    pub worked_ms: u64,
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
