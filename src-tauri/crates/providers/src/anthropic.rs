//! Anthropic's Messages API.
//!
//! A shape is demanded as the one tool that must be called, since that works for every schema; its arguments are the
//! answer's text. What a model refuses (a forced tool while it thinks, so much room for the answer) is
//! asked in simpler terms, but only where the refusal names it. Thoughts that came with a tool call go back with it.

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

/// The name before the colon in `anthropic:model`.
pub const NAME: &str = "anthropic";

/// Where it is when nobody says.
const ADDRESS: &str = "https://api.anthropic.com";

/// What the settings card shows.
pub fn info() -> ProviderInfo {
    ProviderInfo {
        name: NAME,
        title: "Anthropic",
        needs_base_url: false,
        base_url: ADDRESS,
        key: KeyNeed::Required,
        environment: &["ANTHROPIC_API_KEY"],
        credit_page: Some("https://platform.claude.com/settings/billing"),
        keys_page: Some("https://platform.claude.com/settings/keys"),
        usual_addresses: &[],
    }
}

/// Opens the API under the name that stands before the colon in `provider:model`.
///
/// # Errors
/// `InvalidRequest` when the address cannot be one.
pub fn open(name: &str, endpoint: Endpoint, clock: Arc<dyn Clock>) -> Result<Arc<dyn ModelServer>, LlmError> {
    Ok(Arc::new(Server::<Messages>::new(name, endpoint, clock)?))
}

/// `/v1/messages`.
struct Messages;

impl Protocol for Messages {
    type Terms = Terms;
    type Reply = Reply;

    const WIRE: Wire = Wire {
        version: "v1",
        key: ("x-api-key", ""),
        // The version whose types the vendor's own client has; a test holds it against that client.
        header: Some(("anthropic-version", "2026-10-21")),
        request_id: Some("request-id"),
        own: Some(ADDRESS),
    };
    const EVERYTHING: Terms = Terms::EVERYTHING;
    const MODELS: &'static str = "models?limit=1000";

    fn route(_request: &LlmRequest) -> Result<String, LlmError> {
        Ok("messages".to_owned())
    }

    fn body(request: &LlmRequest, terms: Terms) -> Value {
        request::body(request, terms)
    }

    fn effort(request: &LlmRequest, terms: Terms) -> Option<Effort> {
        request::effort(request, terms)
    }

    fn reply(request: &LlmRequest, terms: Terms) -> Reply {
        Reply::to(request::shape_tool(request, terms))
    }

    fn simpler(terms: Terms, request: &LlmRequest, refusal: &Refusal) -> Option<Terms> {
        terms.less(request, refusal)
    }

    fn models(list: &Value) -> Option<Vec<ModelInfo>> {
        Some(list.get("data")?.as_array()?.iter().filter_map(model).collect())
    }
}

fn model(value: &Value) -> Option<ModelInfo> {
    // What is retired stays on the list, but answers nobody.
    if text_of(value, "lifecycle") == Some("retired") {
        return None;
    }
    let count = |name: &str| value.get(name).and_then(Value::as_u64);
    Some(ModelInfo {
        id: text_of(value, "id")?.to_owned(),
        description: text_of(value, "display_name").map(ToOwned::to_owned),
        context_window: count("max_input_tokens"),
        max_output: count("max_tokens"),
        ..ModelInfo::default()
    })
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
        all_exchanges::<Messages>(NAME);
    }

    #[test]
    fn an_answer_that_comes_all_at_once_is_one_too() {
        let body = json!({
            "type": "message", "id": "msg_01", "model": "m", "stop_reason": "tool_use",
            "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}}],
            "usage": {"input_tokens": 3, "output_tokens": 4},
        });
        let answer = read(Reply::to(None), &[body.to_string().as_bytes()], true).0.unwrap();
        assert_eq!((&*answer.response.text, answer.response.usage.total()), ("I look.", 7));
        assert_eq!(answer.response.tool_uses[0].input, json!({"at": 1}));
    }

    fn request() -> LlmRequest {
        LlmRequest {
            key: Key::new("k"),
            model: "m".to_owned(),
            system: "Be brief.".to_owned(),
            messages: vec![Message::user("Hello")],
            tool_choice: ToolChoice::None,
            temperature: Some(0.5),
            ..LlmRequest::default()
        }
    }

    fn less(terms: Terms, request: &LlmRequest, words: &str) -> Option<Terms> {
        let body = json!({"type": "error", "error": {"type": "invalid_request_error", "message": words}});
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
        let less = |terms, words| less(terms, &request, words);
        let terms = less(Terms::EVERYTHING, "max_tokens: 32000 > 8192, which is the maximum").unwrap();
        assert_eq!(Messages::body(&request, terms)["max_tokens"], 8192);
        assert_eq!(less(terms, "max_tokens: 8192 > 8192, which makes no sense"), None);
        assert_eq!(less(terms, "something else is wrong"), None);
    }

    #[test]
    fn a_tool_that_cannot_be_forced_is_asked_for() {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        };
        let request = LlmRequest {
            tools: vec![tool("look"), tool("write")],
            tool_choice: ToolChoice::Tool("look".to_owned()),
            ..request()
        };
        let words = "tool_choice: Thinking may not be enabled when tool_choice forces tool use.";
        let terms = less(Terms::EVERYTHING, &request, words).unwrap();
        let body = Messages::body(&request, terms);
        assert_eq!(
            (&body["thinking"], &body["tool_choice"]["name"]),
            (&json!({"type": "disabled"}), &json!("look"))
        );
        let terms = less(terms, &request, "thinking: this model cannot stop thinking").unwrap();
        let body = Messages::body(&request, terms);
        assert_eq!(
            (&body["tool_choice"], body.get("thinking")),
            (&json!({"type": "auto"}), None)
        );
        assert_eq!(body["tools"].as_array().unwrap().len(), 1);
        assert!(body["system"][0]["text"].as_str().unwrap().contains("exactly once"));
        assert_eq!(less(terms, &request, words), None);
    }

    #[test]
    fn a_shape_that_cannot_be_forced_is_asked_for() {
        let request = LlmRequest {
            response_schema: Some(ResponseSchema {
                name: "plan".to_owned(),
                schema: json!({"type": "object"}),
            }),
            ..request()
        };
        let words = "tool_choice forces tool use is not compatible with this model.";
        let terms = less(Terms::EVERYTHING, &request, words).unwrap();
        let terms = less(terms, &request, words).unwrap();
        let body = Messages::body(&request, terms);
        assert_eq!(
            (&body["tools"][0]["name"], &body["tool_choice"]),
            (&json!("plan"), &json!({"type": "auto"}))
        );
        assert!(
            body["system"][0]["text"]
                .as_str()
                .unwrap()
                .contains("Call the tool \"plan\" exactly once")
        );
    }

    /// What the catalog knows is not tried.
    #[test]
    fn nothing_is_forced_on_a_model_that_is_known_not_to_take_it() {
        let tool = ToolSpec {
            name: "look".to_owned(),
            description: String::new(),
            parameters: json!({"type": "object"}),
        };
        let forced = |model: &str| LlmRequest {
            model: model.to_owned(),
            tools: vec![tool.clone()],
            tool_choice: ToolChoice::Tool("look".to_owned()),
            ..request()
        };
        let choice = |model: &str| Messages::body(&forced(model), Terms::EVERYTHING)["tool_choice"]["type"].clone();
        assert_eq!(
            [
                "claude-opus-5-5",
                "claude-fable-5-1",
                "claude-sonnet-5-5",
                "claude-sonnet-5",
                "m"
            ]
            .map(choice),
            ["auto", "auto", "auto", "tool", "tool"]
        );
    }

    #[test]
    fn a_closed_shape_is_demanded_as_such_until_it_is_refused() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "array", "items": {"type": "string"}}}, "required": ["a"], "additionalProperties": false});
        let shaped = |schema: Value| LlmRequest {
            model: "claude-sonnet-5".to_owned(),
            response_schema: Some(ResponseSchema {
                name: "plan".to_owned(),
                schema,
            }),
            ..request()
        };
        let request = shaped(closed.clone());
        let body = Messages::body(&request, Terms::EVERYTHING);
        assert_eq!(
            body["output_config"],
            json!({"format": {"type": "json_schema", "schema": closed}})
        );
        assert_eq!(
            (body.get("tools"), request::shape_tool(&request, Terms::EVERYTHING)),
            (None, None)
        );
        let words = "output_config.format.schema: Schema is too complex.";
        let terms = less(Terms::EVERYTHING, &request, words).unwrap();
        let body = Messages::body(&request, terms);
        assert_eq!(
            (body.get("output_config"), &body["tool_choice"]["name"]),
            (None, &json!("plan"))
        );
        for open in [
            json!({"type": "object"}),
            json!({"type": "object", "properties": {"a": {"type": "object"}}, "additionalProperties": false}),
            json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 1}}, "additionalProperties": false}),
        ] {
            assert_eq!(
                Messages::body(&shaped(open), Terms::EVERYTHING).get("output_config"),
                None
            );
        }
    }

    #[test]
    fn a_model_that_is_told_how_much_to_think_thinks_also_about_a_tool_that_it_must_call() {
        let request = LlmRequest {
            response_schema: Some(ResponseSchema {
                name: "plan".to_owned(),
                schema: json!({"type": "object"}),
            }),
            effort: Some(Effort::High),
            ..request()
        };
        let body = Messages::body(&request, Terms::EVERYTHING);
        assert_eq!(
            (
                &body["thinking"]["type"],
                &body["tool_choice"]["type"],
                &body["output_config"]["effort"]
            ),
            (&json!("adaptive"), &json!("tool"), &json!("high"))
        );
        // Where a model refuses that, it is the words about thinking that go first.
        let words = "tool_choice: Thinking may not be enabled when tool_choice forces tool use.";
        let terms = less(Terms::EVERYTHING, &request, words).unwrap();
        let body = Messages::body(&request, terms);
        assert_eq!(
            (body.get("thinking"), &body["tool_choice"]["type"]),
            (None, &json!("tool"))
        );
    }

    #[test]
    fn half_a_call_is_never_kept() {
        let start = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "look", "input": {}}});
        // Nothing of the arguments is half a call too.
        for arguments in ["{\"at\": ", ""] {
            for reason in ["max_tokens", "model_context_window_exceeded"] {
                let half = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}});
                let stop =
                    json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}});
                let stream: String = [&start, &half, &stop]
                    .iter()
                    .map(|event| format!("data: {event}\n\n"))
                    .collect();
                let failure = read(Reply::to(None), &[stream.as_bytes()], true).0.unwrap_err();
                assert_eq!(
                    (failure.error.code, failure.usage.unwrap().output),
                    (LlmErrorCode::BadResponse, 9)
                );
                assert!(failure.error.message.contains("ran out of room"), "{}", failure.error);
            }
        }
    }
}
