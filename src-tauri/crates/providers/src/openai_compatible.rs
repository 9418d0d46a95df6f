//! Any server that speaks `/v1/chat/completions`: Ollama, LM Studio, llama.cpp, vLLM and many
//! services.
//!
//! What a server refuses (a shape by schema, a tool by name) is asked in simpler terms and
//! remembered for as long as the provider lives. A server that does not say what an answer cost gets
//! no estimate: the attempt has no usage.

mod reader;
mod reply;
mod request;

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use contract::llm::{LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::clock::Clock;
use contract::ports::provider::{LlmProvider, Sink};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::http::Http;
use crate::info::{KeyNeed, ProviderInfo, UsualAddress};
use crate::refusal::{Refusal, is_web_page, web_page};
use crate::retry::{Answer, Failure, Retry};
use reader::Reader;
use request::{Understands, body};

/// The name before the colon in `openai_compatible:model`.
pub const NAME: &str = "openai_compatible";

const USUAL_ADDRESSES: &[UsualAddress] = &[
    UsualAddress {
        title: "Ollama",
        url: "http://localhost:11434",
    },
    UsualAddress {
        title: "LM Studio",
        url: "http://localhost:1234",
    },
    UsualAddress {
        title: "llama.cpp",
        url: "http://localhost:8080",
    },
    UsualAddress {
        title: "vLLM",
        url: "http://localhost:8000",
    },
];

/// What a whole answer of such a server says.
pub(crate) fn answer_of(server: &str, answer: &serde_json::Value) -> Result<contract::llm::LlmResponse, LlmError> {
    reply::answer_of(server, answer)
}

/// What the settings card shows.
pub fn info() -> ProviderInfo {
    ProviderInfo {
        name: NAME,
        title: "OpenAI-compatible server",
        needs_base_url: true,
        key: KeyNeed::Optional,
        // Not OPENAI_API_KEY: that one belongs to OpenAI, and this server may be anyone's.
        environment: &["OPENAI_COMPATIBLE_API_KEY"],
        usual_addresses: USUAL_ADDRESSES,
    }
}

/// One such server.
pub struct OpenAiCompatible {
    http: Http,
    retry: Retry,
    understands: Mutex<Understands>,
}

impl OpenAiCompatible {
    /// Prepares to ask this server; nothing is sent yet.
    ///
    /// # Errors
    /// `InvalidRequest` when the address cannot be one.
    pub fn new(endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        Ok(Self {
            http: Http::new(endpoint, clock.clone())?,
            retry: Retry {
                clock,
                random: fastrand::f64,
            },
            understands: Mutex::new(Understands::EVERYTHING),
        })
    }

    /// Asks once, without trying again: for a person who waits for the outcome of a test.
    pub(crate) async fn once(&self, request: &LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let understands = Mutex::new(self.remembered());
        loop {
            match self.attempt(request, &[], &understands, sink).await {
                Ok(answer) => return Ok(answer.response),
                Err(failure) if failure.simpler => {}
                Err(failure) => return Err(failure.error),
            }
        }
    }

    /// Asks like [`LlmProvider::complete`], with headers of the caller's beside the usual ones, so that a server can
    /// tell what belongs together.
    pub async fn complete_under(
        &self,
        request: LlmRequest,
        headers: &[(&'static str, String)],
        sink: &dyn Sink,
    ) -> Result<LlmResponse, LlmError> {
        let understands = Mutex::new(self.remembered());
        self.retry
            .run(sink, || self.attempt(&request, headers, &understands, sink))
            .await
    }

    async fn attempt(
        &self,
        request: &LlmRequest,
        headers: &[(&'static str, String)],
        understands: &Mutex<Understands>,
        sink: &dyn Sink,
    ) -> Result<Answer, Failure> {
        let now = *locked(understands);
        let answer = self.ask(&body(request, now), headers, sink).await;
        match answer {
            Ok(answer) => {
                *locked(&self.understands) = now;
                Ok(answer)
            }
            Err((failure, param)) => {
                let less = match failure.error.code {
                    LlmErrorCode::InvalidRequest => now.less(request, param.as_deref()),
                    _ => None,
                };
                if let Some(less) = less {
                    *locked(understands) = less;
                }
                Err(Failure {
                    error: self.http.without_key(failure.error),
                    simpler: less.is_some(),
                    ..failure
                })
            }
        }
    }

    async fn ask(
        &self,
        body: &Value,
        headers: &[(&'static str, String)],
        sink: &dyn Sink,
    ) -> Result<Answer, (Failure, Option<String>)> {
        let sent = self.http.post("chat/completions", body, headers).await;
        let mut arriving = sent.map_err(|Refusal { error, param }| (error.into(), param))?;
        let mut reader = Reader::new(self.http.server(), self.http.key());
        let broke = loop {
            match arriving.next().await {
                Ok(Some(bytes)) => reader.push(&bytes, sink).map_err(|failure| (failure, None))?,
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
            if reader.is_done() {
                break None;
            }
        };
        let answer = reader.finish(broke.is_none(), sink);
        answer.map_err(|failure| (because(failure, broke), None))
    }

    fn remembered(&self) -> Understands {
        *locked(&self.understands)
    }
}

/// What broke the connection explains more than that the answer is not whole.
fn because(failure: Failure, broke: Option<LlmError>) -> Failure {
    match broke {
        Some(error) if failure.error.code == LlmErrorCode::StreamCut => Failure { error, ..failure },
        _ => failure,
    }
}

fn locked(understands: &Mutex<Understands>) -> std::sync::MutexGuard<'_, Understands> {
    understands.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl LlmProvider for OpenAiCompatible {
    fn name(&self) -> &str {
        NAME
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.complete_under(request, &[], sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        let listed = async {
            let mut arriving = self.http.get("models").await.map_err(|refusal| refusal.error)?;
            models(&self.http.server(), &arriving.all().await?)
        };
        listed.await.map_err(|error| self.http.without_key(error))
    }
}

fn models(server: &str, bytes: &[u8]) -> Result<Vec<ModelInfo>, LlmError> {
    if is_web_page(bytes) {
        return Err(web_page(server));
    }
    let list = serde_json::from_slice::<Value>(bytes).ok();
    let data = list.as_ref().and_then(|list| list.get("data"));
    // Ollama sends `null` while it has no model.
    if data.is_some_and(Value::is_null) {
        return Ok(Vec::new());
    }
    let Some(data) = data.and_then(Value::as_array) else {
        let message = format!(
            "{server} answered with something that is no list of models: check the address of the model server in Settings"
        );
        return Err(LlmError::new(LlmErrorCode::BadResponse, message));
    };
    Ok(data.iter().filter_map(model).collect())
}

fn model(value: &Value) -> Option<ModelInfo> {
    let id = value.get("id")?.as_str()?.to_owned();
    let text = |name: &str| value.get(name).and_then(Value::as_str).filter(|text| *text != id);
    // OpenRouter, vLLM, Groq, llama.cpp.
    let window = [
        "/context_length",
        "/max_model_len",
        "/context_window",
        "/meta/n_ctx_train",
    ];
    Some(ModelInfo {
        description: text("description").or_else(|| text("name")).map(ToOwned::to_owned),
        context_window: window
            .iter()
            .find_map(|path| value.pointer(path).and_then(Value::as_u64)),
        id,
    })
}
