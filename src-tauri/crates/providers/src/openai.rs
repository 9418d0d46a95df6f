//! OpenAI's Responses API.
//!
//! Nothing is kept at the provider (`store` is off): a conversation is sent whole each time, and what the model thought
//! before a tool call goes back with the call, encrypted. A schema is strict where it can be; one that allows more than
//! the strict subset does is sent as it is.

mod reply;
mod request;

use std::sync::Arc;

use contract::llm::{Effort, LlmError, LlmRequest, ModelInfo};
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

/// The name before the colon in `openai:model`.
pub const NAME: &str = "openai";

/// Models on the provider's list that answer something else than text, by a part of their names.
const OTHER_KINDS: &[&str] = &[
    "audio",
    "babbage",
    "dall-e",
    "davinci",
    "embedding",
    "image",
    "moderation",
    "realtime",
    "sora",
    "transcribe",
    "tts",
    "whisper",
];

/// Where it is when nobody says.
const ADDRESS: &str = "https://api.openai.com";

/// What the settings card shows.
pub fn info() -> ProviderInfo {
    ProviderInfo {
        name: NAME,
        title: "OpenAI",
        needs_base_url: false,
        base_url: ADDRESS,
        key: KeyNeed::Required,
        environment: &["OPENAI_API_KEY"],
        credit_page: Some("https://platform.openai.com/settings/organization/billing/overview"),
        keys_page: Some("https://platform.openai.com/api-keys"),
        usual_addresses: &[],
    }
}

/// Opens the API under the name that stands before the colon in `provider:model`.
///
/// # Errors
/// `InvalidRequest` when the address cannot be one.
pub fn open(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Arc<dyn ModelServer>, LlmError> {
    Ok(Arc::new(Server::<Responses>::new(name, endpoint, clock)?))
}

/// `/v1/responses`.
struct Responses;

impl Protocol for Responses {
    type Terms = Terms;
    type Reply = Reply;

    const WIRE: Wire = Wire {
        version: "v1",
        key: ("authorization", "Bearer "),
        header: None,
        request_id: Some("x-request-id"),
        own: Some(ADDRESS),
    };
    const EVERYTHING: Terms = Terms::EVERYTHING;
    const MODELS: &'static str = "models";

    fn route(_request: &LlmRequest) -> Result<String, LlmError> {
        Ok("responses".to_owned())
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
        let data = list.get("data")?.as_array()?;
        let mut models: Vec<ModelInfo> = data.iter().filter_map(model).collect();
        // The provider lists them in no order.
        models.sort_by(|one, other| one.id.cmp(&other.id));
        Some(models)
    }
}

fn model(value: &Value) -> Option<ModelInfo> {
    let id = text_of(value, "id")?;
    if OTHER_KINDS.iter().any(|kind| id.contains(kind)) {
        return None;
    }
    Some(ModelInfo::named(id))
}

#[cfg(test)]
mod tests {
    use contract::Key;
    use contract::llm::{LlmErrorCode, Message, ResponseSchema, ToolChoice, ToolSpec};
    use serde_json::json;

    use super::*;
    use crate::reader::trying::{all_exchanges, read};
    use crate::refusal::refusal;

    #[test]
    fn every_kept_answer_reads_the_same_however_it_arrives() {
        all_exchanges::<Responses>(NAME);
    }

    fn request() -> LlmRequest {
        LlmRequest {
            key: Key::new("k"),
            model: "m".to_owned(),
            messages: vec![Message::user("Hello")],
            tool_choice: ToolChoice::None,
            temperature: Some(0.5),
            ..LlmRequest::default()
        }
    }

    fn less(terms: Terms, request: &LlmRequest, param: &str) -> Option<Terms> {
        let body = json!({"error": {"message": "Unsupported", "type": "invalid_request_error", "param": param, "code": "unsupported"}});
        let refusal = refusal(
            &crate::endpoint::Host::of_a_person("http://host"),
            None,
            400,
            body.to_string().as_bytes(),
        );
        assert_eq!(refusal.error.code, LlmErrorCode::InvalidRequest);
        terms.less(request, &refusal)
    }

    #[test]
    fn leaves_out_what_the_refusal_names_and_nothing_else() {
        let request = request();
        let terms = less(Terms::EVERYTHING, &request, "temperature").unwrap();
        assert_eq!(Responses::body(&request, terms).get("temperature"), None);
        assert_eq!(less(terms, &request, "temperature"), None);
        assert_eq!(less(Terms::EVERYTHING, &request, "input"), None);
    }

    #[test]
    fn demands_a_shape_strictly_then_as_it_is_then_in_words() {
        let strict = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false});
        let mut request = request();
        request.response_schema = Some(ResponseSchema {
            name: "plan".to_owned(),
            schema: strict,
        });
        let how = |request: &LlmRequest, terms| Responses::body(request, terms)["text"]["format"]["strict"].clone();
        assert_eq!(how(&request, Terms::EVERYTHING), json!(true));
        let terms = less(Terms::EVERYTHING, &request, "text.format.schema").unwrap();
        assert_eq!(how(&request, terms), json!(false));
        let terms = less(terms, &request, "text.format.schema").unwrap();
        let body = Responses::body(&request, terms);
        assert_eq!(body.get("text"), None);
        assert!(
            body["instructions"]
                .as_str()
                .unwrap()
                .contains("matches this JSON Schema")
        );
        assert_eq!(less(terms, &request, "text.format"), None);
    }

    #[test]
    fn a_tool_is_strict_only_where_its_schema_is() {
        let mut request = request();
        let tool = |name: &str, parameters: Value| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters,
        };
        let closed = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
        request.tools = vec![tool("open", json!({"type": "object"})), tool("closed", closed)];
        let body = Responses::body(&request, Terms::EVERYTHING);
        assert_eq!(
            (&body["tools"][0]["strict"], &body["tools"][1]["strict"]),
            (&json!(false), &json!(true))
        );
    }

    #[test]
    fn an_answer_that_failed_half_way_is_its_error() {
        let check = |code: &str, expected| {
            let event = json!({"type": "response.failed", "response": {"id": "resp_01", "status": "failed", "output": [],
                "usage": null, "error": {"code": code, "message": "no"}}});
            let stream = format!("event: response.failed\ndata: {event}\n\n");
            let failure = read(Reply::default(), &[stream.as_bytes()], true).0.unwrap_err();
            assert_eq!(failure.error.code, expected);
        };
        check("server_error", LlmErrorCode::Server);
        check("rate_limit_exceeded", LlmErrorCode::RateLimit);
        check("invalid_prompt", LlmErrorCode::InvalidRequest);
    }

    #[test]
    fn half_a_call_is_never_kept() {
        // Nothing of the arguments is half a call too.
        for arguments in ["{\"at\": ", ""] {
            let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c", "name": "look", "arguments": arguments, "status": "incomplete"});
            let event = json!({"type": "response.incomplete", "response": {"id": "resp_01", "model": "m", "status": "incomplete",
                "incomplete_details": {"reason": "max_output_tokens"}, "output": [call],
                "usage": {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}}});
            let stream = format!("data: {event}\n\n");
            let failure = read(Reply::default(), &[stream.as_bytes()], true).0.unwrap_err();
            assert_eq!(
                (failure.error.code, failure.usage.unwrap().total()),
                (LlmErrorCode::BadResponse, 7)
            );
            assert!(failure.error.message.contains("ran out of room"), "{}", failure.error);
        }
    }

    #[test]
    fn items_that_the_last_event_leaves_out_are_kept_all_the_same() {
        let done = json!({"type": "response.output_item.done", "output_index": 0, "item": {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Hi", "annotations": []}]}});
        let end = json!({"type": "response.completed", "response": {"id": "r", "model": "m", "status": "completed"}});
        let stream = format!("data: {done}\n\ndata: {end}\n\n");
        assert_eq!(
            read(Reply::default(), &[stream.as_bytes()], true)
                .0
                .unwrap()
                .response
                .text,
            "Hi"
        );
    }
}
