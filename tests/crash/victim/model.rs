//! A model that answers by the leaf that asks, the same in every process.

use std::sync::Arc;

use async_trait::async_trait;
use contract::llm::{AttemptStatus, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, Usage};
use contract::ports::provider::{LlmProvider, Sink};
use support::script::Script;

use super::log::Log;
use super::works;

pub(crate) struct Model {
    work: String,
    log: Arc<Log>,
    judge: Arc<Script>,
}

impl Model {
    pub(crate) fn new(work: &str, log: Arc<Log>) -> Self {
        Self {
            work: work.to_owned(),
            log,
            judge: Script::new([]),
        }
    }
}

#[async_trait]
impl LlmProvider for Model {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let key = request.key.as_str().to_owned();
        self.log.line(&format!("model {key}"));
        let text = if key.contains("/plan#") {
            works::plan(&self.work, works::cycle_of(&key)).to_string()
        } else if key.contains("/judge#") {
            return self.judge.complete(request, sink).await;
        } else {
            format!("Thought of {key}.")
        };
        let usage = Usage {
            input: 10,
            output: 5,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            attempt: 0,
            status: AttemptStatus::Success,
            duration_ms: 0,
            usage: Some(usage),
            error: None,
            wait_ms: None,
        });
        Ok(LlmResponse {
            text,
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}
