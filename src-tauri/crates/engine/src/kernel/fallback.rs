//! Another model in the place of one that does not answer, where a person set one (models page: "fallbacks only if the
//! user set one").
//!
//! The first choice is asked with all its retries. When it fails in a way that another model may not
//! ([`LlmError::another_may_answer`]), its fallback is asked the same question, once, with its own retries; a fallback of
//! the fallback there is not. Every attempt says which model it asked and why. A model that failed so is left alone for a
//! while, so that a run does not wait for it at every step. Nothing here is remembered beyond the process: a resumed run
//! begins with the first choice again, and a replayed one asks nobody.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::llm::{Delta, Instead, LlmError, LlmRequest, LlmResponse};
use contract::ports::provider::{LlmProvider, Sink};
use contract::step::{StepError, code};

use super::driver::Driver;
use super::model_call::{LeafSink, ModelCall};

/// How long a model is left alone that did not answer, in milliseconds.
const LEFT_ALONE_MS: i64 = 5 * 60 * 1_000;

/// The models that did not answer, with the time and the reason.
#[derive(Debug, Clone, Default)]
pub(super) struct Silent(Arc<Mutex<HashMap<String, (i64, LlmError)>>>);

impl Silent {
    fn all(&self) -> MutexGuard<'_, HashMap<String, (i64, LlmError)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since(&self, model: &str, now_ms: i64) -> Option<LlmError> {
        let all = self.all();
        let (then_ms, error) = all.get(model)?;
        (now_ms - then_ms < LEFT_ALONE_MS).then(|| error.clone())
    }

    fn note(&self, model: &str, now_ms: i64, error: &LlmError) {
        self.all().insert(model.to_owned(), (now_ms, error.clone()));
    }
}

impl Driver {
    /// Asks the call's model, or what stands in for it.
    pub(super) async fn complete(
        &self,
        call: &ModelCall,
        request: LlmRequest,
        sink: &LeafSink<'_>,
    ) -> Result<LlmResponse, StepError> {
        let Some(fallback) = self.header.roles.fallback(call.part, &call.model) else {
            return self.ask_one(&call.model, request, sink).await;
        };
        let error = match self.silent.since(&call.model, self.world.clock.now_ms()) {
            Some(error) => error,
            None => match self.provider(&call.model)?.complete(request.clone(), sink).await {
                Ok(response) => return Ok(response),
                Err(error) if !error.another_may_answer() => return Err(error.into_step_error()),
                Err(error) => {
                    self.silent.note(&call.model, self.world.clock.now_ms(), &error);
                    error
                }
            },
        };
        // What failed may have cost something, and the call that crosses the budget is the last one that is sent.
        if self.check_budget().is_err() {
            return Err(error.into_step_error());
        }
        let instead = Instead {
            model: fallback.to_owned(),
            code: error.code,
            because: error.message.clone(),
        };
        *sink.instead.lock().unwrap_or_else(PoisonError::into_inner) = Some(instead);
        sink.delta(Delta::Restart);
        let answer = self.ask_one(fallback, request, sink).await;
        answer.map_err(|second| both(&call.model, &error, fallback, second))
    }

    async fn ask_one(&self, model: &str, request: LlmRequest, sink: &LeafSink<'_>) -> Result<LlmResponse, StepError> {
        let (_, name) = model.split_once(':').unwrap_or((model, ""));
        let request = LlmRequest {
            model: name.to_owned(),
            ..request
        };
        let answer = self.provider(model)?.complete(request, sink).await;
        answer.map_err(LlmError::into_step_error)
    }

    fn provider(&self, model: &str) -> Result<&dyn LlmProvider, StepError> {
        let (name, _) = model.split_once(':').unwrap_or((model, ""));
        let found = self.world.providers.iter().find(|found| found.name() == name);
        found.map(|found| &**found).ok_or_else(|| {
            let message = format!("there is no model provider \"{name}\"");
            StepError::new(code::PROVIDER_ERROR, message)
        })
    }
}

/// Neither answered: the fallback's failure, in words that name both, with what helps against it.
fn both(first: &str, error: &LlmError, fallback: &str, second: StepError) -> StepError {
    let message = format!(
        "{first} did not answer ({}), and neither did its fallback {fallback}: {}",
        error.message, second.message
    );
    StepError { message, ..second }
}
