//! What a run asks a person, and what a person answers.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::access::Envelope;
use crate::hash::Hash;

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
    /// May this flow go on, or what should it know first?
    Gate {
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

/// What a person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Answer {
    /// Run this plan.
    Approve {
        /// Revisions inside the same envelope too, without asking again.
        revisions: bool,
    },
    /// Do not run it; the run ends.
    Reject {
        /// Why, for the record.
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
    /// What the flow asked for.
    Reply {
        /// Fits the question's schema.
        #[ts(type = "unknown")]
        value: Value,
    },
}
