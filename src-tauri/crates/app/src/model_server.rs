//! A model server, tried out before or after it is kept.

use contract::llm::{LlmError, ModelInfo};
use providers::connection_test::{TestReport, test_connection};
use providers::local;
use providers::server::ModelServer;
use secrecy::SecretString;

use crate::accounts::{self, Found};
use crate::app::Rooms;
use crate::commands::models::ProviderTest;
use crate::error::sentence;
use crate::model_catalog;

/// Tries a server, and says in words what came of it. Where no model is named and the server is one that lists its
/// models, that list is the trial: it costs nothing and shows whether the key is right.
pub(crate) async fn try_out(
    rooms: &Rooms,
    found: &Found,
    base_url: &str,
    model: &str,
    key: Option<SecretString>,
) -> ProviderTest {
    let server = match accounts::open_at(rooms, found, base_url, key) {
        Ok(server) => server,
        Err(error) => return failed(&error),
    };
    if model.trim().is_empty() && !found.kind.info.needs_base_url {
        return match server.models().await {
            Ok(models) => {
                remember(rooms, found, base_url, &models).await;
                let message = match models.len() {
                    1 => "It works: the key is good for one model. Choose it.".to_owned(),
                    count => format!("It works: the key is good for {count} models. Choose one."),
                };
                works(message, models)
            }
            Err(error) => failed(&error),
        };
    }
    match test_connection(&*server, model, &*rooms.clock).await {
        Ok(report) => {
            remember(rooms, found, base_url, &report.models).await;
            let tested = works(success(&report), report.models);
            match found.kind.info.needs_base_url {
                true => looked_into(rooms, found, &*server, base_url, model, tested).await,
                false => tested,
            }
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &LlmError) -> ProviderTest {
    ProviderTest {
        ok: false,
        message: sentence(&error.message),
        models: Vec::new(),
        remedy: error.remedy,
        lacks: None,
        can_widen: false,
        calls_no_tools: false,
    }
}

fn works(message: String, models: Vec<ModelInfo>) -> ProviderTest {
    ProviderTest {
        ok: true,
        message,
        models: models.into_iter().map(|model| model.id).collect(),
        remedy: None,
        lacks: None,
        can_widen: false,
        calls_no_tools: false,
    }
}

/// Finds out whether a model of a server of one's own can do what runs need, remembers it, and says what is missing.
async fn looked_into(
    rooms: &Rooms,
    found: &Found,
    server: &dyn ModelServer,
    base_url: &str,
    model: &str,
    tested: ProviderTest,
) -> ProviderTest {
    let model = model.trim();
    let Ok(probed) = local::probe(base_url, model, server, &rooms.clock).await else {
        return tested;
    };
    let name = &found.account.name;
    if let Err(error) = model_catalog::remember_probe(rooms, name, base_url, probed.info(model)).await {
        tracing::warn!(%error, "what the model can do was not kept");
    }
    let reads_little = probed
        .context_window
        .is_some_and(|window| window < local::LEAST_CONTEXT);
    let could = probed.could_read.is_none_or(|could| could >= local::GOOD_CONTEXT);
    let lacks = match probed.tools {
        Some(false) => Some(format!(
            "But {model} calls no tools, which steps need: choose a model that does, such as qwen3 or llama3.1."
        )),
        _ if reads_little => Some(format!(
            "But it reads only {} tokens at once as it is set up, and plans need at least {}.",
            probed.context_window.unwrap_or_default(),
            local::LEAST_CONTEXT
        )),
        _ => None,
    };
    ProviderTest {
        lacks,
        calls_no_tools: probed.tools == Some(false),
        can_widen: probed.is_ollama && reads_little && could && probed.tools != Some(false),
        ..tested
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

/// Keeps what the server listed; a trial that worked does not fail because that could not be kept.
async fn remember(rooms: &Rooms, found: &Found, base_url: &str, models: &[ModelInfo]) {
    if let Err(error) = model_catalog::remember(rooms, &found.account.name, base_url, models).await {
        tracing::warn!(%error, "the list of models was not kept");
    }
}
