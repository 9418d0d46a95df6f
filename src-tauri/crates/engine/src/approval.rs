//! A person's approval of a plan: a hook like any other, the last one after the planner. It binds
//! the plan's hash; exactly that plan is run (goal-pipeline page, "Approval").

use async_trait::async_trait;
use contract::person::{Answer, Ask};
use contract::ports::hook::{CycleMetadata, Hook, HookEvent, HookReply};
use contract::step::{StepError, code};
use serde_json::Value;

/// The code of a plan that goes back to the planner with a person's words.
pub const CHANGES_REQUESTED: &str = "changes_requested";

/// Asks for the approval of one plan.
pub struct Approval {
    /// The question; none when this plan needs no answer.
    pub ask: Option<Ask>,
}

#[async_trait]
impl Hook for Approval {
    fn id(&self) -> &str {
        "approval"
    }

    fn event(&self) -> HookEvent {
        HookEvent::PostPlanner
    }

    async fn call(&self, _plan: &Value, _meta: CycleMetadata, answer: Option<&Answer>) -> Result<HookReply, StepError> {
        let Some(ask) = &self.ask else {
            return Ok(HookReply::Unchanged);
        };
        match answer {
            None => Ok(HookReply::Wait(ask.clone())),
            Some(Answer::Approve { .. }) => Ok(HookReply::Unchanged),
            Some(Answer::AskForChanges { words }) => Err(StepError::new(CHANGES_REQUESTED, words.clone())),
            Some(Answer::Reject { reason }) => {
                let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
                let message = reason.map_or("You rejected the plan.".to_owned(), |reason| {
                    format!("You rejected the plan: {reason}")
                });
                Err(StepError::new(code::REJECTED, message))
            }
            Some(Answer::MarkDone | Answer::RunAgain | Answer::StopRun | Answer::Reply { .. }) => Err(StepError::new(
                code::REJECTED,
                "The answer does not belong to this question.",
            )),
        }
    }
}
