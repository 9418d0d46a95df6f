//! What is said between the app and a provider, kept in files: a request, the body that it must become, the events that
//! come back, and the answer that they must become. Three tests read them: this package's, at the reader and over the
//! wire, and the one that holds bodies and events against the providers' own clients.

use std::path::Path;

use contract::llm::{LlmRequest, LlmResponse};
use serde::Deserialize;
use serde_json::Value;

/// One file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Exchange {
    #[serde(skip)]
    pub(crate) name: String,
    /// What it shows, for people.
    pub(crate) about: String,
    pub(crate) request: LlmRequest,
    pub(crate) body: Value,
    pub(crate) events: Vec<Value>,
    pub(crate) response: LlmResponse,
    /// What the request becomes when it is refused, one refusal after the other.
    #[serde(default)]
    #[allow(dead_code, reason = "the wire has no use for it")]
    pub(crate) simpler: Vec<Simpler>,
}

/// A refusal of a request, and what is asked in its place.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the wire has no use for it")]
pub(crate) struct Simpler {
    /// The body of the refusal, which comes with the status 400.
    pub(crate) refusal: Value,
    pub(crate) body: Value,
}

/// All that are kept of a provider, in the order of their names.
pub(crate) fn all(provider: &str) -> Vec<Exchange> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/wire/exchanges")
        .join(provider);
    let files = std::fs::read_dir(&folder).unwrap();
    let mut all: Vec<Exchange> = files.map(|file| read(&file.unwrap().path())).collect();
    all.sort_by(|one, other| one.name.cmp(&other.name));
    assert!(all.iter().all(|exchange| !exchange.about.is_empty()));
    assert!(!all.is_empty(), "no exchange is kept of {provider}");
    all
}

fn read(file: &Path) -> Exchange {
    let text = std::fs::read_to_string(file).unwrap();
    let exchange: Exchange = serde_json::from_str(&text).unwrap();
    Exchange {
        name: file.file_stem().unwrap().to_string_lossy().into_owned(),
        ..exchange
    }
}

impl Exchange {
    /// The events as they are sent, under their names where they have one.
    pub(crate) fn stream(&self) -> String {
        self.events.iter().map(event).collect()
    }

    /// Where in the stream the event of this number is whole.
    #[allow(dead_code, reason = "the wire has no use for it")]
    pub(crate) fn end_of(&self, number: usize) -> usize {
        let sent: String = self.events[..=number].iter().map(event).collect();
        sent.trim_end().len()
    }
}

fn event(event: &Value) -> String {
    match event.get("type").and_then(Value::as_str) {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    }
}
