//! What events are made of besides the contract's other types.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hash::Hash;
use crate::llm::LlmResponse;
use crate::step::StepError;
use crate::value_ref::ValueRef;

/// What was said to work that waited (kernel page, "Commands").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Unblocked {
    /// What waited for a review is carried out.
    Approved,
    /// It is not.
    Rejected,
    /// It is, and a person wrote over what the step computed.
    Overridden,
    /// A suspension ends.
    Resumed {
        /// What it waited for.
        data: ValueRef,
    },
}

/// Which part of the work asks a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// The planner.
    Plan,
    /// A step's arguments.
    Arguments,
    /// A reasoning step.
    Reasoning,
    /// A round of an agent step.
    Agent,
    /// The judge.
    Judge,
    /// A step of a flow.
    Phase,
    /// The words of a flow's answer.
    Answer,
    /// A guardrail.
    Guardrail,
}

/// Who let a plan run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ApprovedBy {
    /// A person, this plan.
    Person,
    /// A person earlier: this plan stays inside what they approved.
    EarlierApproval,
    /// The task asks nobody.
    NoApprovalNeeded,
}

/// What a hook returned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HookResult {
    /// Nothing: the data passes through.
    Unchanged,
    /// Other data in its place.
    Replaced {
        /// The data.
        value: ValueRef,
    },
    /// It failed; the data is as it was before it.
    Failed {
        /// Why.
        error: StepError,
    },
}

/// A model's answer in the journal; long texts are artifacts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LlmResponseRef {
    /// The whole [`LlmResponse`].
    pub value: ValueRef,
    /// Why it stopped.
    pub finish_reason: crate::llm::FinishReason,
    /// What it cost.
    pub usage: crate::llm::Usage,
}

impl LlmResponseRef {
    /// Names a response by the value that holds it.
    pub fn of(response: &LlmResponse, value: ValueRef) -> Self {
        Self {
            value,
            finish_reason: response.finish_reason,
            usage: response.usage,
        }
    }
}

/// What a judge says besides its judgements.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JudgeWords {
    /// 0 to 1.
    pub confidence: f64,
    /// What to change.
    pub feedback: Option<String>,
    /// What was accomplished.
    pub summary: Option<String>,
}

/// Criteria that are judged in one question, and the results that it shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct JudgedPart {
    /// The ids of the criteria.
    pub criteria: Vec<String>,
    /// The names of the results.
    pub shown: Vec<String>,
    /// How much of each is shown at most, in characters.
    pub most: u32,
}

/// A value's address under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NamedHash {
    /// The name.
    pub name: String,
    /// The address.
    pub hash: Hash,
}

/// A value under a name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NamedValue {
    /// The name.
    pub name: String,
    /// The value.
    pub value: ValueRef,
}

/// A line of the run's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LogLine {
    /// `debug`, `info`, `warn` or `error`.
    pub level: String,
    /// The words.
    pub message: String,
}
