//! *Test connection*: the cheapest real call, and the list of models beside it.

use contract::Key;
use contract::llm::{LlmError, LlmErrorCode, LlmRequest, Message, ModelInfo};
use contract::ports::clock::Clock;
use contract::ports::provider::Unheard;
use serde::Serialize;
use ts_rs::TS;

use crate::server::ModelServer;

/// How many models a sentence names.
const NAMED: usize = 5;

/// A connection that works.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TestReport {
    /// The models that the server lists; empty when it lists none.
    pub models: Vec<ModelInfo>,
    /// The model that answered, in the server's words.
    pub answered_with: String,
    /// How long the answer took.
    pub duration_ms: u64,
    /// What is odd although it works, in a sentence.
    pub note: Option<String>,
}

/// Asks a model for one word. There are no retries: a person waits for the outcome.
///
/// # Errors
/// As for any call; where the model is not on the server's list, the sentence says which are.
pub async fn test_connection(
    provider: &dyn ModelServer,
    model: &str,
    clock: &dyn Clock,
) -> Result<TestReport, LlmError> {
    let models = match provider.models().await {
        Ok(models) => models,
        Err(error) if model.trim().is_empty() || is_the_same_for_all(&error) => return Err(error),
        // Not every server has a list, or shows it to every key; the call decides.
        Err(_) => Vec::new(),
    };
    if model.trim().is_empty() {
        let message = format!("no model is chosen yet{}", known(&models));
        return Err(LlmError::new(LlmErrorCode::ModelNotFound, message));
    }
    let started_ms = clock.now_ms();
    let answer = provider.once(&smallest_request(model.trim()), &Unheard).await;
    let duration_ms = u64::try_from(clock.now_ms() - started_ms).unwrap_or(0);
    let response = answer.map_err(|error| naming_models(error, &models))?;
    let listed = models.is_empty() || models.iter().any(|listed| listed.id == model.trim());
    let note = (!listed).then(|| {
        format!(
            "\"{model}\" answers, although the server does not list it{}",
            known(&models)
        )
    });
    let answered_with = if response.model.is_empty() {
        model.trim().to_owned()
    } else {
        response.model
    };
    Ok(TestReport {
        models,
        answered_with,
        duration_ms,
        note,
    })
}

/// A failure that a call would have too: nobody is there, or the key is refused.
fn is_the_same_for_all(error: &LlmError) -> bool {
    let is_silent = matches!(error.code, LlmErrorCode::Connection | LlmErrorCode::Timeout);
    is_silent || error.status == Some(401)
}

fn smallest_request(model: &str) -> LlmRequest {
    LlmRequest {
        key: Key::new("test"),
        model: model.to_owned(),
        messages: vec![Message::user("Say OK.")],
        max_tokens: Some(16),
        ..LlmRequest::default()
    }
}

fn naming_models(error: LlmError, models: &[ModelInfo]) -> LlmError {
    match error.code {
        LlmErrorCode::ModelNotFound => {
            let message = format!("{}{}", error.message, known(models));
            LlmError { message, ..error }
        }
        _ => error,
    }
}

fn known(models: &[ModelInfo]) -> String {
    if models.is_empty() {
        return String::new();
    }
    let names: Vec<String> = models
        .iter()
        .take(NAMED)
        .map(|model| format!("\"{}\"", model.id))
        .collect();
    let more = models.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(" (it has {}{more})", names.join(", "))
}
