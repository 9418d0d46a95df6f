//! Hooks: code that looks into the pipeline (seed *tepa-pipeline-in-detail*, "Pipeline lifecycle
//! events").

use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::person::{Answer, Ask};
use crate::step::StepError;
use crate::task_effect::TaskEffect;

/// The eight places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum HookEvent {
    /// Before a planner: `{ prompt, feedback? }`.
    PrePlanner,
    /// After a planner: the plan.
    PostPlanner,
    /// Before the steps: `{ plan, prompt, cycle, scratchpad, previousResults? }`.
    PreExecutor,
    /// After the steps: `{ results, logs, tokensUsed }`.
    PostExecutor,
    /// Before the judge: `{ prompt, results, scratchpad }`.
    PreEvaluator,
    /// After the judge: the evaluation.
    PostEvaluator,
    /// Before a step: `{ step, cycle }`.
    PreStep,
    /// After a step: `{ step, result, cycle }`.
    PostStep,
}

impl HookEvent {
    /// The name in keys.
    pub fn name(self) -> &'static str {
        match self {
            Self::PrePlanner => "prePlanner",
            Self::PostPlanner => "postPlanner",
            Self::PreExecutor => "preExecutor",
            Self::PostExecutor => "postExecutor",
            Self::PreEvaluator => "preEvaluator",
            Self::PostEvaluator => "postEvaluator",
            Self::PreStep => "preStep",
            Self::PostStep => "postStep",
        }
    }
}

impl HookEvent {
    /// When it is, in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::PrePlanner => "before planning",
            Self::PostPlanner => "after planning",
            Self::PreExecutor => "before the steps",
            Self::PostExecutor => "after the steps",
            Self::PreEvaluator => "before judging",
            Self::PostEvaluator => "after judging",
            Self::PreStep => "before each step",
            Self::PostStep => "after each step",
        }
    }
}

/// What every hook is told besides the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CycleMetadata {
    /// Counted from 1.
    pub cycle_number: u32,
    /// How many cycles are complete.
    pub total_cycles_used: u32,
    /// Tokens used so far.
    pub tokens_used: u64,
}

/// What a hook is told besides the data, and how it says that the built-in log line is to be left out.
#[derive(Debug)]
pub struct HookContext<'a> {
    /// Where the run stands.
    pub meta: CycleMetadata,
    /// The answer to the question that the call before asked for with [`HookReply::Wait`].
    pub answer: Option<&'a Answer>,
    /// What came of what the call before asked for with [`HookReply::Perform`].
    pub done: Option<&'a Result<Value, StepError>>,
    prevented: AtomicBool,
}

impl<'a> HookContext<'a> {
    /// A call's context.
    pub fn new(meta: CycleMetadata, answer: Option<&'a Answer>) -> Self {
        Self {
            meta,
            answer,
            done: None,
            prevented: AtomicBool::new(false),
        }
    }

    /// The same call's context after something was performed for it.
    #[must_use]
    pub fn after(self, done: Option<&'a Result<Value, StepError>>) -> Self {
        Self { done, ..self }
    }

    /// Leaves the built-in line of this event out of the run's log. Never the event itself.
    pub fn prevent_default(&self) {
        self.prevented.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::prevent_default`] was called.
    pub fn is_default_prevented(&self) -> bool {
        self.prevented.load(Ordering::Relaxed)
    }
}

/// What a hook says.
#[derive(Debug, Clone, PartialEq)]
pub enum HookReply {
    /// Nothing: the data passes through.
    Unchanged,
    /// Other data in its place.
    Replaced(Value),
    /// Ask a person, and call me again with the answer.
    Wait(Ask),
    /// Do this, with these words as its input, and call me again with what came of it. A hook reaches nothing by itself.
    Perform {
        /// What a person allowed: see [`Hook::needs`].
        effect: TaskEffect,
        /// What it is told.
        input: String,
    },
}

/// One registration. Hooks of an event are called in the order of their registration.
#[async_trait]
pub trait Hook: Send + Sync {
    /// A stable name, listed in the run's first event.
    fn id(&self) -> &str;

    /// Where it is called.
    fn event(&self) -> HookEvent;

    /// Whether the run goes on when it fails, with the data as it was before it.
    fn continue_on_error(&self) -> bool {
        false
    }

    /// Whether a person allowed it to change approved plans and steps without asking again.
    fn may_change_plans(&self) -> bool {
        false
    }

    /// What a person must have allowed; until then the hook is not called.
    fn needs(&self) -> Option<&TaskEffect> {
        None
    }

    /// Looks at the data. `context.answer` is there on the call after a [`HookReply::Wait`], `context.done` on the
    /// one after a [`HookReply::Perform`].
    async fn call(&self, data: &Value, context: &HookContext<'_>) -> Result<HookReply, StepError>;
}
