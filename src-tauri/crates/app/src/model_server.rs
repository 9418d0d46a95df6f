//! The model server of the settings: opened for a run, or tried out.

use std::sync::Arc;

use contract::AppError;
use contract::llm::{LlmError, LlmErrorCode};
use contract::ports::clock::Clock;
use providers::connection_test::{TestReport, test_connection};
use providers::endpoint::Endpoint;
use providers::openai_compatible::{self, OpenAiCompatible};
use secrecy::SecretString;

use crate::commands::models::ProviderTest;
use crate::error::sentence;

/// A server to ask in a run.
pub(crate) fn open(
    base_url: &str,
    key: Option<SecretString>,
    clock: &Arc<dyn Clock>,
) -> Result<OpenAiCompatible, AppError> {
    OpenAiCompatible::new(Endpoint::new(base_url, key), Arc::clone(clock)).map_err(in_words)
}

/// Tries a server, and says in words what came of it.
pub(crate) async fn try_out(
    base_url: &str,
    model: &str,
    key: Option<SecretString>,
    clock: &Arc<dyn Clock>,
) -> ProviderTest {
    let opened = openai_compatible::open(openai_compatible::NAME, Endpoint::new(base_url, key), Arc::clone(clock));
    let tested = match opened {
        Ok(server) => test_connection(&*server, model, &**clock).await,
        Err(error) => Err(error),
    };
    match tested {
        Ok(report) => ProviderTest {
            ok: true,
            message: success(&report),
            models: names(report),
        },
        Err(error) => ProviderTest {
            ok: false,
            message: sentence(&error.message),
            models: Vec::new(),
        },
    }
}

fn success(report: &TestReport) -> String {
    let seconds = report.duration_ms as f64 / 1000.0;
    let answered = format!("It works: {} answered in {seconds:.1} s.", report.answered_with);
    match &report.note {
        Some(note) => format!("{answered} {}", sentence(note)),
        None => answered,
    }
}

fn names(report: TestReport) -> Vec<String> {
    report.models.into_iter().map(|model| model.id).collect()
}

fn in_words(error: LlmError) -> AppError {
    let (code, hint) = match error.code {
        LlmErrorCode::InvalidRequest => (
            "endpoint_invalid",
            "Open Settings and correct the address of the model server.",
        ),
        _ => ("endpoint_failed", "Open Settings and test the connection."),
    };
    AppError::new(code, error.message).hint(hint)
}
