//! `maxSteps: 6`: a longer plan goes back to the planner, once.

use async_trait::async_trait;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::step::StepError;
use serde_json::Value;

use crate::approval::CHANGES_REQUESTED;

/// Bounds the number of steps.
pub(super) struct MaxSteps {
    pub(super) id: String,
    pub(super) most: u32,
}

#[async_trait]
impl Hook for MaxSteps {
    fn id(&self) -> &str {
        &self.id
    }

    fn event(&self) -> HookEvent {
        HookEvent::PostPlanner
    }

    async fn call(&self, plan: &Value, _context: &HookContext<'_>) -> Result<HookReply, StepError> {
        let count = plan["steps"].as_array().map_or(0, Vec::len);
        if count <= self.most as usize {
            return Ok(HookReply::Unchanged);
        }
        let message = format!(
            "The plan has {count} steps; at most {} are allowed. Make a shorter plan.",
            self.most
        );
        Err(StepError::new(CHANGES_REQUESTED, message))
    }
}
