//! What a run's state is made of: cycles, steps, visits of a flow's steps, calls, executions, files, questions.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::access::Access;
use crate::evaluation::{CriterionResult, Evaluation};
use crate::event::{ApprovedBy, LogLine, Purpose};
use crate::hash::Hash;
use crate::ids::Key;
use crate::llm::LlmAttempt;
use crate::person::Ask;
use crate::plan::{Plan, PlanStep};
use crate::step::{StepError, StepStatus};
use crate::value_ref::ValueRef;

/// A cycle of plan, run and judge.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CycleState {
    /// Counted from 1.
    pub number: u32,
    /// How far it is.
    pub phase: CyclePhase,
    /// What its planner was told to change.
    pub feedback: Option<String>,
    /// What was wrong with the planner's last reply.
    pub plan_problems: Vec<String>,
    /// The plan.
    pub plan: Option<Plan>,
    /// The plan's address.
    pub plan_hash: Option<Hash>,
    /// Who let it run.
    pub approved_by: Option<ApprovedBy>,
    /// The plan's steps by id, in the plan's order.
    #[ts(type = "{ [step: string]: StepState }")]
    pub steps: IndexMap<String, StepState>,
    /// What the app's checks found so far.
    pub checks: Vec<CriterionResult>,
    /// The verdict.
    pub evaluation: Option<Evaluation>,
    /// The verdict that counts in its place, when a hook or a person changed it.
    #[serde(default)]
    pub changed_verdict: Option<ChangedVerdict>,
}

/// A verdict over the judge's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChangedVerdict {
    /// Who changed it: hooks, or `person`.
    pub by: Vec<String>,
    /// The verdict that counts.
    pub evaluation: Evaluation,
}

/// How far a cycle is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum CyclePhase {
    /// A planner is at work.
    Planning,
    /// There is a plan, not yet approved.
    Proposed,
    /// The steps run.
    Running,
    /// The judge is at work.
    Judging,
    /// It has its verdict, or the run ended.
    Ended,
}

/// A step of a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StepState {
    /// Where it stands.
    pub status: StepStatus,
    /// When it began.
    pub started_at_ms: Option<i64>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What its model calls cost.
    pub tokens_used: u64,
    /// What it was given, by name.
    pub inputs: Vec<String>,
    /// Its output.
    pub output: Option<ValueRef>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// Where a kept result was really made, such as `cycle_1.step_3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kept_from: Option<String>,
    /// The keys of its model calls and tool executions, in order.
    pub leaves: Vec<Key>,
}

/// One visit of a flow's step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PhaseState {
    /// The step's path.
    pub phase: String,
    /// What kind of step; none when it was skipped.
    pub kind: Option<String>,
    /// Which visit, from 1 on.
    pub visit: u32,
    /// Where it stands.
    pub status: StepStatus,
    /// When it began.
    pub started_at_ms: i64,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it alone was given.
    pub inputs: Option<ValueRef>,
    /// Its output.
    pub output: Option<ValueRef>,
    /// Why it failed.
    pub error: Option<StepError>,
    /// The key of the step after it.
    pub routed_to: Option<String>,
    /// The keys of its model calls and tool executions, in order.
    pub leaves: Vec<Key>,
}

/// A model call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CallState {
    /// Whose.
    pub cycle: u32,
    /// What for.
    pub purpose: Purpose,
    /// Which step.
    pub step: Option<String>,
    /// `provider:model`.
    pub model: String,
    /// The request.
    pub request: ValueRef,
    /// The attempts so far.
    pub attempts: Vec<LlmAttempt>,
    /// The whole answer.
    pub response: Option<ValueRef>,
    /// Why there is none.
    pub error: Option<StepError>,
    /// How long it took; none while it is at work.
    pub duration_ms: Option<u64>,
}

/// A tool execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ToolState {
    /// Whose.
    pub cycle: u32,
    /// Which step.
    pub step: String,
    /// Which tool.
    pub tool: String,
    /// Its arguments.
    pub args: ValueRef,
    /// What it touches.
    pub access: Vec<Access>,
    /// What it returned.
    pub output: Option<ValueRef>,
    /// Why it did not.
    pub error: Option<StepError>,
    /// What it wrote to the log.
    pub logs: Vec<LogLine>,
    /// How long it took; none while it is at work.
    pub duration_ms: Option<u64>,
}

/// A change to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The file, relative to the working folder.
    pub path: String,
    /// The address of its bytes before; none when it was not there.
    pub before: Option<Hash>,
    /// The address of its bytes after.
    pub after: Option<Hash>,
    /// Whose.
    pub cycle: u32,
    /// Which step.
    pub step: String,
    /// Whether the change is known to have been made.
    pub done: bool,
}

/// A question that waits for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WaitingFor {
    /// The question's address; the answer goes there.
    pub key: Key,
    /// The question.
    pub ask: Ask,
    /// Since when.
    pub since_ms: i64,
}

impl CycleState {
    pub(super) fn new(number: u32) -> Self {
        Self {
            number,
            phase: CyclePhase::Planning,
            feedback: None,
            plan_problems: Vec::new(),
            plan: None,
            plan_hash: None,
            approved_by: None,
            steps: IndexMap::new(),
            checks: Vec::new(),
            evaluation: None,
            changed_verdict: None,
        }
    }

    /// Takes another plan in the place of the proposed one; what its steps did so far stays.
    pub(super) fn change_plan(&mut self, plan: &Plan, plan_hash: &Hash) {
        self.steps = plan
            .steps
            .iter()
            .map(|step| (step.id.clone(), self.steps.get(&step.id).cloned().unwrap_or_default()))
            .collect();
        self.plan = Some(plan.clone());
        self.plan_hash = Some(plan_hash.clone());
    }

    pub(super) fn change_step(&mut self, step: &PlanStep) {
        let found = self
            .plan
            .iter_mut()
            .flat_map(|plan| &mut plan.steps)
            .find(|known| known.id == step.id);
        if let Some(found) = found {
            found.clone_from(step);
        }
    }

    pub(super) fn propose(&mut self, plan: &Plan, plan_hash: &Hash) {
        self.phase = CyclePhase::Proposed;
        self.plan_problems.clear();
        self.steps = plan
            .steps
            .iter()
            .map(|step| (step.id.clone(), StepState::default()))
            .collect();
        self.plan = Some(plan.clone());
        self.plan_hash = Some(plan_hash.clone());
    }
}

impl PhaseState {
    pub(super) fn new(phase: &str, visit: u32, at_ms: i64) -> Self {
        Self {
            phase: phase.to_owned(),
            kind: None,
            visit,
            status: StepStatus::Skipped,
            started_at_ms: at_ms,
            duration_ms: None,
            inputs: None,
            output: None,
            error: None,
            routed_to: None,
            leaves: Vec::new(),
        }
    }
}

impl Default for StepState {
    fn default() -> Self {
        Self {
            status: StepStatus::Waiting,
            started_at_ms: None,
            duration_ms: None,
            tokens_used: 0,
            inputs: Vec::new(),
            output: None,
            error: None,
            kept_from: None,
            leaves: Vec::new(),
        }
    }
}
