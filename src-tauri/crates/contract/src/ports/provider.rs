//! Models.

use async_trait::async_trait;

use crate::llm::{Delta, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo};

/// What a provider says while it works. Calls never block.
pub trait Sink: Send + Sync {
    /// The next piece of the answer.
    fn delta(&self, delta: Delta);
    /// An attempt ended. Every attempt is reported, the last one too, before `complete` returns.
    fn attempt(&self, attempt: LlmAttempt);
}

/// For an answer that nobody listens to.
pub struct Unheard;

impl Sink for Unheard {
    fn delta(&self, _delta: Delta) {}
    fn attempt(&self, _attempt: LlmAttempt) {}
}

/// A source of model answers. It retries by the policy of the models page; nobody above it does.
#[async_trait]
pub trait LlmProvider: Send + Sync {
    /// Its name, the part before the colon in `provider:model`.
    fn name(&self) -> &str;

    /// Asks, and streams into the sink. Dropping the future cancels the request.
    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError>;

    /// The models on offer.
    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError>;
}
