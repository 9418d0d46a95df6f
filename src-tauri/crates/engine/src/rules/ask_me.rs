//! `askMe: step` and `askMe: { tool: … }`: a person is asked before a step runs.

use async_trait::async_trait;
use contract::person::Ask;
use contract::plan::PlanStep;
use contract::ports::hook::{Hook, HookContext, HookEvent, HookReply};
use contract::step::{StepError, code};
use serde_json::Value;

use crate::hooks::allowed;

/// Asks before a step, or before steps that use a tool.
pub(super) struct AskBeforeStep {
    pub(super) id: String,
    pub(super) words: String,
    pub(super) tool: Option<String>,
}

#[async_trait]
impl Hook for AskBeforeStep {
    fn id(&self) -> &str {
        &self.id
    }

    fn event(&self) -> HookEvent {
        HookEvent::PreStep
    }

    async fn call(&self, data: &Value, context: &HookContext<'_>) -> Result<HookReply, StepError> {
        let step: PlanStep = serde_json::from_value(data["step"].clone())
            .map_err(|error| StepError::new(code::CALLBACK_ERROR, error.to_string()))?;
        if self.tool.as_ref().is_some_and(|tool| !step.tools.contains(tool)) {
            return Ok(HookReply::Unchanged);
        }
        if let Some(answer) = context.answer {
            return allowed(answer).map(|()| HookReply::Unchanged);
        }
        Ok(HookReply::Wait(Ask::RunStep {
            cycle: context.meta.cycle_number,
            step: step.id.clone(),
            title: step.title().to_owned(),
            tools: step.tools.clone(),
            rule: self.words.clone(),
        }))
    }
}
