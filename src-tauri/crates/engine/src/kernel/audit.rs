//! What a step leaves for an audit besides its output: events, and artifacts by hash (seed
//! *verist-steps*, "emitEvent" and "onArtifact").

pub(crate) use contract::audit::present;
pub use contract::audit::{AuditEvent, LlmTrace};
use contract::hash::{Hash, NotCanonical};
use contract::step::{StepError, code};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The kind of the artifact that holds a step's output; made only when a snapshot is.
pub const STEP_OUTPUT: &str = "step-output";
/// The kind of the artifact that holds a step's commands; made only when a snapshot is.
pub const STEP_COMMANDS: &str = "step-commands";

/// A value under its address; without the value where only the address is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepArtifact {
    /// `llm-input`, `llm-output`, `tool-input`, `tool-output`, `file-before`, `file-after`, or a
    /// step's own word.
    pub kind: String,
    /// The address of the value's canonical JSON.
    pub hash: Hash,
    /// The value.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub content: Option<Value>,
}

/// How much of a value an artifact keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// The value and its address.
    #[default]
    Content,
    /// Its address alone, for what must not be stored.
    HashOnly,
}

impl StepArtifact {
    /// Captures a value.
    ///
    /// # Errors
    /// The value has no canonical form.
    pub fn capture(kind: impl Into<String>, content: Value, keep: Keep) -> Result<Self, NotCanonical> {
        let hash = Hash::of_value(&content)?;
        Ok(Self {
            kind: kind.into(),
            hash,
            content: (keep == Keep::Content).then_some(content),
        })
    }

    /// Whether the kernel alone makes artifacts of this kind.
    pub fn is_reserved(&self) -> bool {
        self.kind == STEP_OUTPUT || self.kind == STEP_COMMANDS
    }

    /// Fails for a kind that the kernel alone makes.
    ///
    /// # Errors
    /// `execution_failed`, naming the kind.
    pub fn refuse_reserved(&self) -> Result<(), StepError> {
        if !self.is_reserved() {
            return Ok(());
        }
        let message = format!("Artifact kind \"{}\" is reserved by the kernel.", self.kind);
        Err(StepError::new(code::EXECUTION_FAILED, message))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn absence_is_not_null() {
        let check = |value: Value| {
            let event: AuditEvent = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(serde_json::to_value(event).unwrap(), value);
        };
        check(json!({"type": "a"}));
        check(json!({"type": "a", "payload": null}));
    }

    #[test]
    fn the_kinds_of_the_kernel_are_refused() {
        let artifact = |kind| StepArtifact::capture(kind, json!(1), Keep::Content).unwrap();
        assert!(artifact("llm-output").refuse_reserved().is_ok());
        for kind in [STEP_OUTPUT, STEP_COMMANDS] {
            let error = artifact(kind).refuse_reserved().unwrap_err();
            assert_eq!(
                error.message,
                format!("Artifact kind \"{kind}\" is reserved by the kernel.")
            );
        }
    }

    #[test]
    fn hash_only_leaves_the_value_out() {
        let artifact = StepArtifact::capture("x", json!({"secret": 1}), Keep::HashOnly).unwrap();
        assert_eq!(artifact.content, None);
        assert_eq!(Ok(artifact.hash), Hash::of_value(&json!({"secret": 1})));
    }
}
