//! `stop: { below: 0.3 }` and `accept: { above: 0.9 }`: what a verdict of such confidence leads to. A judge that is unsure
//! stops the run whatever its verdict is: a pass that it hardly believes is what a person would want to see. Everything
//! else is about failed verdicts. Accepting is an overlay: the judge's own verdict stays in the history.

use async_trait::async_trait;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::rule::Confidence;
use contract::step::{StepError, code};
use serde_json::Value;

/// Ends the run.
pub(super) struct Stop {
    pub(super) id: String,
    pub(super) words: String,
    pub(super) bound: Confidence,
}

/// Passes the cycle.
pub(super) struct Accept {
    pub(super) id: String,
    pub(super) words: String,
    pub(super) bound: Confidence,
}

fn is_meant(evaluation: &Value, bound: Confidence) -> bool {
    evaluation["confidence"]
        .as_f64()
        .is_some_and(|confidence| bound.holds(confidence))
}

fn fails(evaluation: &Value) -> bool {
    evaluation["verdict"] == "fail"
}

#[async_trait]
impl Hook for Stop {
    fn id(&self) -> &str {
        &self.id
    }

    fn event(&self) -> HookEvent {
        HookEvent::PostEvaluator
    }

    async fn call(&self, evaluation: &Value, _context: &HookContext<'_>) -> Result<HookReply, StepError> {
        let every = matches!(self.bound, Confidence::Below(_));
        if !is_meant(evaluation, self.bound) || !(every || fails(evaluation)) {
            return Ok(HookReply::Unchanged);
        }
        let said = if fails(evaluation) { "feedback" } else { "summary" };
        let feedback = evaluation[said].as_str().unwrap_or_default();
        Err(StepError::new(
            code::REJECTED,
            format!("{} (your rule). {feedback}", self.words),
        ))
    }
}

#[async_trait]
impl Hook for Accept {
    fn id(&self) -> &str {
        &self.id
    }

    fn event(&self) -> HookEvent {
        HookEvent::PostEvaluator
    }

    async fn call(&self, evaluation: &Value, _context: &HookContext<'_>) -> Result<HookReply, StepError> {
        if !is_meant(evaluation, self.bound) || !fails(evaluation) {
            return Ok(HookReply::Unchanged);
        }
        let mut accepted = evaluation.clone();
        let feedback = evaluation["feedback"].as_str().unwrap_or_default();
        accepted["summary"] = format!("{} (your rule). The judge had said: {feedback}", self.words).into();
        accepted["verdict"] = "pass".into();
        Ok(HookReply::Replaced(accepted))
    }
}
