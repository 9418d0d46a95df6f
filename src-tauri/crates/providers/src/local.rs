//! Model servers on this machine: which of the usual ones run, and what a model there really can do (models page,
//! "Providers": found on their usual ports; tool calling and context size probed, Ollama's set).
//!
//! What a server program says of its models in a way of its own is in [`own_words`]. No key is ever sent from here: whoever
//! listens on a port need not be who usually does. What is found out is returned; remembering it is the app's part.

mod own_words;

use std::sync::Arc;
use std::time::Duration;

use contract::Key;
use contract::llm::{Capabilities, LlmError, LlmErrorCode, LlmRequest, Message, ModelInfo, ToolChoice, ToolSpec};
use contract::ports::clock::Clock;
use contract::ports::provider::Unheard;
use futures::future::join_all;
use serde::Serialize;
use serde_json::{Value, json};
use ts_rs::TS;

use crate::endpoint::{Endpoint, Timeouts};
use crate::http::Http;
use crate::info::UsualAddress;
use crate::openai_compatible;
use crate::server::ModelServer;

/// How many tokens a model must read so that a plan, its tools and their results fit (measured: the longest prompt of the
/// sample has about 4,500, and the answer needs room too).
pub const LEAST_CONTEXT: u64 = 8_192;
/// What Ollama is set to when it reads less.
pub const GOOD_CONTEXT: u64 = 16_384;
/// A server on this machine answers at once, or is not there.
const QUICK: Timeouts = Timeouts {
    connect: Duration::from_millis(400),
    first_byte: Duration::from_millis(1_500),
    idle: Duration::from_millis(1_500),
    content: Duration::from_secs(10),
    error: Duration::from_millis(1_500),
    list: Duration::from_secs(10),
};

/// A server that answered.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FoundServer {
    /// The name of the server program that usually listens there.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The models that it lists.
    pub models: Vec<ModelInfo>,
}

/// What a model was found to be able to do; what is absent could not be found out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Probed {
    /// Whether it calls a tool that it is told to call.
    pub tools: Option<bool>,
    /// Whether it thinks before it answers, and can be told how much.
    pub thinks: Option<bool>,
    /// How many tokens it reads as the server is set up.
    pub context_window: Option<u64>,
    /// How many it could read.
    pub could_read: Option<u64>,
    /// Whether the server is an Ollama, whose models can be set up to read more.
    pub is_ollama: bool,
}

/// The servers that answer at these addresses, in their order.
pub async fn find(addresses: &[UsualAddress], clock: &Arc<dyn Clock>) -> Vec<FoundServer> {
    let asked = addresses.iter().map(|address| async {
        let endpoint = quick(address.url);
        let server = openai_compatible::open("found", endpoint, Arc::clone(clock)).ok()?;
        Some(FoundServer {
            title: address.title.to_owned(),
            url: address.url.to_owned(),
            models: server.models().await.ok()?,
        })
    });
    join_all(asked).await.into_iter().flatten().collect()
}

/// Finds out what a model of a chat-completions server can do: its own words where it has some, else one small call.
///
/// # Errors
/// The server does not answer at all.
pub async fn probe(
    url: &str,
    model: &str,
    server: &dyn ModelServer,
    clock: &Arc<dyn Clock>,
) -> Result<Probed, LlmError> {
    let mut probed = own_words::said(url, model, clock).await.unwrap_or_default();
    if probed.tools.is_none() {
        probed.tools = calls_tools(server, model).await?;
    }
    Ok(probed)
}

/// What the server program itself says of a model, within a second or two and without asking the model; `None` where it
/// says nothing.
pub async fn said(url: &str, model: &str, clock: &Arc<dyn Clock>) -> Option<Probed> {
    own_words::said(url, model, clock).await
}

/// Sets a copy of an Ollama model up that reads so many tokens, and returns its name. The copy shares the model's data and
/// takes no room on the disk.
///
/// # Errors
/// The server refuses, or is no Ollama.
pub async fn widen(url: &str, model: &str, tokens: u64, clock: &Arc<dyn Clock>) -> Result<String, LlmError> {
    let name = wide_name(model, tokens);
    let http = at_root(url, Timeouts::default(), clock)?;
    let body = json!({ "model": name, "from": model, "parameters": { "num_ctx": tokens }, "stream": false });
    let mut answer = http
        .post("api/create", &body, &[])
        .await
        .map_err(|refusal| refusal.error)?;
    let said: Value = serde_json::from_slice(&answer.all().await?).unwrap_or_default();
    match said.get("status").and_then(Value::as_str) {
        Some("success") => Ok(name),
        _ => {
            let message = format!(
                "{} did not set the model up: update Ollama, and try again",
                http.server()
            );
            Err(LlmError::new(LlmErrorCode::BadResponse, message))
        }
    }
}

/// `qwen3:8b` that reads 16,384 tokens is `qwen3:8b-16k`.
fn wide_name(model: &str, tokens: u64) -> String {
    let tagged = if model.contains(':') {
        model.to_owned()
    } else {
        format!("{model}:latest")
    };
    format!("{tagged}-{}k", tokens / 1_024)
}

/// Whether a model calls the one tool that it is told to call; none when the server is too busy to say.
async fn calls_tools(server: &dyn ModelServer, model: &str) -> Result<Option<bool>, LlmError> {
    let note = ToolSpec {
        name: "note".to_owned(),
        description: "Writes a word down.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "word": { "type": "string" } }, "required": ["word"] }),
    };
    let request = LlmRequest {
        key: Key::new("probe"),
        model: model.to_owned(),
        messages: vec![Message::user("Write down the word \"yes\".")],
        tools: vec![note],
        tool_choice: ToolChoice::Tool("note".to_owned()),
        max_tokens: Some(512),
        ..LlmRequest::default()
    };
    match server.once(&request, &Unheard).await {
        Ok(answer) => Ok(Some(answer.tool_uses.iter().any(|called| called.name == "note"))),
        // The model ran out of room or wrote half a call.
        Err(error) if error.code == LlmErrorCode::BadResponse => Ok(Some(false)),
        // The same question without a tool was answered just now.
        Err(error) if error.code == LlmErrorCode::InvalidRequest => Ok(Some(false)),
        Err(error) if error.retryable() => Ok(None),
        Err(error) => Err(error),
    }
}

impl Probed {
    /// The same in the words of the catalog.
    pub fn info(&self, model: &str) -> ModelInfo {
        ModelInfo {
            context_window: self.context_window,
            capabilities: Capabilities {
                tools: self.tools,
                effort: self.thinks,
                ..Capabilities::default()
            },
            ..ModelInfo::named(model)
        }
    }
}

fn quick(url: &str) -> Endpoint {
    Endpoint {
        timeouts: QUICK,
        ..Endpoint::new(url, None)
    }
}

/// A way to the routes that lie beside `/v1`.
fn at_root(url: &str, timeouts: Timeouts, clock: &Arc<dyn Clock>) -> Result<Http, LlmError> {
    let endpoint = Endpoint {
        timeouts,
        ..Endpoint::new(url, None)
    };
    Http::at_root(openai_compatible::WIRE, endpoint, Arc::clone(clock))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_of_a_model_is_named_after_it() {
        assert_eq!(wide_name("qwen3:8b", 16_384), "qwen3:8b-16k");
        assert_eq!(wide_name("qwen3", 32_768), "qwen3:latest-32k");
    }
}
