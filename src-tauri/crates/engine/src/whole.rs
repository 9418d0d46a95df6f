//! Whether a model's answer may be worked with: all of it came, and nobody took it away.
//!
//! Asked before its words or calls are looked at. Deliberately not here: whether the words mean anything.

use contract::llm::{FinishReason, LlmResponse};
use contract::step::{StepError, code};

/// Lets a whole answer pass.
///
/// # Errors
/// `truncated` for one that ran out of room; `provider_error` for one that the model refused, that its provider took
/// away, or whose end nobody can explain (models.md, finish reasons).
pub(crate) fn whole(response: &LlmResponse) -> Result<(), StepError> {
    match response.finish_reason {
        FinishReason::EndTurn | FinishReason::StopSequence | FinishReason::ToolUse => Ok(()),
        FinishReason::MaxTokens => Err(StepError::new(
            code::TRUNCATED,
            "the model's answer was cut off before it was complete",
        )),
        FinishReason::Refusal => Err(StepError::new(
            code::PROVIDER_ERROR,
            "the model declined to answer; choose another model, or say in other words what you want",
        )),
        FinishReason::ContentFilter => Err(StepError::new(
            code::PROVIDER_ERROR,
            "the provider of the model took its answer away, since its filter did not let it pass; choose another \
             model, or say in other words what you want",
        )),
        FinishReason::Unknown => Err(StepError::new(
            code::PROVIDER_ERROR,
            "the model stopped for a reason of its server's own, so its answer may not be whole; try again, or choose \
             another model",
        )),
    }
}

/// The same for who asks once more when there was no room: a plan or a verdict can be made shorter.
pub(crate) fn whole_or_cut_off(response: &LlmResponse) -> Result<(), StepError> {
    match response.finish_reason {
        FinishReason::MaxTokens => Ok(()),
        _ => whole(response),
    }
}
