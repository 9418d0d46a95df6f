//! What a run of a flow begins with.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use super::{Flow, GuardrailOutcome, Timing};
use crate::step::StepError;

/// A flow that is about to run, complete: nothing is looked up later, so that a run can go on when
/// files have changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FlowRun {
    /// The flow.
    pub flow: Flow,
    /// Every flow and agent that a `ref` in it names, by id; those that these name too.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[ts(type = "{ [id: string]: Flow }", optional)]
    pub refs: IndexMap<String, Flow>,
    /// What it is given.
    #[serde(default)]
    #[ts(type = "unknown")]
    pub input: Value,
    /// The conversation up to now, the person's last words included.
    #[serde(default)]
    pub messages: Vec<ChatMessage>,
}

/// One turn of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChatMessage {
    /// Whose turn.
    pub role: ChatRole,
    /// What was said.
    pub content: String,
}

/// Whose turn it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum ChatRole {
    /// The person.
    User,
    /// The flow.
    Assistant,
}

impl ChatMessage {
    /// The person's words.
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: ChatRole::User,
            content: content.into(),
        }
    }

    /// The flow's words.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: ChatRole::Assistant,
            content: content.into(),
        }
    }
}

/// What a guardrail found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GuardrailResult {
    /// Its id, or its place among the guardrails of the flow, from 1 on.
    pub rail: String,
    /// Before the run or after it.
    pub timing: Timing,
    /// What a violation does.
    pub outcome: GuardrailOutcome,
    /// Whether it is violated.
    pub violated: bool,
    /// The score, when a model gave one.
    pub score: Option<f64>,
    /// Why the rule itself failed.
    pub error: Option<StepError>,
}
