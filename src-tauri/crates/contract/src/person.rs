//! What a run asks a person, and what a person answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::access::{Access, Envelope};
use crate::hash::Hash;
use crate::plan::Plan;
use crate::task_effect::TaskEffect;

/// A question that waits, durably, for a person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Ask {
    /// May this plan run?
    ApprovePlan {
        /// Whose plan it is.
        cycle: u32,
        /// Exactly this plan.
        plan_hash: Hash,
        /// What it may touch.
        envelope: Envelope,
    },
    /// Did this change happen before the app ended?
    UncertainEffect {
        /// The cycle it belongs to.
        cycle: u32,
        /// The step it belongs to.
        step: String,
        /// The tool that was at work.
        tool: String,
        /// The file it was about to change, or what else it was about to do: a command line, a request.
        path: String,
    },
    /// May this step do something that is not inside the envelope?
    Permission {
        /// The cycle it belongs to; 0 in a flow.
        cycle: u32,
        /// The step it belongs to.
        step: String,
        /// The tool that it calls.
        tool: String,
        /// All that is missing.
        access: Vec<Access>,
        /// What it wants to do, in words.
        wants: String,
        /// Why it is asked about.
        reason: String,
    },
    /// May the app do what the task's file asks for by itself? Asked before the first step, once for each content.
    AllowEffect {
        /// Exactly this.
        effect: TaskEffect,
        /// Its address.
        hash: Hash,
        /// What it would do, in words.
        wants: String,
    },
    /// May this flow go on, or what should it know first? A step of a plan asks for words so, too.
    Gate {
        /// The cycle of the plan whose step asks; 0 in a flow, and in older journals.
        #[serde(default, skip_serializing_if = "is_flow")]
        #[ts(as = "Option<u32>", optional)]
        cycle: u32,
        /// The step that asks.
        phase: String,
        /// What the person reads.
        text: String,
        /// JSON Schema of the answer; without one it is yes or no.
        #[ts(type = "unknown")]
        question: Option<Value>,
    },
    /// May this step run? A rule of the task wants to know.
    RunStep {
        /// The cycle it belongs to.
        cycle: u32,
        /// The step.
        step: String,
        /// What it does, in a few words.
        title: String,
        /// The tools it calls.
        tools: Vec<String>,
        /// The rule, in words.
        rule: String,
    },
}

fn is_flow(cycle: &u32) -> bool {
    *cycle == 0
}

/// What a person said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// Run this plan.
    Approve {
        /// Revisions inside the same envelope too, without asking again.
        revisions: bool,
    },
    /// Run the plan as I changed it.
    ApproveEdited {
        /// The plan that runs in the place of the one that was shown.
        plan: Plan,
        /// Revisions inside the same envelope too, without asking again.
        revisions: bool,
    },
    /// No. A plan or a step of a plan does not run and the run ends; of what is not inside the envelope, only the step
    /// fails.
    Reject {
        /// Why, for the record and for the next planner.
        reason: Option<String>,
    },
    /// Make another plan.
    AskForChanges {
        /// What should be different, for the planner.
        words: String,
    },
    /// The uncertain change did happen.
    MarkDone,
    /// It did not; do it now.
    RunAgain,
    /// Neither; end the run.
    StopRun,
    /// Yes to what is not inside the envelope.
    Allow {
        /// How far the yes reaches.
        scope: AllowedFor,
    },
    /// Another answer allowed the same meanwhile. Never a person's to send.
    AllowedMeanwhile,
    /// What the flow asked for.
    Reply {
        /// Fits the question's schema.
        #[ts(type = "unknown")]
        value: Value,
    },
}

/// How far a yes to what is not inside the envelope reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum AllowedFor {
    /// This call.
    Once,
    /// The same for the rest of this run.
    Run,
    /// The same in every run of this task, until it is revoked.
    Task,
}
