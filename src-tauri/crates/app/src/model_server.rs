//! A model server, tried out before or after it is kept.

use contract::llm::LlmError;
use providers::connection_test::{TestReport, test_connection};
use secrecy::SecretString;

use crate::accounts::{self, Found};
use crate::app::Rooms;
use crate::commands::models::ProviderTest;
use crate::error::sentence;

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
            Ok(models) => ProviderTest {
                ok: true,
                message: match models.len() {
                    1 => "It works: the key is good for one model. Choose it.".to_owned(),
                    count => format!("It works: the key is good for {count} models. Choose one."),
                },
                models: models.into_iter().map(|model| model.id).collect(),
            },
            Err(error) => failed(&error),
        };
    }
    match test_connection(&*server, model, &*rooms.clock).await {
        Ok(report) => ProviderTest {
            ok: true,
            message: success(&report),
            models: names(report),
        },
        Err(error) => failed(&error),
    }
}

fn failed(error: &LlmError) -> ProviderTest {
    ProviderTest {
        ok: false,
        message: sentence(&error.message),
        models: Vec::new(),
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
