//! How a step ends, and why it failed.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// Why a unit of work failed (seed *verist-steps*, "StepError").
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS, thiserror::Error)]
#[serde(rename_all = "camelCase")]
#[error("{message}")]
pub struct StepError {
    /// One of [`code`], or a step's own; snake_case.
    pub code: String,
    /// What happened.
    pub message: String,
    /// Safe to repeat with identical input and context.
    pub retryable: bool,
    /// What lies underneath, if anything does.
    #[serde(default)]
    pub cause: Option<Box<Value>>,
}

impl StepError {
    /// A failure that repeating does not mend.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            message: message.into(),
            retryable: false,
            cause: None,
        }
    }

    /// Marks the failure as safe to repeat.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.retryable = retryable;
        self
    }

    /// Adds what lies underneath.
    #[must_use]
    pub fn cause(mut self, cause: Value) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }
}

/// The codes in use, in one place (kernel page).
pub mod code {
    /// A step's input does not fit its schema.
    pub const INPUT_VALIDATION: &str = "input_validation";
    /// A step's output does not fit its schema.
    pub const OUTPUT_VALIDATION: &str = "output_validation";
    /// A step's body panicked or failed without a code of its own.
    pub const EXECUTION_FAILED: &str = "execution_failed";
    /// A plan breaks the rules of plans, twice.
    pub const PLAN_INVALID: &str = "plan_invalid";
    /// JSON of the wrong shape.
    pub const SCHEMA_ERROR: &str = "schema_error";
    /// Not JSON.
    pub const JSON_ERROR: &str = "json_error";
    /// The model's server asks for patience.
    pub const RATE_LIMIT: &str = "rate_limit";
    /// More than the model can read.
    pub const CONTEXT_LENGTH: &str = "context_length";
    /// The model's server refuses the request as it is.
    pub const INVALID_REQUEST: &str = "invalid_request";
    /// The model's server failed.
    pub const PROVIDER_ERROR: &str = "provider_error";
    /// The key is missing or refused.
    pub const AUTHENTICATION: &str = "authentication";
    /// A model answered in words where a tool call was asked for.
    pub const TOOL_NOT_CALLED: &str = "tool_not_called";
    /// No tool has this name.
    pub const TOOL_NOT_FOUND: &str = "tool_not_found";
    /// A tool said no.
    pub const TOOL_FAILED: &str = "tool_failed";
    /// A tool took too long.
    pub const TOOL_TIMEOUT: &str = "tool_timeout";
    /// Outside the envelope.
    pub const PERMISSION_DENIED: &str = "permission_denied";
    /// The run's tokens are used up.
    pub const BUDGET_EXCEEDED: &str = "budget_exceeded";
    /// A reply was cut off before it was complete.
    pub const TRUNCATED: &str = "truncated";
    /// A `{{reference}}` leads nowhere.
    pub const REFERENCE_UNRESOLVED: &str = "reference_unresolved";
    /// A loop's passes ran out before its condition held.
    pub const LOOP_LIMIT: &str = "loop_limit";
    /// A flow would run more steps than it may.
    pub const PHASE_LIMIT: &str = "phase_limit";
    /// An agent's rounds ran out before it answered.
    pub const ROUND_LIMIT: &str = "round_limit";
    /// None of a step's routes applies.
    pub const NO_ROUTE: &str = "no_route";
    /// A guardrail stopped the run or took its answer back.
    pub const BLOCKED_BY_GUARDRAIL: &str = "blocked_by_guardrail";
    /// A flow that cannot be run as it is.
    pub const FLOW_INVALID: &str = "flow_invalid";
    /// There is nothing of this name or at this address.
    pub const NOT_FOUND: &str = "not_found";
    /// A person refused the plan.
    pub const REJECTED: &str = "rejected";
    /// A person stopped the run.
    pub const CANCELLED: &str = "cancelled";
    /// The app ended in the middle.
    pub const INTERRUPTED: &str = "interrupted";
    /// The journal holds another input for this address.
    pub const INPUT_HASH_MISMATCH: &str = "input_hash_mismatch";
    /// A recorded value is gone.
    pub const MISSING_OUTPUT: &str = "missing_output";
    /// A recorded value is not what its address says.
    pub const OUTPUT_CORRUPTED: &str = "output_corrupted";
    /// A list that is compared by ids has an item without one, or two with the same.
    pub const NORMALIZATION_FAILED: &str = "normalization_failed";
    /// Another driver has the run.
    pub const CONFLICT: &str = "conflict";
    /// A hook failed.
    pub const CALLBACK_ERROR: &str = "callback_error";
    /// A person paused the run.
    pub const PAUSED: &str = "paused";
    /// A dependency failed.
    pub const SKIPPED: &str = "skipped";
}

/// Where a step of a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum StepStatus {
    /// Not started.
    Waiting,
    /// At work.
    Running,
    /// Finished with an output.
    Done,
    /// Taken over from an earlier cycle.
    Kept,
    /// Finished without one.
    Failed,
    /// Not run, because a dependency failed.
    Skipped,
    /// A person has to say something first.
    WaitingForPerson,
    /// It was at work on something when the app ended, and whether that happened cannot be told.
    Uncertain,
}

impl StepStatus {
    /// Whether the step has an output that others may use (the seed's `success`).
    pub fn is_success(self) -> bool {
        match self {
            Self::Done | Self::Kept => true,
            Self::Waiting | Self::Running | Self::Failed | Self::Skipped | Self::WaitingForPerson | Self::Uncertain => {
                false
            }
        }
    }
}
