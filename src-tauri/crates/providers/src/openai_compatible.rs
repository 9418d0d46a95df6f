//! Any server that speaks `/v1/chat/completions`: Ollama, LM Studio, llama.cpp, vLLM and many
//! services.
//!
//! What a server refuses (a shape by schema, a tool by name) is asked in simpler terms and
//! remembered for as long as the provider lives. A server that does not say what an answer cost gets
//! no estimate: the attempt has no usage.

#[cfg(test)]
mod reading;
mod reply;
mod request;

use std::sync::Arc;

use async_trait::async_trait;
use contract::cost::{ListedPrice, Price};
use contract::llm::{Capabilities, Effort, LlmError, LlmRequest, LlmResponse, ModelInfo};
use contract::ports::clock::Clock;
use contract::ports::provider::{LlmProvider, Sink};
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::http::Wire;
use crate::info::{KeyNeed, ProviderInfo, UsualAddress};
use crate::refusal::Refusal;
use crate::server::{ModelServer, Protocol, Server};
use reply::Reply;
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
        base_url: "",
        key: KeyNeed::Optional,
        // Not OPENAI_API_KEY: that one belongs to OpenAI, and this server may be anyone's.
        environment: &["OPENAI_COMPATIBLE_API_KEY"],
        credit_page: None,
        keys_page: None,
        usual_addresses: USUAL_ADDRESSES,
    }
}

/// One such server.
pub struct OpenAiCompatible(Server<Chat>);

impl OpenAiCompatible {
    /// Prepares to ask this server; nothing is sent yet.
    ///
    /// # Errors
    /// `InvalidRequest` when the address cannot be one.
    pub fn new(endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Self, LlmError> {
        Server::new(NAME, endpoint, clock).map(Self)
    }

    /// Asks like [`LlmProvider::complete`], with headers of the caller's beside the usual ones, so that a server can
    /// tell what belongs together.
    pub async fn complete_under(
        &self,
        request: LlmRequest,
        headers: &[(&'static str, String)],
        sink: &dyn Sink,
    ) -> Result<LlmResponse, LlmError> {
        self.0.complete_under(&request, headers, sink).await
    }
}

#[async_trait]
impl LlmProvider for OpenAiCompatible {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        self.0.complete(request, sink).await
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        self.0.models().await
    }
}

/// Opens such a server under the name that stands before the colon in `provider:model`.
///
/// # Errors
/// `InvalidRequest` when the address cannot be one.
pub fn open(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Arc<dyn ModelServer>, LlmError> {
    Ok(Arc::new(Server::<Chat>::new(name, endpoint, clock)?))
}

/// How requests to such a server look.
pub(crate) const WIRE: Wire = Wire {
    version: "v1",
    key: ("authorization", "Bearer "),
    header: None,
    // The answer names itself.
    request_id: None,
    own: None,
};

/// `/v1/chat/completions`.
struct Chat;

impl Protocol for Chat {
    type Terms = Understands;
    type Reply = Reply;

    const WIRE: Wire = WIRE;
    const EVERYTHING: Understands = Understands::EVERYTHING;
    const MODELS: &'static str = "models";

    fn route(_request: &LlmRequest) -> Result<String, LlmError> {
        Ok("chat/completions".to_owned())
    }

    fn body(request: &LlmRequest, understands: Understands) -> Value {
        body(request, understands)
    }

    fn effort(request: &LlmRequest, understands: Understands) -> Option<Effort> {
        request::effort(request, understands)
    }

    fn reply(_request: &LlmRequest, _understands: Understands) -> Reply {
        Reply::default()
    }

    fn simpler(understands: Understands, request: &LlmRequest, refusal: &Refusal) -> Option<Understands> {
        understands.less(request, refusal)
    }

    fn models(list: &Value) -> Option<Vec<ModelInfo>> {
        match list.get("data")? {
            // Ollama sends `null` while it has no model.
            Value::Null => Some(Vec::new()),
            data => Some(data.as_array()?.iter().filter_map(model).collect()),
        }
    }
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
        max_output: value
            .pointer("/top_provider/max_completion_tokens")
            .and_then(Value::as_u64),
        capabilities: capabilities(value),
        price: price(value),
        tier: None,
        id,
    })
}

/// What OpenRouter says that a model takes.
fn capabilities(value: &Value) -> Capabilities {
    let takes = value.get("supported_parameters").and_then(Value::as_array);
    let has = |name: &str| takes.map(|takes| takes.iter().any(|taken| taken == name));
    Capabilities {
        tools: has("tools"),
        shapes: has("structured_outputs"),
        effort: has("reasoning"),
    }
}

/// What OpenRouter says that a model costs: dollars for one token, as text. Its router models cost what they pass on,
/// and say so with a negative number.
fn price(value: &Value) -> Option<ListedPrice> {
    let pricing = value.get("pricing")?;
    let million = |name: &str| {
        let one: f64 = pricing.get(name)?.as_str()?.parse().ok()?;
        // Rounded, so that 0.00000015 is 0.15 and no long fraction.
        (one.is_finite() && one >= 0.0).then(|| (one * 1e12).round() / 1e6)
    };
    Some(ListedPrice {
        price: Price {
            input: million("prompt")?,
            output: million("completion")?,
            cache_read: million("input_cache_read"),
            cache_write: million("input_cache_write"),
            long: None,
        },
        currency: "USD".to_owned(),
        as_of: None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kept_answer_reads_the_same_however_it_arrives() {
        crate::reader::trying::all_exchanges::<Chat>(NAME);
    }

    #[test]
    fn reads_what_a_broker_says_of_its_models() {
        let listed = json!({
            "id": "maker/model", "name": "Maker: Model", "context_length": 131_072,
            "top_provider": {"max_completion_tokens": 16_384},
            "pricing": {"prompt": "0.00000015", "completion": "0.0000006", "input_cache_read": "0.000000075"},
            "supported_parameters": ["max_tokens", "tools"],
        });
        let expected = ModelInfo {
            id: "maker/model".to_owned(),
            description: Some("Maker: Model".to_owned()),
            context_window: Some(131_072),
            max_output: Some(16_384),
            tier: None,
            capabilities: Capabilities {
                tools: Some(true),
                shapes: Some(false),
                effort: Some(false),
            },
            price: Some(ListedPrice {
                price: Price {
                    input: 0.15,
                    output: 0.6,
                    cache_read: Some(0.075),
                    ..Price::default()
                },
                currency: "USD".to_owned(),
                as_of: None,
            }),
        };
        assert_eq!(model(&listed), Some(expected));
    }

    #[test]
    fn a_model_that_costs_what_it_passes_on_has_no_price() {
        let router = json!({"id": "auto", "pricing": {"prompt": "-1", "completion": "-1"}});
        assert_eq!(model(&router), Some(ModelInfo::named("auto")));
        let nonsense = json!({"id": "x", "pricing": {"prompt": "much", "completion": 3}});
        assert_eq!(model(&nonsense), Some(ModelInfo::named("x")));
    }
}
