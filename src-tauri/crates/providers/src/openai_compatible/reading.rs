//! Tests of the reader with the streams of chat completions.

use contract::llm::{Delta, FinishReason, LlmErrorCode, LlmResponse, ToolUse, Usage};
use serde_json::json;

use super::reply::Reply;
use crate::reader::trying;
use crate::reader::trying::{same_however_it_arrives, survives_damage};
use crate::retry::{Answer, Failure};

const STREAM: &str = concat!(
    ": OPENROUTER PROCESSING\n\n",
    "data: {\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Grüße \"}}]}\r\n\r\n",
    "data: {\"id\":\"r1\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"👋\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",",
    "\"function\":{\"name\":\"look\",\"arguments\":\"{\\\"at\\\"\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":\\\"ü\\\"}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\n",
    "data: \"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n",
    "data: [DONE]\n\n",
);

fn whole() -> LlmResponse {
    let usage = Usage {
        input: 9,
        output: 4,
        ..Usage::default()
    };
    LlmResponse {
        text: "Grüße 👋".to_owned(),
        tool_uses: vec![ToolUse {
            id: "c1".to_owned(),
            name: "look".to_owned(),
            input: json!({"at": "ü"}),
            carried: None,
            made_by: None,
        }],
        finish_reason: FinishReason::ToolUse,
        usage,
        model: "m".to_owned(),
        request_id: Some("r1".to_owned()),
    }
}

fn read(pieces: &[&[u8]], whole: bool) -> (Result<Answer, Failure>, Vec<Delta>) {
    trying::read(Reply::default(), pieces, whole)
}

fn check_error(body: &str, code: LlmErrorCode, words: &str) {
    let failure = read(&[body.as_bytes()], true).0.unwrap_err();
    assert_eq!(failure.error.code, code, "{}", failure.error);
    assert!(failure.error.message.contains(words), "{}", failure.error);
}

#[test]
fn reads_the_same_however_the_stream_arrives_and_keeps_no_half_tool_call() {
    let finished = STREAM.find("\"tool_calls\"}]}\n\n").unwrap() + "\"tool_calls\"}]}".len();
    same_however_it_arrives(Reply::default, STREAM, finished, &whole());
}

#[test]
fn takes_one_json_answer_from_a_server_that_does_not_stream() {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{\"at\":\"ü\"}"}});
    let body = json!({
        "id": "r1", "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 4}, "choices": [{
            "finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Grüße 👋", "tool_calls": [call]},
        }],
    })
    .to_string();
    assert_eq!(read(&[body.as_bytes()], true).0.unwrap().response, whole());
    for place in 1..body.len() {
        let failure = read(&[&body.as_bytes()[..place]], false).0.unwrap_err();
        assert_eq!(failure.error.code, LlmErrorCode::StreamCut, "cut at {place}");
    }
}

#[test]
fn says_what_came_instead_of_an_answer() {
    check_error(
        "\n <!doctype html><p>Hi",
        LlmErrorCode::BadResponse,
        "a web page, not a model API",
    );
    check_error("data: {nonsense\n\n", LlmErrorCode::BadResponse, "not JSON");
    check_error("{nonsense}", LlmErrorCode::BadResponse, "not JSON");
    check_error("", LlmErrorCode::BadResponse, "nothing at all");
    check_error(
        "data: [DONE]\n\n",
        LlmErrorCode::BadResponse,
        "nothing that a model says",
    );
    check_error("[]", LlmErrorCode::BadResponse, "nothing that a model says");
    check_error("plain words", LlmErrorCode::StreamCut, "broke off");
}

#[test]
fn an_error_in_the_middle_of_a_stream_is_that_error() {
    let started = "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n";
    let check = |event: &str, code, words| check_error(&format!("{started}{event}\n\n"), code, words);
    check(
        "data: {\"error\":{\"code\":502,\"message\":\"no GPU\"}}",
        LlmErrorCode::Server,
        "no GPU",
    );
    check(
        "event: error\ndata: {\"message\":\"full\"}",
        LlmErrorCode::Server,
        "full",
    );
    let long = "data: {\"error\":{\"type\":\"exceed_context_size_error\",\"message\":\"x\"}}";
    check(long, LlmErrorCode::ContextLength, "too long");
}

#[test]
fn damaged_answers_each_end_in_an_answer_or_a_typed_error() {
    survives_damage(Reply::default, STREAM);
}
