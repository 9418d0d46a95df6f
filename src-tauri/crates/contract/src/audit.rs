//! Notes for an audit (seed *verist-steps*, "emitEvent"): what a step says of itself besides its output, such as which
//! model's answer it took its data from.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::hash::Hash;

/// A note for an audit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// What kind, such as `llm.extracted`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[ts(optional)]
    pub payload: Option<Value>,
    /// The model call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub llm_trace: Option<LlmTrace>,
}

impl AuditEvent {
    /// A note of this kind and nothing more.
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            payload: None,
            llm_trace: None,
        }
    }
}

/// A model call that succeeded, in numbers and addresses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LlmTrace {
    /// The model that answered, in the provider's own words.
    pub model: String,
    /// Tokens read.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
    /// The address of the request as it was sent.
    pub input_hash: Hash,
    /// The address of `{ model, content, finishReason }`, alike for all providers.
    pub output_hash: Hash,
    /// The request itself.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[ts(optional)]
    pub input: Option<Value>,
    /// The answer itself.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[ts(optional)]
    pub output: Option<Value>,
}

/// Reads a field that is there, null included: absence is not null.
pub fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
