//! What a run of a flow came to.

use contract::step::StepError;
use serde_json::{Map, Value};

use super::body::Ended;

/// The end of a flow, with its state for whoever looks closer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowOutcome {
    /// The answer, or what a guardrail said in its place; none when the flow just ended.
    pub text: Option<String>,
    /// What it gives back; null when it failed.
    pub output: Value,
    /// Why it failed.
    pub error: Option<StepError>,
    /// What it was given, by its own names.
    pub given: Map<String, Value>,
    /// Every output by key.
    pub outputs: Map<String, Value>,
    /// Everything that was set.
    pub metadata: Map<String, Value>,
    /// The keys of the steps that ran, in order.
    pub phase_history: Vec<String>,
    /// How often each of them was run again.
    pub retry_counts: Map<String, Value>,
}

impl FlowOutcome {
    pub(super) fn failed(error: StepError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }

    pub(super) fn of(ended: Ended) -> Self {
        let Ended { state, result } = ended;
        let (phase_history, retry_counts) = (state.phase_history(), state.retry_counts());
        let (given, outputs, metadata) = state.into_maps();
        let mut outcome = Self {
            given,
            outputs,
            metadata,
            phase_history,
            retry_counts,
            ..Self::default()
        };
        match result {
            Ok(done) => {
                outcome.output = done.output;
                outcome.text = done.text;
            }
            Err(error) => outcome.error = Some(error),
        }
        outcome
    }

    /// What it was given and every output by key, as a manifest sees it.
    pub fn state(&self) -> Map<String, Value> {
        let mut merged = self.given.clone();
        merged.extend(self.outputs.clone());
        merged
    }
}

/// An agntz code for one of ours: what a person who knows the manifest's own system looks for.
pub fn agntz_code(code: &str) -> String {
    use contract::step::code as ours;
    match code {
        ours::TOOL_FAILED => "TOOL_EXECUTION_ERROR".to_owned(),
        ours::PROVIDER_ERROR => "MODEL_ERROR".to_owned(),
        ours::CANCELLED => "INVOCATION_CANCELLED".to_owned(),
        ours::BUDGET_EXCEEDED => "TOKEN_BUDGET_EXCEEDED".to_owned(),
        ours::ROUND_LIMIT => "MAX_STEPS_EXCEEDED".to_owned(),
        ours::SCHEMA_ERROR | ours::JSON_ERROR => "STRUCTURED_OUTPUT_INVALID".to_owned(),
        ours::NOT_FOUND => "AGENT_NOT_FOUND".to_owned(),
        // `TOOL_TIMEOUT`, `TOOL_NOT_FOUND` and all others are the same word in large letters.
        other => other.to_uppercase(),
    }
}
