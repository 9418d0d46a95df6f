//! What holds for each of the three vendors, tried with each: what is sent, asserted whole; the answer; every refusal;
//! how long is waited; that a call can be given up; and that a key never comes back.

use std::sync::Arc;

use contract::llm::{AttemptStatus, Delta, LlmError, LlmErrorCode, LlmResponse, MadeBy};
use contract::ports::provider::Sink;
use providers::connection_test::test_connection;
use providers::endpoint::Endpoint;
use providers::server::{ModelServer, Open};
use providers::{anthropic, gemini, openai};
use serde_json::{Value, json};

use crate::exchange::{self, Exchange};
use crate::fake::{Fake, STREAM_HEAD, Script, answer};
use crate::{CANARY, Heard, Jumping, endpoint};

/// One vendor, and what is its own.
pub(crate) struct Vendor {
    pub(crate) name: &'static str,
    open: Open,
    key_header: (&'static str, &'static str),
    fixed_header: Option<(&'static str, &'static str)>,
    id_header: Option<&'static str>,
    line: &'static str,
    models_line: &'static str,
    /// An error's body: its kind in the vendor's own word, and its message.
    error: fn(&str, &str) -> Value,
    /// Those kinds: a refused key, an unknown model, too much to read, too many requests, and a full house.
    kinds: [&'static str; 5],
    missing: &'static str,
    too_long: &'static str,
    models: fn() -> Value,
}

pub(crate) const VENDORS: &[Vendor] = &[ANTHROPIC, OPENAI, GEMINI];

const ANTHROPIC: Vendor = Vendor {
    name: anthropic::NAME,
    open: anthropic::open,
    key_header: ("x-api-key", ""),
    fixed_header: Some(("anthropic-version", "2026-10-21")),
    id_header: Some("request-id"),
    line: "POST /v1/messages HTTP/1.1",
    models_line: "GET /v1/models?limit=1000 HTTP/1.1",
    error: |kind, message| json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_01"}),
    kinds: [
        "authentication_error",
        "not_found_error",
        "request_too_large",
        "rate_limit_error",
        "overloaded_error",
    ],
    missing: "model: claude-9",
    too_long: "prompt is too long: 208310 tokens > 200000 maximum",
    models: || {
        json!({"has_more": false, "data": [
            {"type": "model", "id": "a", "display_name": "Model A", "max_input_tokens": 200_000, "max_tokens": 64_000, "lifecycle": "active"},
            {"type": "model", "id": "old", "display_name": "Old", "lifecycle": "retired"},
        ]})
    },
};

const OPENAI: Vendor = Vendor {
    name: openai::NAME,
    open: openai::open,
    key_header: ("authorization", "Bearer "),
    fixed_header: None,
    id_header: Some("x-request-id"),
    line: "POST /v1/responses HTTP/1.1",
    models_line: "GET /v1/models HTTP/1.1",
    error: |kind, message| json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": kind}}),
    kinds: [
        "invalid_api_key",
        "model_not_found",
        "context_length_exceeded",
        "rate_limit_exceeded",
        "server_error",
    ],
    missing: "The model 'gpt-9' does not exist or you do not have access to it.",
    too_long: "This model's maximum context length is 200000 tokens. However, your messages resulted in 208310 tokens.",
    models: || {
        json!({"object": "list", "data": [
            {"id": "text-embedding-3-large", "object": "model"},
            {"id": "a", "object": "model"},
        ]})
    },
};

const GEMINI: Vendor = Vendor {
    name: gemini::NAME,
    open: gemini::open,
    key_header: ("x-goog-api-key", ""),
    fixed_header: None,
    id_header: None,
    line: "POST /v1/models/gemini-3.5-pro:streamGenerateContent?alt=sse HTTP/1.1",
    models_line: "GET /v1/models?pageSize=1000 HTTP/1.1",
    error: |kind, message| json!({"error": {"code": null, "message": message, "status": kind, "details": []}}),
    kinds: [
        "PERMISSION_DENIED",
        "NOT_FOUND",
        "INVALID_ARGUMENT",
        "RESOURCE_EXHAUSTED",
        "UNAVAILABLE",
    ],
    missing: "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.",
    too_long: "The input token count (208310) exceeds the maximum number of tokens allowed (200000).",
    models: || {
        json!({"models": [
            {"name": "models/a", "displayName": "Model A", "inputTokenLimit": 1_048_576, "outputTokenLimit": 64_000,
                "supportedGenerationMethods": ["generateContent", "countTokens"]},
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        ]})
    },
};

impl Vendor {
    pub(crate) fn server(&self, endpoint: Endpoint) -> Arc<dyn ModelServer> {
        (self.open)(self.name, endpoint, Arc::new(Jumping::default())).unwrap()
    }

    pub(crate) fn exchange(&self, name: &str) -> Exchange {
        let mut all = exchange::all(self.name).into_iter();
        all.find(|exchange| exchange.name == name).unwrap()
    }

    /// The answer of an exchange as it is sent.
    pub(crate) fn sent(&self, exchange: &Exchange) -> Script {
        let head = match self.id_header {
            Some(name) => STREAM_HEAD.replacen("\r\n", &format!("\r\n{name}: req_01\r\n"), 1),
            None => STREAM_HEAD.to_owned(),
        };
        Script::Send(vec![head.into_bytes(), exchange.stream().into_bytes()])
    }

    /// Its list of models as it is sent.
    pub(crate) fn lists(&self) -> Script {
        answer(200, &[], &(self.models)().to_string())
    }

    /// The answer of an exchange, with who made its calls.
    fn made(&self, exchange: &Exchange) -> LlmResponse {
        let mut response = exchange.response.clone();
        for call in &mut response.tool_uses {
            call.made_by = Some(MadeBy {
                provider: self.name.to_owned(),
                model: exchange.request.model.clone(),
            });
        }
        response
    }

    fn refused(&self, status: u16, headers: &[&str], kind: &str, message: &str) -> Script {
        answer(status, headers, &(self.error)(kind, message).to_string())
    }

    async fn ask(&self, fake: &Fake) -> (Result<LlmResponse, LlmError>, Heard) {
        let heard = Heard::default();
        let server = self.server(endpoint(&fake.url));
        let result = server.complete(self.exchange("text").request, &heard).await;
        (result, heard)
    }

    /// The error after every attempt got the same answer, and how many there were.
    async fn fails(&self, script: Script) -> (LlmError, usize) {
        let fake = Fake::with(move |_| script.clone()).await;
        let (result, heard) = self.ask(&fake).await;
        assert_eq!(heard.attempts().len(), fake.seen().len());
        assert_eq!(heard.attempts().last().unwrap().status, AttemptStatus::Error);
        (result.unwrap_err(), heard.attempts().len())
    }

    async fn check(&self, script: Script, code: LlmErrorCode, attempts: usize, words: &str) {
        let (error, made) = self.fails(script).await;
        assert_eq!((error.code, made), (code, attempts), "{}: {error}", self.name);
        assert!(error.message.contains(words), "{}: {error}", self.name);
    }
}

#[tokio::test]
async fn sends_every_kept_request_whole_and_reads_its_answer() {
    for vendor in VENDORS {
        for exchange in exchange::all(vendor.name) {
            let fake = Fake::playing(vec![vendor.sent(&exchange)]).await;
            let heard = Heard::default();
            let server = vendor.server(endpoint(&fake.url));
            let response = server.complete(exchange.request.clone(), &heard).await.unwrap();
            let place = format!("{} {}", vendor.name, exchange.name);
            assert_eq!(response, vendor.made(&exchange), "{place}");
            let seen = &fake.seen()[0];
            assert_eq!(seen.body, exchange.body, "{place}");
            // Gemini names the model in the address.
            let line = vendor.line.replace("gemini-3.5-pro", &exchange.request.model);
            assert_eq!(seen.line, line, "{place}");
            assert_eq!(heard.attempts()[0].effort, exchange.request.effort, "{place}");
            if exchange.name == "effort" {
                let thought: String = heard.deltas().into_iter().filter_map(thoughts).collect();
                assert_eq!(thought, "Let me greet.", "{place}");
            }
            let (name, before) = vendor.key_header;
            assert_eq!(seen.header(name), Some(&*format!("{before}{CANARY}")), "{place}");
            if let Some((name, value)) = vendor.fixed_header {
                assert_eq!(seen.header(name), Some(value), "{place}");
            }
            let said: String = heard.deltas().into_iter().filter_map(words).collect();
            // A refusal is explained beside the answer.
            assert!(response.text.starts_with(&said), "{place}: {said}");
            assert_eq!(heard.attempts()[0].usage, Some(response.usage), "{place}");
        }
    }
}

fn thoughts(delta: Delta) -> Option<String> {
    match delta {
        Delta::Reasoning { text } => Some(text),
        Delta::Text { .. } | Delta::ToolArguments { .. } | Delta::Restart => None,
    }
}

/// What each says when it cannot be told how much to think.
const CANNOT_THINK: [(&str, &str, &str); 3] = [
    (
        anthropic::NAME,
        "output_config",
        "This model does not support the effort parameter.",
    ),
    (
        openai::NAME,
        "reasoning",
        "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    ),
    (
        gemini::NAME,
        "generationConfig",
        "Thinking is not enabled for this model; thinking_config must be unset",
    ),
];

#[tokio::test]
async fn a_model_that_cannot_be_told_how_much_to_think_is_asked_without_it_and_remembered() {
    for (vendor, (name, field, words)) in VENDORS.iter().zip(CANNOT_THINK) {
        assert_eq!(vendor.name, name);
        let exchange = vendor.exchange("effort");
        let kind = if name == gemini::NAME {
            "INVALID_ARGUMENT"
        } else {
            "invalid_request_error"
        };
        let refused = vendor.refused(400, &[], kind, words);
        let fake = Fake::playing(vec![refused, vendor.sent(&exchange), vendor.sent(&exchange)]).await;
        let server = vendor.server(endpoint(&fake.url));
        let heard = Heard::default();
        server.complete(exchange.request.clone(), &heard).await.unwrap();
        server.complete(exchange.request.clone(), &heard).await.unwrap();
        let told: Vec<_> = heard.attempts().iter().map(|attempt| attempt.effort).collect();
        assert_eq!(told, [exchange.request.effort, None, None], "{name}");
        let bodies = fake.seen();
        assert!(bodies[0].body.get(field).is_some(), "{name}");
        for asked in &bodies[1..] {
            let body = asked.body.to_string();
            for word in ["effort", "thinking", "reasoning"] {
                assert!(!body.contains(word), "{name}: {body}");
            }
        }
    }
}

/// A summary of what was thought is only for organisations that were verified; how much to think is for all.
#[tokio::test]
async fn an_organisation_that_may_see_no_summary_is_still_asked_to_think() {
    let exchange = OPENAI.exchange("effort");
    let words = "Your organization must be verified to generate reasoning summaries.";
    let body = json!({"error": {"message": words, "type": "invalid_request_error", "param": "reasoning.summary", "code": "unsupported_value"}});
    let fake = Fake::playing(vec![answer(400, &[], &body.to_string()), OPENAI.sent(&exchange)]).await;
    let heard = Heard::default();
    let server = OPENAI.server(endpoint(&fake.url));
    server.complete(exchange.request.clone(), &heard).await.unwrap();
    assert_eq!(fake.seen()[1].body["reasoning"], json!({"effort": "high"}));
    assert_eq!(heard.attempts()[1].effort, exchange.request.effort);
}

/// What the catalog knows is not tried.
#[tokio::test]
async fn a_model_that_is_known_not_to_take_it_is_never_told_how_much_to_think() {
    let exchange = ANTHROPIC.exchange("effort");
    let fake = Fake::playing(vec![ANTHROPIC.sent(&exchange)]).await;
    let mut request = exchange.request.clone();
    request.model = "claude-haiku-4-5".to_owned();
    let heard = Heard::default();
    ANTHROPIC
        .server(endpoint(&fake.url))
        .complete(request, &heard)
        .await
        .unwrap();
    let body = &fake.seen()[0].body;
    assert_eq!((body.get("output_config"), body.get("thinking")), (None, None));
    assert_eq!(heard.attempts()[0].effort, None);
}

fn words(delta: Delta) -> Option<String> {
    match delta {
        Delta::Text { text } => Some(text),
        Delta::Reasoning { .. } | Delta::ToolArguments { .. } | Delta::Restart => None,
    }
}

#[tokio::test]
async fn tells_every_refusal_from_the_others() {
    for vendor in VENDORS {
        let [key, model, long, many, full] = vendor.kinds;
        use LlmErrorCode as Code;
        for status in [401, 403] {
            let refused = vendor.refused(status, &[], key, "no");
            vendor
                .check(
                    refused,
                    Code::Authentication,
                    1,
                    "refused the key, saying \"no\": check the key",
                )
                .await;
        }
        let missing = vendor.refused(404, &[], model, vendor.missing);
        vendor
            .check(missing, Code::ModelNotFound, 1, "does not have this model")
            .await;
        let lost = answer(404, &[], "<html>nothing here</html>");
        vendor
            .check(lost, Code::BadResponse, 1, "a web page, not a model API")
            .await;
        let large = vendor.refused(413, &[], long, "too large");
        vendor
            .check(large, Code::ContextLength, 1, "too long for the model")
            .await;
        let read = vendor.refused(400, &[], "invalid_request_error", vendor.too_long);
        vendor.check(read, Code::ContextLength, 1, "tokens, ").await;
        vendor
            .check(
                vendor.refused(429, &[], many, "slow"),
                Code::RateLimit,
                4,
                "too many requests",
            )
            .await;
        for status in [500, 529] {
            let failed = vendor.refused(status, &[], full, "busy");
            vendor
                .check(
                    failed,
                    Code::Server,
                    4,
                    &format!("failed (HTTP {status}), saying \"busy\""),
                )
                .await;
        }
        vendor
            .check(
                vendor.refused(400, &[], "invalid_request_error", "no"),
                Code::InvalidRequest,
                1,
                "no",
            )
            .await;
    }
}

#[tokio::test]
async fn waits_as_long_as_the_vendor_asks() {
    for vendor in VENDORS {
        let waits: [(&[&str], u64); 3] = [
            (&["retry-after: 7"], 7_000),
            (&["retry-after-ms: 250", "retry-after: 7"], 250),
            (&["retry-after: Thu, 01 Jan 1970 00:00:30 GMT"], 30_000 - 7_250),
        ];
        let mut scripts: Vec<Script> = waits
            .iter()
            .map(|(headers, _)| vendor.refused(429, headers, vendor.kinds[3], "slow"))
            .collect();
        scripts.push(vendor.sent(&vendor.exchange("text")));
        let fake = Fake::playing(scripts).await;
        let (result, heard) = vendor.ask(&fake).await;
        result.unwrap();
        let waited: Vec<u64> = heard.attempts().iter().filter_map(|attempt| attempt.wait_ms).collect();
        assert_eq!(waited, waits.map(|(_, wait)| wait), "{}", vendor.name);
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_an_answer_is_that_error_and_is_tried_again() {
    for vendor in VENDORS {
        let exchange = vendor.exchange("text");
        let begun = Exchange {
            events: exchange.events[..exchange.events.len() - 2].to_vec(),
            ..exchange.clone()
        };
        let error = format!("event: error\ndata: {}\n\n", (vendor.error)(vendor.kinds[4], "busy"));
        let cut = format!("{STREAM_HEAD}{}{error}", begun.stream());
        let fake = Fake::playing(vec![Script::Send(vec![cut.into_bytes()]), vendor.sent(&exchange)]).await;
        let (result, heard) = vendor.ask(&fake).await;
        assert_eq!(result.unwrap(), exchange.response, "{}", vendor.name);
        let attempts = heard.attempts();
        assert_eq!(
            attempts[0].error.as_ref().unwrap().code,
            LlmErrorCode::Server,
            "{}",
            vendor.name
        );
        assert!(heard.deltas().contains(&Delta::Restart));
    }
}

/// A sink that says when the first words have come.
struct FirstWords(tokio::sync::Notify);

impl Sink for FirstWords {
    fn delta(&self, _delta: Delta) {
        self.0.notify_one();
    }

    fn attempt(&self, _attempt: contract::llm::LlmAttempt) {}
}

#[tokio::test]
async fn giving_a_call_up_closes_its_connection() {
    for vendor in VENDORS {
        let exchange = vendor.exchange("text");
        let Script::Send(parts) = vendor.sent(&exchange) else {
            panic!()
        };
        let mut begun = parts.concat();
        begun.truncate(begun.len() - 60);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let closed = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            tokio::io::AsyncWriteExt::write_all(&mut stream, &begun).await.unwrap();
            // Ends when the other side has gone.
            let mut rest = Vec::new();
            let _ = tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut rest).await;
        });
        let sink = FirstWords(tokio::sync::Notify::new());
        let server = vendor.server(endpoint(&url));
        tokio::select! {
            _ = server.complete(exchange.request, &sink) => panic!("{}: the answer never ends", vendor.name),
            () = sink.0.notified() => {}
        }
        drop(server);
        tokio::time::timeout(std::time::Duration::from_secs(30), closed)
            .await
            .unwrap()
            .unwrap();
    }
}

#[tokio::test]
async fn no_error_of_a_vendor_contains_the_key() {
    for vendor in VENDORS {
        for status in [400, 401, 500] {
            let (error, _) = vendor
                .fails(vendor.refused(status, &[], "x", &format!("bad key {CANARY}")))
                .await;
            let shown = format!("{error} {error:?} {}", serde_json::to_string(&error).unwrap());
            assert!(
                shown.contains("bad key") && !shown.contains("canary"),
                "{}: {shown}",
                vendor.name
            );
        }
    }
}

#[tokio::test]
async fn lists_the_models_and_tries_one() {
    for vendor in VENDORS {
        let exchange = vendor.exchange("text");
        let list = || vendor.lists();
        let fake = Fake::playing(vec![list(), list(), vendor.sent(&exchange), answer(200, &[], "[]")]).await;
        let server = vendor.server(endpoint(&fake.url));
        let models = server.models().await.unwrap();
        assert_eq!(models.len(), 1, "{}: {models:?}", vendor.name);
        assert_eq!(
            (&*models[0].id, models[0].max_output.unwrap_or(64_000)),
            ("a", 64_000),
            "{}",
            vendor.name
        );
        assert_eq!(fake.seen()[0].line, vendor.models_line);
        let report = test_connection(&*server, "a", &Jumping::default()).await.unwrap();
        assert_eq!((report.answered_with, report.note), (exchange.response.model, None));
        assert_eq!(server.models().await.unwrap_err().code, LlmErrorCode::BadResponse);
    }
}

/// Its support asks for it.
#[tokio::test]
async fn an_attempt_that_failed_is_known_by_the_name_that_the_vendor_gave_it() {
    for vendor in VENDORS {
        let Some(name) = vendor.id_header else { continue };
        let header = format!("{name}: req_77");
        let refused = vendor.refused(400, &[&header], "invalid_request_error", "no");
        let Script::Send(parts) = vendor.sent(&vendor.exchange("text")) else {
            panic!()
        };
        let mut cut = parts.concat();
        cut.truncate(cut.len() / 2);
        for (script, id) in [(refused, "req_77"), (Script::Send(vec![cut]), "req_01")] {
            let (error, _) = vendor.fails(script).await;
            assert_eq!(error.request_id.as_deref(), Some(id), "{}: {error:?}", vendor.name);
        }
    }
}
