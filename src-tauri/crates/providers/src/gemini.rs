//! Google's Gemini API: `streamGenerateContent`.
//!
//! A call that the server does not name gets a name of ours, which is not sent back. Signatures of thoughts go back with
//! the call that they came with, since newer models refuse a call without its own.

mod reply;
mod request;

use std::sync::Arc;

use contract::llm::{Effort, LlmError, LlmErrorCode, LlmRequest, ModelInfo};
use contract::ports::clock::Clock;
use serde_json::Value;

use crate::endpoint::Endpoint;
use crate::http::Wire;
use crate::info::{KeyNeed, ProviderInfo};
use crate::pieces::text_of;
use crate::refusal::Refusal;
use crate::server::{ModelServer, Protocol, Server};
use reply::Reply;
use request::Terms;

/// The name before the colon in `gemini:model`.
pub const NAME: &str = "gemini";

/// Where it is when nobody says.
const ADDRESS: &str = "https://generativelanguage.googleapis.com";

/// What the settings card shows.
pub fn info() -> ProviderInfo {
    ProviderInfo {
        name: NAME,
        title: "Google Gemini",
        needs_base_url: false,
        base_url: ADDRESS,
        key: KeyNeed::Required,
        environment: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        credit_page: Some("https://aistudio.google.com/billing"),
        keys_page: Some("https://aistudio.google.com/api-keys"),
        usual_addresses: &[],
    }
}

/// Opens the API under the name that stands before the colon in `provider:model`.
///
/// # Errors
/// `InvalidRequest` when the address cannot be one.
pub fn open(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Arc<dyn ModelServer>, LlmError> {
    Ok(Arc::new(Server::<Generate>::new(name, endpoint, clock)?))
}

/// `/v1/models/MODEL:streamGenerateContent`.
struct Generate;

impl Protocol for Generate {
    type Terms = Terms;
    type Reply = Reply;

    const WIRE: Wire = Wire {
        version: "v1",
        key: ("x-goog-api-key", ""),
        header: None,
        // The answer names itself.
        request_id: None,
        own: Some(ADDRESS),
    };
    const EVERYTHING: Terms = Terms::EVERYTHING;
    const MODELS: &'static str = "models?pageSize=1000";

    fn route(request: &LlmRequest) -> Result<String, LlmError> {
        let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        // It becomes a part of the address, and must not lead elsewhere.
        if model.is_empty() || model.starts_with('.') || !model.chars().all(is_plain) {
            let message = format!("\"{model}\" is not the name of a Gemini model: choose another one in Settings");
            return Err(LlmError::new(LlmErrorCode::ModelNotFound, message));
        }
        Ok(format!("models/{model}:streamGenerateContent?alt=sse"))
    }

    fn body(request: &LlmRequest, terms: Terms) -> Value {
        request::body(request, terms)
    }

    fn effort(request: &LlmRequest, terms: Terms) -> Option<Effort> {
        request::effort(request, terms)
    }

    fn reply(_request: &LlmRequest, _terms: Terms) -> Reply {
        Reply::default()
    }

    fn simpler(terms: Terms, request: &LlmRequest, refusal: &Refusal) -> Option<Terms> {
        terms.less(request, refusal)
    }

    fn models(list: &Value) -> Option<Vec<ModelInfo>> {
        Some(list.get("models")?.as_array()?.iter().filter_map(model).collect())
    }
}

fn model(value: &Value) -> Option<ModelInfo> {
    let methods = value.get("supportedGenerationMethods").and_then(Value::as_array);
    let generates = methods.is_none_or(|methods| methods.iter().any(|method| method == "generateContent"));
    let name = text_of(value, "name").filter(|_| generates)?;
    let count = |name: &str| value.get(name).and_then(Value::as_u64);
    Some(ModelInfo {
        id: name.strip_prefix("models/").unwrap_or(name).to_owned(),
        description: text_of(value, "displayName").map(ToOwned::to_owned),
        context_window: count("inputTokenLimit"),
        max_output: count("outputTokenLimit"),
        ..ModelInfo::default()
    })
}

#[cfg(test)]
mod tests {
    use contract::Key;
    use contract::llm::{FinishReason, Message, ResponseSchema, ToolChoice};
    use serde_json::json;

    use super::*;
    use crate::reader::trying::{all_exchanges, read};
    use crate::refusal::refusal;

    #[test]
    fn every_kept_answer_reads_the_same_however_it_arrives() {
        all_exchanges::<Generate>(NAME);
    }

    fn request(model: &str) -> LlmRequest {
        LlmRequest {
            key: Key::new("k"),
            model: model.to_owned(),
            messages: vec![Message::user("Hello")],
            tool_choice: ToolChoice::None,
            ..LlmRequest::default()
        }
    }

    #[test]
    fn a_model_is_a_part_of_the_address_and_leads_nowhere_else() {
        let route = |model: &str| Generate::route(&request(model));
        let expected = "models/gemini-2.5-pro:streamGenerateContent?alt=sse";
        assert_eq!(route("gemini-2.5-pro").unwrap(), expected);
        assert_eq!(route("models/gemini-2.5-pro").unwrap(), expected);
        for elsewhere in ["", "..", "../files", "a/b", "a:b?c", "a%2fb", "models/"] {
            assert_eq!(
                route(elsewhere).unwrap_err().code,
                LlmErrorCode::ModelNotFound,
                "{elsewhere}"
            );
        }
    }

    #[test]
    fn a_shape_that_is_refused_is_asked_for_in_words() {
        let mut request = request("m");
        request.response_schema = Some(ResponseSchema {
            name: "plan".to_owned(),
            schema: json!({"type": "object"}),
        });
        let refused = |words: &str| {
            let body = json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": words}});
            let refusal = refusal(
                &crate::endpoint::Host::of_a_person("http://host"),
                None,
                400,
                body.to_string().as_bytes(),
            );
            Terms::EVERYTHING.less(&request, &refusal)
        };
        assert_eq!(refused("something else is wrong"), None);
        let terms = refused("Invalid value at 'generation_config.response_json_schema'").unwrap();
        let body = Generate::body(&request, terms);
        assert_eq!(
            body["generationConfig"],
            json!({"responseMimeType": "application/json"})
        );
        let system = body["systemInstruction"]["parts"][0]["text"].as_str().unwrap();
        assert!(system.contains("matches this JSON Schema"), "{system}");
    }

    fn stream(chunks: &[Value]) -> String {
        chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
    }

    #[test]
    fn says_why_the_model_stopped() {
        let check = |reason: &str, expected| {
            let chunk = json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": reason}]});
            let answer = read(Reply::default(), &[stream(&[chunk]).as_bytes()], true).0.unwrap();
            assert_eq!(answer.response.finish_reason, expected, "{reason}");
        };
        check("STOP", FinishReason::EndTurn);
        check("MAX_TOKENS", FinishReason::MaxTokens);
        for filtered in [
            "SAFETY",
            "RECITATION",
            "BLOCKLIST",
            "PROHIBITED_CONTENT",
            "SPII",
            "LANGUAGE",
        ] {
            check(filtered, FinishReason::ContentFilter);
        }
        check("OTHER", FinishReason::Unknown);
    }

    #[test]
    fn half_a_call_is_never_kept() {
        let call = |args: Value| {
            let part = json!({"functionCall": {"name": "look", "args": args}});
            let chunk = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "MAX_TOKENS"}]});
            read(Reply::default(), &[stream(&[chunk]).as_bytes()], true).0
        };
        for nothing in [Value::Null, json!({})] {
            let failure = call(nothing).unwrap_err();
            assert_eq!(failure.error.code, LlmErrorCode::BadResponse);
            assert!(failure.error.message.contains("ran out of room"), "{}", failure.error);
        }
        assert_eq!(call(json!({"at": 1})).unwrap().response.tool_uses.len(), 1);
    }

    #[test]
    fn a_call_that_the_model_garbled_is_an_error_and_no_call() {
        for reason in [
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "MISSING_THOUGHT_SIGNATURE",
        ] {
            let chunk = json!({
                "candidates": [{"content": {}, "finishReason": reason, "finishMessage": "call(look"}],
                "usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 5, "candidatesTokenCount": 2},
            });
            let failure = read(Reply::default(), &[stream(&[chunk]).as_bytes()], true)
                .0
                .unwrap_err();
            assert_eq!(
                (failure.error.code, failure.usage.unwrap().total()),
                (LlmErrorCode::BadResponse, 5)
            );
        }
    }
}
