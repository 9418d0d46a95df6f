//! What a model server says when it does not answer, in one kind and one sentence.
//!
//! The kind is decided by the error's code or type, then by the HTTP status. Some servers send only
//! words; the documented ones are in [`WORDS`], and no other place looks into a message.

use contract::llm::{LlmError, LlmErrorCode};
use secrecy::SecretString;
use serde_json::Value;

use crate::redact::without_key;

/// How much of a server's own words is repeated.
const LONGEST_QUOTE: usize = 300;

/// Codes and types of errors, across the servers that speak this protocol.
const CODES: &[(&str, LlmErrorCode)] = &[
    ("context_length_exceeded", LlmErrorCode::ContextLength),
    // llama.cpp
    ("exceed_context_size_error", LlmErrorCode::ContextLength),
    ("model_not_found", LlmErrorCode::ModelNotFound),
    // vLLM
    ("NotFoundError", LlmErrorCode::ModelNotFound),
    ("invalid_api_key", LlmErrorCode::Authentication),
    ("authentication_error", LlmErrorCode::Authentication),
    // Gemini, whose wrong key is an invalid argument.
    ("API_KEY_INVALID", LlmErrorCode::Authentication),
    ("UNAUTHENTICATED", LlmErrorCode::Authentication),
    ("PERMISSION_DENIED", LlmErrorCode::Authentication),
    ("rate_limit_exceeded", LlmErrorCode::RateLimit),
    ("rate_limit_error", LlmErrorCode::RateLimit),
    ("RESOURCE_EXHAUSTED", LlmErrorCode::RateLimit),
    // Anthropic
    ("request_too_large", LlmErrorCode::ContextLength),
    ("overloaded_error", LlmErrorCode::Server),
    ("timeout_error", LlmErrorCode::Timeout),
    ("DEADLINE_EXCEEDED", LlmErrorCode::Timeout),
    // OpenAI, in an answer that failed half-way.
    ("server_error", LlmErrorCode::Server),
    ("invalid_prompt", LlmErrorCode::InvalidRequest),
];

/// Codes of an account without credit.
const NO_CREDIT: &[&str] = &["insufficient_quota", "billing_error", "billing_hard_limit_reached"];
/// The same in words: Anthropic, Gemini.
const NO_CREDIT_WORDS: &[&str] = &["credit balance is too low", "credits are depleted"];
/// Codes and words of a provider that is not offered where the person is: OpenAI, and Gemini.
const NOT_HERE: &[&str] = &[
    "unsupported_country_region_territory",
    "country, region, or territory not supported",
    "user location is not supported",
];

/// Words of servers that send no code of their own for it; all words of a row must be among those of the message and of
/// the codes, in lower case.
const WORDS: &[(&[&str], LlmErrorCode)] = &[
    // LM Studio answers an unknown route with 200 and these words.
    (&["unexpected endpoint"], LlmErrorCode::BadResponse),
    // vLLM, OpenRouter
    (&["maximum context length"], LlmErrorCode::ContextLength),
    // LM Studio
    (&["when context the overflows"], LlmErrorCode::ContextLength),
    // llama.cpp before it sent a type
    (&["exceeds the available context size"], LlmErrorCode::ContextLength),
    // Ollama
    (&["model", "not found"], LlmErrorCode::ModelNotFound),
    // vLLM
    (&["model", "does not exist"], LlmErrorCode::ModelNotFound),
    // OpenRouter
    (&["not a valid model"], LlmErrorCode::ModelNotFound),
    // Anthropic, whose other unknown things are not named so.
    (&["not_found_error", "model: "], LlmErrorCode::ModelNotFound),
    // Anthropic
    (&["prompt is too long"], LlmErrorCode::ContextLength),
    (&["exceed context limit"], LlmErrorCode::ContextLength),
    // Gemini
    (
        &["input token count", "exceeds the maximum"],
        LlmErrorCode::ContextLength,
    ),
];

/// A server's refusal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// The error, as everyone above sees it.
    pub(crate) error: LlmError,
    /// The part of the request that the server names as the cause.
    pub(crate) param: Option<String>,
    /// The server's words in lower case, for those that name the cause only there.
    words: String,
}

impl Refusal {
    /// Whether the server names this part of the request as the cause, in its place or in its words.
    pub(crate) fn names(&self, part: &str) -> bool {
        let starts = |param: &String| param.starts_with(part);
        self.param.as_ref().is_some_and(starts) || self.words.contains(part)
    }

    /// The number behind a part in the server's words, as in `max_tokens: 9000 > 8192`: the least one.
    pub(crate) fn least_number(&self) -> Option<u64> {
        numbers(&self.words).into_iter().min()
    }
}

impl From<LlmError> for Refusal {
    fn from(error: LlmError) -> Self {
        Self {
            error,
            param: None,
            words: String::new(),
        }
    }
}

/// What a server put into the body of an error.
#[derive(Debug, Default)]
struct Said {
    message: String,
    codes: Vec<String>,
    param: Option<String>,
    tokens: Option<(u64, u64)>,
    wait_ms: Option<u64>,
}

impl Said {
    fn is(&self, codes: &[&str], words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        let has_code = |code: &&str| self.codes.iter().any(|said| said == code);
        codes.iter().any(has_code) || words.iter().any(|words| message.contains(words))
    }

    fn no_credit(&self) -> bool {
        self.is(NO_CREDIT, NO_CREDIT_WORDS)
    }

    fn not_here(&self) -> bool {
        self.is(NOT_HERE, NOT_HERE)
    }
}

/// Reads an answer with an HTTP status that is no success.
pub(crate) fn refusal(server: &str, key: Option<&SecretString>, status: u16, body: &[u8]) -> Refusal {
    let json = serde_json::from_slice::<Value>(body).ok();
    let is_page = json.is_none() && is_web_page(body);
    let said = json.as_ref().map(said).unwrap_or_default();
    let code = match status {
        // A proxy in front of the server speaks in pages, and may be well again later.
        404 | 405 | 400 if is_page => return at_status(web_page(server), status).into(),
        _ => kind(status, &said),
    };
    let message = sentence(server, key, status, code, &said);
    let error = LlmError {
        retry_after_ms: said.wait_ms,
        ..at_status(LlmError::new(code, message), status)
    };
    Refusal {
        error,
        param: said.param,
        words: said.message.to_lowercase(),
    }
}

/// Reads an error that came in the middle of an answer, or under a status of success.
pub(crate) fn refusal_inside(server: &str, key: Option<&SecretString>, value: &Value) -> LlmError {
    let said = said(value);
    let status = said.codes.iter().find_map(|code| code.parse().ok());
    let code = match status {
        Some(status) if status >= 400 => kind(status, &said),
        _ if said.no_credit() => LlmErrorCode::InvalidRequest,
        _ => known(&said).unwrap_or(LlmErrorCode::Server),
    };
    let message = sentence(server, key, status.unwrap_or(200), code, &said);
    LlmError {
        status,
        retry_after_ms: said.wait_ms,
        ..LlmError::new(code, message)
    }
}

/// The error for a page where an answer should be.
pub(crate) fn web_page(server: &str) -> LlmError {
    let message = format!(
        "{server} answered with a web page, not a model API: check the address of the model server in Settings"
    );
    LlmError::new(LlmErrorCode::BadResponse, message)
}

/// Whether this is the beginning of a page of HTML or XML.
pub(crate) fn is_web_page(body: &[u8]) -> bool {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    body.trim_ascii_start().starts_with(b"<")
}

fn at_status(error: LlmError, status: u16) -> LlmError {
    LlmError {
        status: Some(status),
        ..error
    }
}

fn said(value: &Value) -> Said {
    // Gemini's errors may come as the only part of a list.
    let value = value.get(0).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let words = ["message", "detail", "error", "msg"]
        .iter()
        .find_map(|name| error.get(name));
    let message = match error.as_str().or_else(|| words.and_then(Value::as_str)) {
        Some(text) => text.to_owned(),
        None => words.map(ToString::to_string).unwrap_or_default(),
    };
    let text = |name: &str| match error.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let count = |name: &str| error.get(name).and_then(Value::as_u64);
    // Gemini tells more in a list of its own.
    let details = error.get("details").and_then(Value::as_array);
    let detail = |name: &str| {
        let mut texts = details
            .into_iter()
            .flatten()
            .filter_map(|detail| detail.get(name)?.as_str());
        texts.next().map(ToOwned::to_owned)
    };
    // The most telling first.
    let codes = [detail("reason"), text("code"), text("type"), text("status")];
    Said {
        tokens: count("n_prompt_tokens")
            .zip(count("n_ctx"))
            .or_else(|| too_many(&message)),
        message,
        codes: codes.into_iter().flatten().collect(),
        param: text("param"),
        wait_ms: detail("retryDelay").and_then(|delay| milliseconds(&delay)),
    }
}

/// The whole numbers of a text that may count tokens.
fn numbers(text: &str) -> Vec<u64> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| word.len() > 2)
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// How many tokens were asked for and how many fit, from the words of servers that put both there and nothing else.
fn too_many(message: &str) -> Option<(u64, u64)> {
    match numbers(message)[..] {
        [one, other] => Some((one.max(other), one.min(other))),
        // Anthropic adds up what is read and what may be written.
        [read, written, fit] if message.contains(" + ") => Some((read.saturating_add(written), fit)),
        _ => None,
    }
}

/// A wait such as `34s` or `1.5s`.
fn milliseconds(delay: &str) -> Option<u64> {
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let wait = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(wait.as_millis()).ok()
}

fn kind(status: u16, said: &Said) -> LlmErrorCode {
    // Waiting does not fill an account, and another key does not move a person.
    if said.no_credit() || said.not_here() {
        return LlmErrorCode::InvalidRequest;
    }
    if let Some(code) = known(said) {
        return code;
    }
    match status {
        401 | 403 => LlmErrorCode::Authentication,
        404 | 405 | 300..=399 => LlmErrorCode::BadResponse,
        408 => LlmErrorCode::Timeout,
        413 => LlmErrorCode::ContextLength,
        429 => LlmErrorCode::RateLimit,
        500.. => LlmErrorCode::Server,
        _ => LlmErrorCode::InvalidRequest,
    }
}

fn known(said: &Said) -> Option<LlmErrorCode> {
    let by_code = |(name, code): &(&str, LlmErrorCode)| said.codes.iter().any(|said| said == name).then_some(*code);
    let message = format!("{} {}", said.codes.join(" "), said.message).to_lowercase();
    let by_words =
        |(words, code): &(&[&str], LlmErrorCode)| words.iter().all(|word| message.contains(word)).then_some(*code);
    CODES
        .iter()
        .find_map(by_code)
        .or_else(|| WORDS.iter().find_map(by_words))
}

fn sentence(server: &str, key: Option<&SecretString>, status: u16, code: LlmErrorCode, said: &Said) -> String {
    let quote = quote(&said.message, key);
    match code {
        LlmErrorCode::Authentication if key.is_some() => {
            format!("{server} refused the key{quote}: check the key in Settings")
        }
        LlmErrorCode::Authentication => format!("{server} wants a key{quote}: add one in Settings"),
        LlmErrorCode::ModelNotFound => {
            format!("{server} does not have this model{quote}: choose another one, or load it there first")
        }
        LlmErrorCode::ContextLength => {
            let much = match said.tokens {
                Some((asked, room)) => format!("{asked} tokens, {room} fit"),
                None => "more than the model can read".to_owned(),
            };
            format!(
                "the request is too long for the model ({much}){quote}: choose a model with a larger context window, or give it less to read"
            )
        }
        LlmErrorCode::RateLimit => format!("{server} is getting too many requests{quote}: wait a little"),
        LlmErrorCode::Timeout => format!("{server} gave up waiting{quote}: try again"),
        LlmErrorCode::Server => format!("{server} failed{}{quote}: try again later", number(status)),
        LlmErrorCode::BadResponse if (300..400).contains(&status) => format!(
            "{server} sends requests on to another address, and a key must not follow there: enter the final address of the model server in Settings"
        ),
        LlmErrorCode::BadResponse => {
            format!(
                "{server} has no model API at this address{quote}: check the address of the model server in Settings"
            )
        }
        LlmErrorCode::InvalidRequest if status == 402 || said.no_credit() => {
            format!("the credit of this account at {server} is used up{quote}: top it up there")
        }
        LlmErrorCode::InvalidRequest if said.not_here() => {
            format!(
                "{server} is not offered where you are{quote}: choose another provider, or a model on your own machine"
            )
        }
        LlmErrorCode::InvalidRequest
        | LlmErrorCode::Connection
        | LlmErrorCode::StreamCut
        | LlmErrorCode::NotRecorded => format!("{server} refused the request{}{quote}", number(status)),
    }
}

fn number(status: u16) -> String {
    if status >= 400 {
        format!(" (HTTP {status})")
    } else {
        String::new()
    }
}

/// The server's own words, on one line, not too many of them, and not the key.
fn quote(message: &str, key: Option<&SecretString>) -> String {
    // Before anything is cut, so that no part of the key is left.
    let message = without_key(message, key);
    let words: Vec<&str> = message
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|w| !w.is_empty())
        .collect();
    let line = words.join(" ");
    if line.is_empty() {
        return String::new();
    }
    let shown: String = line.chars().take(LONGEST_QUOTE).collect();
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!(", saying \"{shown}{more}\"")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(status: u16, body: &Value, code: LlmErrorCode, words: &str) {
        let refusal = refusal(
            "http://host",
            Some(&SecretString::from("the key")),
            status,
            body.to_string().as_bytes(),
        );
        assert_eq!(
            (refusal.error.code, refusal.error.status),
            (code, Some(status)),
            "{}",
            refusal.error
        );
        assert!(refusal.error.message.contains(words), "{}", refusal.error);
    }

    fn check_inside(body: &Value, code: LlmErrorCode) {
        assert_eq!(refusal_inside("http://host", None, body).code, code, "{body}");
    }

    fn openai(message: &str, kind: &str, code: Value) -> Value {
        json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
    }

    #[test]
    fn a_refused_key() {
        let body = openai(
            "Incorrect API key provided",
            "invalid_request_error",
            json!("invalid_api_key"),
        );
        check(
            401,
            &body,
            LlmErrorCode::Authentication,
            "refused the key, saying \"Incorrect API key provided\"",
        );
        check(
            403,
            &json!({}),
            LlmErrorCode::Authentication,
            "http://host refused the key: check the key",
        );
        let without = refusal("http://host", None, 401, b"");
        assert_eq!(without.error.message, "http://host wants a key: add one in Settings");
    }

    #[test]
    fn each_provider_has_its_own_words_for_the_same() {
        use LlmErrorCode as Code;
        let anthropic =
            |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
        check(
            401,
            &anthropic("authentication_error", "invalid x-api-key"),
            Code::Authentication,
            "refused the key",
        );
        check(
            404,
            &anthropic("not_found_error", "model: claude-x"),
            Code::ModelNotFound,
            "does not have this model",
        );
        check(
            404,
            &anthropic("not_found_error", "Not Found"),
            Code::BadResponse,
            "no model API",
        );
        check(
            413,
            &anthropic("request_too_large", "Request too large"),
            Code::ContextLength,
            "too long",
        );
        check(
            529,
            &anthropic("overloaded_error", "Overloaded"),
            Code::Server,
            "(HTTP 529)",
        );
        let long = anthropic(
            "invalid_request_error",
            "prompt is too long: 208310 tokens > 200000 maximum",
        );
        check(400, &long, Code::ContextLength, "(208310 tokens, 200000 fit)");
        let sum = "input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000, decrease input length";
        check(
            400,
            &anthropic("invalid_request_error", sum),
            Code::ContextLength,
            "(219211 tokens, 200000 fit)",
        );
        let poor = "Your credit balance is too low to access the Anthropic API.";
        check(
            400,
            &anthropic("invalid_request_error", poor),
            Code::InvalidRequest,
            "is used up",
        );
        check(
            402,
            &anthropic("billing_error", "x"),
            Code::InvalidRequest,
            "is used up",
        );

        let gemini = |status: &str, message: &str, details: Value| json!({"error": {"code": 400, "status": status, "message": message, "details": details}});
        let wrong = json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
        let wrong = gemini("INVALID_ARGUMENT", "API key not valid.", wrong);
        check(400, &wrong, Code::Authentication, "refused the key");
        check(400, &json!([wrong]), Code::Authentication, "refused the key");
        let gone = "models/gemini-1 is not found for API version v1beta, or is not supported for generateContent.";
        check(
            404,
            &gemini("NOT_FOUND", gone, json!([])),
            Code::ModelNotFound,
            "does not have this model",
        );
        let long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
        check(
            400,
            &gemini("INVALID_ARGUMENT", long, json!([])),
            Code::ContextLength,
            "(1200000 tokens, 1048576 fit)",
        );
        let abroad = gemini(
            "FAILED_PRECONDITION",
            "User location is not supported for the API use.",
            json!([]),
        );
        check(400, &abroad, Code::InvalidRequest, "is not offered where you are");
        let openai = openai(
            "Country, region, or territory not supported",
            "request_forbidden",
            json!("unsupported_country_region_territory"),
        );
        check(403, &openai, Code::InvalidRequest, "is not offered where you are");
    }

    #[test]
    fn a_wait_that_stands_in_the_body_is_read() {
        let wait = |delay: &str| {
            let info = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
            let body = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x", "details": info}});
            let error = refusal("http://host", None, 429, body.to_string().as_bytes()).error;
            assert_eq!(error.code, LlmErrorCode::RateLimit);
            error.retry_after_ms
        };
        assert_eq!(wait("34s"), Some(34_000));
        assert_eq!(wait("1.5s"), Some(1_500));
        assert_eq!(wait("soon"), None);
        assert_eq!(wait("-3s"), None);
        assert_eq!(wait("1e300s"), None);
    }

    #[test]
    fn knows_which_part_of_a_request_the_words_name() {
        let body = json!({"error": {"type": "invalid_request_error", "message": "max_tokens: 32000 > 8192, which is the maximum"}});
        let refusal = refusal("http://host", None, 400, body.to_string().as_bytes());
        assert!(refusal.names("max_tokens") && !refusal.names("temperature"));
        assert_eq!(refusal.least_number(), Some(8_192));
    }

    #[test]
    fn a_model_that_is_not_there() {
        let words = "does not have this model";
        let ollama = openai("model \"x\" not found, try pulling it first", "api_error", Value::Null);
        check(404, &ollama, LlmErrorCode::ModelNotFound, words);
        let vllm = json!({"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404});
        check(404, &vllm, LlmErrorCode::ModelNotFound, words);
        check(
            400,
            &openai("x", "invalid_request_error", json!("model_not_found")),
            LlmErrorCode::ModelNotFound,
            words,
        );
        check(
            400,
            &openai("x is not a valid model ID", "", json!(400)),
            LlmErrorCode::ModelNotFound,
            words,
        );
    }

    #[test]
    fn a_wrong_path_is_not_a_missing_model() {
        let words = "has no model API at this address";
        check(404, &json!({"detail": "Not Found"}), LlmErrorCode::BadResponse, words);
        check(
            404,
            &openai("File Not Found", "not_found_error", json!(404)),
            LlmErrorCode::BadResponse,
            words,
        );
        check_inside(
            &json!({"error": "Unexpected endpoint or method. (POST /chat)"}),
            LlmErrorCode::BadResponse,
        );
        let page = refusal(
            "http://host",
            Some(&SecretString::from("the key")),
            404,
            b" <!doctype html><title>404</title>",
        );
        assert!(
            page.error.message.contains("a web page, not a model API"),
            "{}",
            page.error
        );
    }

    #[test]
    fn too_much_to_read() {
        let llama = json!({"error": {
            "code": 400, "message": "too long", "type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256,
        }});
        check(400, &llama, LlmErrorCode::ContextLength, "(1407 tokens, 256 fit)");
        check(
            400,
            &openai("x", "y", json!("context_length_exceeded")),
            LlmErrorCode::ContextLength,
            "too long",
        );
        let vllm = "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens";
        check(
            400,
            &openai(vllm, "BadRequestError", json!(400)),
            LlmErrorCode::ContextLength,
            "you requested 5000",
        );
        let studio = "Trying to keep the first 9 tokens when context the overflows.";
        check(400, &json!({ "error": studio }), LlmErrorCode::ContextLength, studio);
        check(413, &json!({}), LlmErrorCode::ContextLength, "too long");
    }

    #[test]
    fn too_many_requests_and_no_credit() {
        check(429, &json!({}), LlmErrorCode::RateLimit, "too many requests");
        let empty = openai(
            "You exceeded your current quota",
            "insufficient_quota",
            json!("insufficient_quota"),
        );
        check(429, &empty, LlmErrorCode::InvalidRequest, "is used up");
        check(
            402,
            &openai("Insufficient credits", "", json!(402)),
            LlmErrorCode::InvalidRequest,
            "is used up",
        );
    }

    #[test]
    fn a_server_that_fails() {
        for status in [500, 502, 503, 529] {
            check(status, &json!({}), LlmErrorCode::Server, &format!("(HTTP {status})"));
        }
        let page = refusal(
            "http://host",
            Some(&SecretString::from("the key")),
            502,
            b"<html>Bad gateway</html>",
        );
        assert_eq!(page.error.code, LlmErrorCode::Server);
        check(408, &json!({}), LlmErrorCode::Timeout, "gave up waiting");
    }

    #[test]
    fn a_request_that_is_refused_names_the_part() {
        let body = json!({"error": {"message": "no", "param": "response_format"}});
        let refusal = refusal(
            "http://host",
            Some(&SecretString::from("the key")),
            400,
            body.to_string().as_bytes(),
        );
        assert_eq!(refusal.error.code, LlmErrorCode::InvalidRequest);
        assert_eq!(refusal.param.as_deref(), Some("response_format"));
        check(
            422,
            &json!({"detail": [{"msg": "bad"}]}),
            LlmErrorCode::InvalidRequest,
            "saying \"[{\"msg\":\"bad\"}]\"",
        );
    }

    #[test]
    fn errors_inside_an_answer() {
        check_inside(&json!({"error": {"message": "x", "code": 502}}), LlmErrorCode::Server);
        check_inside(
            &json!({"error": {"message": "x", "code": 429}}),
            LlmErrorCode::RateLimit,
        );
        check_inside(
            &json!({"error": {"message": "x", "type": "overloaded_error"}}),
            LlmErrorCode::Server,
        );
        check_inside(&json!({"error": "out of memory"}), LlmErrorCode::Server);
    }

    #[test]
    fn a_redirect_is_not_followed_and_says_so() {
        check(
            301,
            &json!({}),
            LlmErrorCode::BadResponse,
            "a key must not follow there",
        );
    }

    #[test]
    fn a_long_message_is_cut_and_stands_on_one_line() {
        let quote = quote(&"ä\n\u{7}b ".repeat(400), None);
        assert!(quote.starts_with(", saying \"ä b ä b") && quote.ends_with("…\""));
        assert_eq!(quote.chars().count(), ", saying \"…\"".chars().count() + LONGEST_QUOTE);
    }

    #[test]
    fn no_part_of_a_key_is_left_where_the_words_are_cut() {
        let key = SecretString::from("sk-canary-4f9c1b7e");
        let message = format!("{}sk-canary-4f9c1b7e", "x".repeat(LONGEST_QUOTE - 9));
        let quote = quote(&message, Some(&key));
        assert!(!quote.contains("canary") && quote.contains("x[key rem"), "{quote}");
    }
}
