//! The providers against a server made of bytes: what they send, and what they make of every answer, good or bad.
//! Chat completions are here; what the other three have in common is in `vendors`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, missing_docs)]

mod certificates;
mod conversation;
#[path = "../../src/exchange.rs"]
mod exchange;
mod fake;
mod faults;
mod kept;
#[path = "../../src/testing.rs"]
mod testing;
mod vendors;

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use contract::Key;
use contract::llm::{
    AttemptStatus, Delta, FinishReason, LlmError, LlmErrorCode, LlmRequest, LlmResponse, MadeBy, Message, ModelInfo,
    ResponseSchema, ToolChoice, ToolSpec, ToolUse, Usage,
};
use contract::ports::clock::Clock as _;
use contract::ports::provider::LlmProvider;
use fake::{Fake, STREAM_HEAD, Script, answer, stream};
use providers::connection_test::{TestReport, test_connection};
use providers::endpoint::{Endpoint, Timeouts};
use providers::openai_compatible::OpenAiCompatible;
use secrecy::SecretString;
use serde_json::{Value, json};
use testing::{Heard, Jumping};

const CANARY: &str = "sk-canary+4f9c/1b7e=82d0";

fn request() -> LlmRequest {
    LlmRequest {
        key: Key::new("cycle/1/planner"),
        model: "qwen3".to_owned(),
        system: "Be brief.".to_owned(),
        messages: vec![Message::user("Grüße 👋")],
        ..LlmRequest::default()
    }
}

fn with_schema() -> LlmRequest {
    LlmRequest {
        response_schema: Some(ResponseSchema {
            name: "plan".to_owned(),
            schema: json!({"type": "object"}),
        }),
        ..request()
    }
}

fn with_tool() -> LlmRequest {
    LlmRequest {
        tools: vec![ToolSpec {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            parameters: json!({"type": "object"}),
        }],
        tool_choice: ToolChoice::Tool("look".to_owned()),
        ..request()
    }
}

fn piece(delta: Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "qwen3:8b", "choices": [choice]})
}

fn hello() -> Script {
    stream(&[
        piece(json!({"role": "assistant", "content": "Hel"}), None),
        piece(json!({"content": "lo"}), None),
        piece(json!({}), Some("stop")),
        json!({"id": "r1", "object": "chat.completion.chunk", "created": 1, "model": "qwen3:8b", "choices": [],
            "usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14}}),
    ])
}

fn hello_response() -> LlmResponse {
    LlmResponse {
        text: "Hello".to_owned(),
        tool_uses: Vec::new(),
        finish_reason: FinishReason::EndTurn,
        usage: hello_usage(),
        model: "qwen3:8b".to_owned(),
        request_id: Some("r1".to_owned()),
    }
}

fn hello_usage() -> Usage {
    Usage {
        input: 12,
        output: 2,
        ..Usage::default()
    }
}

fn endpoint(url: &str) -> Endpoint {
    Endpoint {
        timeouts: Timeouts {
            connect: Duration::from_secs(30),
            first_byte: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            content: Duration::from_secs(30),
            error: Duration::from_secs(30),
            list: Duration::from_secs(30),
        },
        ..Endpoint::new(url, Some(SecretString::from(CANARY)))
    }
}

fn impatient(url: &str) -> Endpoint {
    Endpoint {
        timeouts: Timeouts {
            first_byte: Duration::from_millis(100),
            idle: Duration::from_millis(100),
            ..endpoint(url).timeouts
        },
        ..endpoint(url)
    }
}

/// Patient with each byte, and not with all of them.
fn strict(url: &str) -> Endpoint {
    Endpoint {
        timeouts: Timeouts {
            content: Duration::ZERO,
            error: Duration::from_millis(100),
            list: Duration::from_millis(100),
            ..endpoint(url).timeouts
        },
        ..endpoint(url)
    }
}

async fn ask(endpoint: Endpoint, request: LlmRequest) -> (Result<LlmResponse, LlmError>, Heard) {
    let heard = Heard::default();
    let provider = OpenAiCompatible::new(endpoint, Arc::new(Jumping::default())).unwrap();
    (provider.complete(request, &heard).await, heard)
}

/// The error after every attempt got the same answer, and how many attempts there were.
async fn fails(script: Script) -> (LlmError, usize) {
    let hangs = matches!(script, Script::Hang(_));
    let endpoint = match &script {
        Script::Send(_) => endpoint,
        Script::Hang(_) => impatient,
        Script::Drip(..) => strict,
    };
    let fake = Fake::with(move |_| script.clone()).await;
    let endpoint = endpoint(&fake.url);
    let (result, heard) = ask(endpoint, request()).await;
    let error = result.unwrap_err();
    let attempts = heard.attempts();
    // Under load an impatient client may be gone before its request was read.
    assert!(hangs || attempts.len() == fake.seen().len());
    assert_eq!(attempts.last().unwrap().status, AttemptStatus::Error);
    assert_eq!(attempts.last().unwrap().error.as_ref(), Some(&error));
    (error, attempts.len())
}

async fn check(script: Script, code: LlmErrorCode, attempts: usize, words: &str) {
    let (error, made) = fails(script).await;
    assert_eq!((error.code, made), (code, attempts), "{error}");
    assert!(error.message.contains(words), "{error}");
}

#[tokio::test]
async fn sends_the_request_and_streams_the_answer() {
    let fake = Fake::playing(vec![hello()]).await;
    let (result, heard) = ask(endpoint(&format!("{}/v1/", fake.url)), request()).await;
    assert_eq!(result.unwrap(), hello_response());
    let text = |text: &str| Delta::Text { text: text.to_owned() };
    assert_eq!(heard.deltas(), [text("Hel"), text("lo")]);
    let attempts = heard.attempts();
    assert_eq!(attempts.len(), 1);
    assert_eq!(
        (attempts[0].status, attempts[0].usage),
        (AttemptStatus::Success, Some(hello_usage()))
    );
    let seen = &fake.seen()[0];
    assert_eq!(seen.line, "POST /v1/chat/completions HTTP/1.1");
    assert_eq!(seen.authorization.as_deref(), Some(&*format!("Bearer {CANARY}")));
    let body = json!({
        "model": "qwen3",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüße 👋"}],
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    assert_eq!(seen.body, body);
}

#[tokio::test]
async fn sends_no_authorization_without_a_key() {
    let fake = Fake::playing(vec![hello(), hello()]).await;
    for key in [None, Some(SecretString::from("  "))] {
        let endpoint = Endpoint {
            key,
            ..endpoint(&fake.url)
        };
        ask(endpoint, request()).await.0.unwrap();
    }
    assert!(fake.seen().iter().all(|seen| seen.authorization.is_none()));
}

#[tokio::test]
async fn demands_a_tool_and_returns_the_calls() {
    let call = |index: u32, id: &str, arguments: &str| {
        let function = json!({"name": "look", "arguments": arguments});
        json!({"index": index, "id": id, "type": "function", "function": function})
    };
    let more = |index: u32, arguments: &str| json!({"index": index, "function": {"arguments": arguments}});
    let fake = Fake::playing(vec![stream(&[
        piece(
            json!({"role": "assistant", "content": null, "tool_calls": [call(0, "a", "")]}),
            None,
        ),
        piece(json!({"tool_calls": [more(0, "{\"at\":")]}), None),
        piece(json!({"tool_calls": [call(1, "b", "{}")]}), None),
        piece(json!({"tool_calls": [more(0, "1}")]}), None),
        piece(json!({}), Some("tool_calls")),
    ])])
    .await;
    let response = ask(endpoint(&fake.url), with_tool()).await.0.unwrap();
    let tool_use = |id: &str, input: Value| ToolUse {
        id: id.to_owned(),
        name: "look".to_owned(),
        input,
        carried: None,
        made_by: Some(MadeBy {
            provider: "openai_compatible".to_owned(),
            model: "qwen3".to_owned(),
        }),
    };
    assert_eq!(
        response.tool_uses,
        [tool_use("a", json!({"at": 1})), tool_use("b", json!({}))]
    );
    assert_eq!(response.finish_reason, FinishReason::ToolUse);
    let body = json!({
        "model": "qwen3",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Grüße 👋"}],
        "stream": true,
        "stream_options": {"include_usage": true},
        "tools": [{
            "type": "function",
            "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
        }],
        "tool_choice": {"type": "function", "function": {"name": "look"}},
    });
    assert_eq!(fake.seen()[0].body, body);
}

#[tokio::test]
async fn asks_for_a_shape_in_simpler_terms_and_remembers_it() {
    let refused = || answer(400, &[], r#"{"error": "response_format is not supported"}"#);
    let fake = Fake::playing(vec![refused(), refused(), hello(), hello()]).await;
    let provider = OpenAiCompatible::new(endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let heard = Heard::default();
    provider.complete(with_schema(), &heard).await.unwrap();
    provider.complete(with_schema(), &heard).await.unwrap();
    let formats: Vec<Value> = fake
        .seen()
        .iter()
        .map(|seen| seen.body["response_format"]["type"].clone())
        .collect();
    assert_eq!(
        formats,
        [json!("json_schema"), json!("json_object"), Value::Null, Value::Null]
    );
    let waits: Vec<Option<u64>> = heard.attempts().iter().map(|attempt| attempt.wait_ms).collect();
    assert_eq!(waits, [Some(0), Some(0), None, None]);
}

#[tokio::test]
async fn a_request_that_stays_refused_teaches_nothing_about_the_server() {
    let refused = || answer(400, &[], r#"{"error": "something else is wrong"}"#);
    let fake = Fake::playing(vec![refused(), refused(), refused(), hello()]).await;
    let provider = OpenAiCompatible::new(endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let heard = Heard::default();
    let error = provider.complete(with_schema(), &heard).await.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::InvalidRequest);
    provider.complete(with_schema(), &heard).await.unwrap();
    assert_eq!(fake.seen()[3].body["response_format"]["type"], "json_schema");
}

#[tokio::test]
async fn demands_the_only_tool_where_a_server_takes_no_names() {
    let refused = r#"{"error": "Invalid tool_choice type: 'object'. Supported string values: none, auto, required"}"#;
    let fake = Fake::playing(vec![answer(400, &[], refused), hello()]).await;
    ask(endpoint(&fake.url), with_tool()).await.0.unwrap();
    assert_eq!(fake.seen()[1].body["tool_choice"], "required");
}

#[tokio::test]
async fn reads_an_answer_that_arrives_byte_by_byte() {
    let Script::Send(parts) = hello() else { panic!() };
    let bytes = parts.concat().into_iter().map(|byte| vec![byte]).collect();
    let fake = Fake::playing(vec![Script::Send(bytes)]).await;
    assert_eq!(ask(endpoint(&fake.url), request()).await.0.unwrap(), hello_response());
}

#[tokio::test]
async fn takes_an_answer_from_a_server_that_does_not_stream() {
    let body = json!({
        "id": "r1", "model": "qwen3:8b", "usage": {"prompt_tokens": 12, "completion_tokens": 2},
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    });
    let fake = Fake::playing(vec![answer(
        200,
        &["content-type: application/json"],
        &body.to_string(),
    )])
    .await;
    assert_eq!(ask(endpoint(&fake.url), request()).await.0.unwrap(), hello_response());
}

#[tokio::test]
async fn a_server_that_does_not_count_gets_no_estimate() {
    let fake = Fake::playing(vec![stream(&[piece(json!({"content": "Hi"}), Some("stop"))])]).await;
    let (response, heard) = ask(endpoint(&fake.url), request()).await;
    assert_eq!(response.unwrap().usage, Usage::default());
    assert_eq!(heard.attempts()[0].usage, None);
}

#[tokio::test]
async fn says_that_nothing_answers() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (result, heard) = ask(endpoint(&url), request()).await;
    let error = result.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::Connection);
    assert_eq!(
        error.message,
        format!("nothing answers at {url}: is the model server running?")
    );
    assert_eq!(heard.attempts().len(), 4);
}

#[tokio::test]
async fn says_that_there_is_no_such_name() {
    let error = ask(endpoint("http://no-such-server.invalid:9"), request())
        .await
        .0
        .unwrap_err();
    assert_eq!(error.code, LlmErrorCode::Connection);
    assert!(
        error
            .message
            .starts_with("there is no server of the name in http://no-such-server.invalid:9"),
        "{error}"
    );
}

#[tokio::test]
async fn says_that_https_does_not_work_there() {
    let fake = Fake::playing(vec![]).await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let answering = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    let error = ask(endpoint(&url), request()).await.0.unwrap_err();
    answering.abort();
    assert_eq!(error.code, LlmErrorCode::Connection);
    assert!(error.message.contains("http:// instead of https://"), "{error}");
    assert!(fake.seen().is_empty());
}

#[tokio::test]
async fn a_server_that_only_keeps_the_line_open_is_too_slow() {
    for alive in [": ping\n\n", "event: ping\ndata: {\"type\": \"ping\"}\n\n"] {
        let open = Script::Hang(format!("{STREAM_HEAD}{alive}").into_bytes());
        let fake = Fake::with(move |_| open.clone()).await;
        let mut endpoint = endpoint(&fake.url);
        endpoint.timeouts.content = Duration::ZERO;
        let (result, heard) = ask(endpoint, request()).await;
        let error = result.unwrap_err();
        assert_eq!((error.code, heard.attempts().len()), (LlmErrorCode::Timeout, 4));
        assert!(error.message.contains("kept the line open"), "{error}");
    }
}

#[tokio::test]
async fn a_server_that_says_nothing_is_too_slow() {
    check(
        Script::Hang(Vec::new()),
        LlmErrorCode::Timeout,
        4,
        "sent nothing for 0.1 seconds",
    )
    .await;
    let head = STREAM_HEAD.as_bytes().to_vec();
    check(
        Script::Hang(head),
        LlmErrorCode::Timeout,
        4,
        "sent nothing for 0.1 seconds",
    )
    .await;
    let begun = format!("{STREAM_HEAD}data: {}\n\n", piece(json!({"content": "x"}), None));
    check(
        Script::Hang(begun.into_bytes()),
        LlmErrorCode::Timeout,
        4,
        "sent nothing for 0.1 seconds",
    )
    .await;
}

/// Each byte comes in time, and the last one never.
#[tokio::test]
async fn a_server_that_drips_is_not_waited_for_without_end() {
    let dripping =
        |head: &str, drop: u8| Script::Drip(format!("{head}content-length: 60000\r\n\r\n").into_bytes(), drop);
    let failed = "HTTP/1.1 500 X\r\ncontent-type: application/json\r\n";
    check(dripping(failed, b' '), LlmErrorCode::Server, 4, "failed (HTTP 500)").await;
    let refused = "HTTP/1.1 401 X\r\n";
    check(
        dripping(refused, b'x'),
        LlmErrorCode::Authentication,
        1,
        "refused the key",
    )
    .await;
    let well = "HTTP/1.1 200 X\r\n";
    for drop in *b" [" {
        check(dripping(well, drop), LlmErrorCode::Timeout, 4, "kept the line open").await;
    }
    check(dripping(well, b'<'), LlmErrorCode::BadResponse, 1, "a web page").await;
    let stream = |drop| Script::Drip(STREAM_HEAD.as_bytes().to_vec(), drop);
    for drop in *b":\nd" {
        check(stream(drop), LlmErrorCode::Timeout, 4, "kept the line open").await;
    }
}

#[tokio::test]
async fn a_list_of_models_that_drips_is_not_waited_for_without_end() {
    let fake = Fake::with(|_| Script::Drip(b"HTTP/1.1 200 X\r\ncontent-length: 60000\r\n\r\n".to_vec(), b' ')).await;
    let provider = OpenAiCompatible::new(strict(&fake.url), Arc::new(Jumping::default())).unwrap();
    let error = provider.models().await.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::Timeout);
    assert!(error.message.contains("did not come to the end"), "{error}");
}

#[tokio::test]
async fn a_connection_that_ends_before_the_answer_is_tried_again() {
    check(
        Script::Send(Vec::new()),
        LlmErrorCode::Connection,
        4,
        "broke off the connection before it answered",
    )
    .await;
}

#[tokio::test]
async fn a_cut_stream_starts_over_and_counts_what_it_cost() {
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 1}});
    let begun = piece(json!({"content": "Half"}), None);
    let cut = format!("{STREAM_HEAD}data: {begun}\n\ndata: {usage}\n\ndata: {{\"choi");
    let fake = Fake::playing(vec![Script::Send(vec![cut.into_bytes()]), hello()]).await;
    let (response, heard) = ask(endpoint(&fake.url), request()).await;
    assert_eq!(response.unwrap().text, "Hello");
    let text = |text: &str| Delta::Text { text: text.to_owned() };
    assert_eq!(heard.deltas(), [text("Half"), Delta::Restart, text("Hel"), text("lo")]);
    let attempts = heard.attempts();
    assert_eq!(attempts[0].error.as_ref().unwrap().code, LlmErrorCode::StreamCut);
    assert_eq!(attempts[0].usage.unwrap().total(), 13);
}

#[tokio::test]
async fn a_refused_key_is_not_tried_again() {
    for status in [401, 403] {
        check(
            answer(status, &[], "{}"),
            LlmErrorCode::Authentication,
            1,
            "refused the key: check the key",
        )
        .await;
    }
}

#[tokio::test]
async fn a_missing_model_and_a_wrong_path_are_told_apart() {
    let model = r#"{"error": {"message": "model \"qwen3\" not found, try pulling it first"}}"#;
    check(
        answer(404, &[], model),
        LlmErrorCode::ModelNotFound,
        1,
        "does not have this model",
    )
    .await;
    check(
        answer(404, &[], "404 page not found"),
        LlmErrorCode::BadResponse,
        1,
        "no model API at this address",
    )
    .await;
}

#[tokio::test]
async fn a_web_page_is_no_answer() {
    let page = "<!DOCTYPE html><html><body>Welcome</body></html>";
    for status in [200, 404] {
        let script = answer(status, &["content-type: text/html"], page);
        check(script, LlmErrorCode::BadResponse, 1, "a web page, not a model API").await;
    }
    check(answer(502, &[], page), LlmErrorCode::Server, 4, "failed (HTTP 502)").await;
}

#[tokio::test]
async fn nonsense_is_no_answer() {
    check(
        answer(200, &[], "data: }{\n\n"),
        LlmErrorCode::BadResponse,
        1,
        "not JSON",
    )
    .await;
    check(answer(200, &[], "{]"), LlmErrorCode::BadResponse, 1, "not JSON").await;
    check(
        Script::Send(vec![b"\0\x16nonsense\r\n\r\n".to_vec()]),
        LlmErrorCode::Connection,
        4,
        "does not speak http",
    )
    .await;
}

#[tokio::test]
async fn a_failing_server_is_tried_again() {
    for status in [500, 503, 529] {
        check(answer(status, &[], "{}"), LlmErrorCode::Server, 4, "failed").await;
    }
    check(answer(408, &[], "{}"), LlmErrorCode::Timeout, 4, "gave up waiting").await;
}

#[tokio::test]
async fn other_refusals_are_not_tried_again() {
    for status in [400, 402, 409, 422] {
        check(answer(status, &[], "{}"), LlmErrorCode::InvalidRequest, 1, "").await;
    }
    let long = r#"{"error": {"code": "context_length_exceeded", "message": "8000 > 4096"}}"#;
    check(
        answer(400, &[], long),
        LlmErrorCode::ContextLength,
        1,
        "saying \"8000 > 4096\"",
    )
    .await;
}

#[tokio::test]
async fn waits_as_long_as_the_server_asks() {
    let waits = [
        (&["retry-after: 7"][..], 7_000),
        (&["retry-after-ms: 250", "retry-after: 7"], 250),
        (&["retry-after: Thu, 01 Jan 1970 00:00:30 GMT"], 30_000 - 7_250),
        (&["retry-after: 3600"], 120_000),
    ];
    // Four refusals would be one too many for one call.
    let (first, last) = waits.split_at(3);
    let clock = Arc::new(Jumping::default());
    for waits in [first, last] {
        let mut scripts: Vec<Script> = waits.iter().map(|(headers, _)| answer(429, headers, "{}")).collect();
        scripts.push(hello());
        let fake = Fake::playing(scripts).await;
        let heard = Heard::default();
        let provider = OpenAiCompatible::new(endpoint(&fake.url), clock.clone()).unwrap();
        provider.complete(request(), &heard).await.unwrap();
        let waited: Vec<u64> = heard.attempts().iter().filter_map(|attempt| attempt.wait_ms).collect();
        let expected: Vec<u64> = waits.iter().map(|(_, wait)| *wait).collect();
        assert_eq!(waited, expected);
    }
    assert_eq!(clock.now_ms(), 150_000);
}

#[tokio::test]
async fn does_not_carry_the_key_to_another_address() {
    let elsewhere = Fake::with(|_| hello()).await;
    let location = format!("location: {}/v1/chat/completions", elsewhere.url);
    check(
        answer(307, &[&location], ""),
        LlmErrorCode::BadResponse,
        1,
        "a key must not follow",
    )
    .await;
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn stops_an_answer_without_end() {
    let mut parts = vec![STREAM_HEAD.as_bytes().to_vec()];
    parts.extend((0..33).map(|_| vec![b':'; 1 << 20]));
    check(Script::Send(parts), LlmErrorCode::BadResponse, 1, "more than 32 MB").await;
}

#[tokio::test]
async fn an_error_never_contains_the_key() {
    let engine = base64::engine::general_purpose::STANDARD;
    let percent: String = CANARY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let encodings = [
        CANARY.to_owned(),
        CANARY.replace('+', "%2B").replace('/', "%2F").replace('=', "%3D"),
        CANARY.replace('/', "\\/"),
        CANARY.bytes().map(|byte| format!("{byte:02x}")).collect(),
        engine.encode(CANARY),
        engine.encode(format!("Bearer {CANARY}")),
        percent,
    ];
    for encoded in &encodings {
        let inside = format!("{STREAM_HEAD}data: {{\"error\": {{\"message\": \"bad key {encoded}\"}}}}\n\n");
        let body = format!("{{\"error\": {{\"message\": \"bad key {encoded}\"}}}}");
        let scripts = [401, 400, 500].map(|status| answer(status, &[], &body));
        for script in scripts.into_iter().chain([Script::Send(vec![inside.into_bytes()])]) {
            let (error, _) = fails(script).await;
            let shown = format!("{error} {error:?} {}", serde_json::to_string(&error).unwrap());
            assert!(shown.contains("bad key"), "{shown}");
            assert!(!shown.contains(encoded.trim_end_matches('=')), "{shown}");
            assert!(!shown.contains("canary"), "{shown}");
        }
    }
    let debug = format!("{:?}", endpoint("http://localhost"));
    assert!(!debug.contains("canary"), "{debug}");
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_says_so() {
    let fake = Fake::playing(vec![]).await;
    let endpoint = Endpoint {
        key: Some(SecretString::from("two\nlines")),
        ..endpoint(&fake.url)
    };
    let error = ask(endpoint, request()).await.0.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::Authentication);
    assert!(
        error.message.contains("copy it again") && !error.message.contains("lines"),
        "{error}"
    );
}

#[tokio::test]
async fn a_thousand_broken_connections_each_end_in_an_answer_or_a_typed_error() {
    let seed = 0x2f61;
    let mut random = fastrand::Rng::with_seed(seed);
    let Script::Send(parts) = hello() else { panic!() };
    let whole = parts.concat();
    let fake = Fake::with(move |_| {
        let place = random.usize(..whole.len());
        let (first, second) = whole.split_at(place);
        let second = match random.u8(..3) {
            0 => Vec::new(),
            1 => second.iter().rev().copied().collect(),
            _ => second[..random.usize(..=second.len())].to_vec(),
        };
        Script::Send(vec![first.to_vec(), second])
    })
    .await;
    let provider = OpenAiCompatible::new(endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let mut answers = 0;
    // Each call makes up to four connections.
    for _ in 0..1_000 {
        if fake.seen().len() >= 1_000 {
            break;
        }
        let heard = Heard::default();
        match provider.complete(request(), &heard).await {
            Ok(response) => {
                answers += 1;
                assert_eq!(response.finish_reason, FinishReason::EndTurn, "seed {seed:#x}");
            }
            Err(error) => assert!(!error.message.is_empty(), "seed {seed:#x}"),
        }
    }
    assert!(
        fake.seen().len() >= 1_000,
        "seed {seed:#x}: the server was not asked often enough"
    );
    assert!(answers > 0, "seed {seed:#x}: not one answer was whole enough");
}

#[tokio::test]
async fn lists_the_models() {
    let body = json!({"data": [
        {"id": "qwen3", "object": "model", "max_model_len": 32768},
        {"id": "a/b", "name": "A B", "context_length": 131_072},
        {"object": "nothing"},
    ]});
    let fake = Fake::playing(vec![
        answer(200, &[], &body.to_string()),
        answer(200, &[], "{\"data\": null}"),
    ])
    .await;
    let provider = OpenAiCompatible::new(endpoint(&fake.url), Arc::new(Jumping::default())).unwrap();
    let model = |id: &str, description: Option<&str>, window| ModelInfo {
        id: id.to_owned(),
        description: description.map(ToOwned::to_owned),
        context_window: Some(window),
        ..ModelInfo::default()
    };
    let expected = [model("qwen3", None, 32_768), model("a/b", Some("A B"), 131_072)];
    assert_eq!(provider.models().await.unwrap(), expected);
    assert_eq!(provider.models().await.unwrap(), []);
    assert_eq!(fake.seen()[0].line, "GET /v1/models HTTP/1.1");
}

async fn test(list: Script, call: Option<Script>, model: &str) -> Result<TestReport, LlmError> {
    let fake = Fake::playing([Some(list), call].into_iter().flatten().collect()).await;
    let clock = Arc::new(Jumping::default());
    let server = providers::openai_compatible::open("local", endpoint(&fake.url), clock.clone()).unwrap();
    test_connection(&*server, model, &*clock).await
}

fn list(ids: &[&str]) -> Script {
    let data: Vec<Value> = ids.iter().map(|id| json!({ "id": id })).collect();
    answer(200, &[], &json!({ "data": data }).to_string())
}

#[tokio::test]
async fn a_test_of_the_connection_reports_what_answered() {
    let report = test(list(&["qwen3", "other"]), Some(hello()), "qwen3").await.unwrap();
    assert_eq!(
        (&*report.answered_with, report.models.len(), report.note),
        ("qwen3:8b", 2, None)
    );
}

#[tokio::test]
async fn a_test_of_the_connection_says_when_the_model_is_not_listed() {
    let report = test(list(&["qwen3:8b"]), Some(hello()), "qwen3").await.unwrap();
    let note = "\"qwen3\" answers, although the server does not list it (it has \"qwen3:8b\")";
    assert_eq!(report.note.as_deref(), Some(note));
    let missing = answer(404, &[], r#"{"error": {"message": "model 'x' not found"}}"#);
    let error = test(list(&["a", "b", "c", "d", "e", "f"]), Some(missing), "x")
        .await
        .unwrap_err();
    assert_eq!(error.code, LlmErrorCode::ModelNotFound);
    assert!(
        error
            .message
            .ends_with(r#"(it has "a", "b", "c", "d", "e" and 1 more)"#),
        "{error}"
    );
}

/// A restricted key may ask models without being allowed to list them, and a list may be out of order.
#[tokio::test]
async fn a_test_of_the_connection_leaves_it_to_the_call_where_a_model_is_named() {
    for (status, body) in [
        (403, r#"{"error": {"message": "Missing scopes: api.model.read."}}"#),
        (503, "{}"),
    ] {
        let report = test(answer(status, &[], body), Some(hello()), "qwen3").await.unwrap();
        assert_eq!(report.answered_with, "qwen3:8b");
        let error = test(answer(status, &[], body), None, "").await.unwrap_err();
        assert_eq!(error.status, Some(status));
    }
    let refused = answer(401, &[], r#"{"error": {"message": "no"}}"#);
    assert_eq!(
        test(refused, None, "qwen3").await.unwrap_err().code,
        LlmErrorCode::Authentication
    );
}

#[tokio::test]
async fn a_test_of_the_connection_works_without_a_list_and_does_not_try_again() {
    let report = test(answer(404, &[], "nothing here"), Some(hello()), "qwen3")
        .await
        .unwrap();
    assert_eq!((report.models, report.note), (Vec::new(), None));
    let error = test(list(&[]), Some(answer(503, &[], "")), "qwen3").await.unwrap_err();
    assert_eq!(error.code, LlmErrorCode::Server);
    let error = test(list(&["qwen3"]), None, " ").await.unwrap_err();
    assert_eq!(error.message, "no model is chosen yet (it has \"qwen3\")");
}
