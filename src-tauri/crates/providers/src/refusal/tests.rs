//! Each refusal that servers are known to send, with its kind and its sentence.

use contract::llm::{LlmErrorCode, Remedy};
use serde_json::json;

use super::sentences::{LONGEST_QUOTE, quote};
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
    let anthropic = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
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
    let vllm =
        json!({"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404});
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

fn remedy_of(status: u16, body: &Value) -> Option<Remedy> {
    refusal("http://host", None, status, body.to_string().as_bytes())
        .error
        .remedy
}

#[test]
fn each_refusal_says_what_helps() {
    let code = |code: &str| openai("no", "invalid_request_error", json!(code));
    let remedies = [
        (401, code("invalid_api_key"), Remedy::Key),
        (429, code("insufficient_quota"), Remedy::Credit),
        (402, json!({}), Remedy::Credit),
        (403, code("unsupported_country_region_territory"), Remedy::Provider),
        (404, code("model_not_found"), Remedy::Model),
        (400, code("context_length_exceeded"), Remedy::Less),
        (404, json!({"detail": "Not Found"}), Remedy::Address),
        (301, json!({}), Remedy::Address),
        (429, json!({}), Remedy::Wait),
        (503, json!({}), Remedy::Wait),
        (407, json!({}), Remedy::Network),
    ];
    for (status, body, remedy) in remedies {
        assert_eq!(remedy_of(status, &body), Some(remedy), "{status} {body}");
    }
    assert_eq!(remedy_of(400, &json!({})), None);
}

#[test]
fn a_proxy_that_wants_a_sign_in_says_so() {
    let page = b"<html>Proxy Authentication Required</html>";
    let error = refusal("http://host", None, 407, page).error;
    assert_eq!(error.code, LlmErrorCode::BadResponse);
    assert!(error.message.contains("wants a sign-in"), "{error}");
}

/// Documented refusals of this kind: what is meant, what helps, and whether another try may.
#[test]
fn a_refusal_for_good_is_never_tried_again_and_says_what_helps() {
    use LlmErrorCode as Code;
    let check = |status: u16, body: Value, code: Code, remedy: Option<Remedy>, words: &str| {
        let error = refusal("http://host", None, status, body.to_string().as_bytes()).error;
        assert_eq!((error.code, error.remedy), (code, remedy), "{error}");
        assert!(error.message.contains(words) && !error.retryable(), "{error}");
    };
    let router = |code: u16, message: &str| json!({"error": {"code": code, "message": message}});
    let moderated = router(
        403,
        "google/x requires moderation on OpenAI. Your input was flagged for \"violence\".",
    );
    check(
        403,
        moderated,
        Code::InvalidRequest,
        Some(Remedy::Model),
        "does not answer what is asked",
    );
    for nobody in [
        "No endpoints found that support tool use.",
        "No endpoints found matching your data policy.",
    ] {
        check(
            404,
            router(404, nobody),
            Code::ModelNotFound,
            Some(Remedy::Model),
            "nobody who runs this model",
        );
    }
    let anthropic = |kind: &str, message: &str| json!({"type": "error", "error": {"type": kind, "message": message}});
    let region = anthropic("forbidden", "Request not allowed");
    check(
        403,
        region,
        Code::InvalidRequest,
        Some(Remedy::Provider),
        "not offered where you are",
    );
    let spent = anthropic(
        "invalid_request_error",
        "You have reached your specified API usage limits.",
    );
    check(400, spent, Code::InvalidRequest, Some(Remedy::Credit), "is used up");
    let free = json!({"error": {"code": 400, "status": "FAILED_PRECONDITION",
        "message": "Gemini API free tier is not available in your country. Please enable billing."}});
    check(400, free, Code::InvalidRequest, Some(Remedy::Credit), "is used up");
    for code in ["billing_not_active", "organization_spend_limit_exceeded"] {
        let inactive = openai("Please check your billing details.", code, json!(code));
        check(429, inactive, Code::InvalidRequest, Some(Remedy::Credit), "is used up");
    }
    let large = "Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 8000";
    let large = openai(large, "tokens", json!("rate_limit_exceeded"));
    check(413, large, Code::ContextLength, Some(Remedy::Less), "too long");
    check(
        400,
        openai("x", "y", json!("server_error")),
        Code::InvalidRequest,
        None,
        "x",
    );
    for status in (400..500).filter(|status| ![408, 429].contains(status)) {
        for name in [
            "server_error",
            "rate_limit_exceeded",
            "timeout_error",
            "overloaded_error",
        ] {
            let body = openai("no", name, json!(name));
            let error = refusal("http://host", None, status, body.to_string().as_bytes()).error;
            assert!(!error.retryable(), "{status} {name}: {error:?}");
        }
    }
}

#[test]
fn an_error_inside_an_answer_is_tried_again_only_where_it_may_pass() {
    let check = |body: Value, expected: bool| {
        let error = refusal_inside("http://host", None, &body);
        assert_eq!(error.retryable(), expected, "{error:?}");
    };
    let named = |name: &str| json!({"error": {"code": name, "message": "no"}});
    for name in [
        "server_error",
        "rate_limit_exceeded",
        "overloaded_error",
        "api_error",
        "UNAVAILABLE",
        "timeout_error",
    ] {
        check(named(name), true);
    }
    for name in [
        "bio_policy",
        "misalignment_policy_violation",
        "insufficient_quota",
        "something_new",
    ] {
        check(named(name), false);
    }
    for name in [
        "invalid_request_error",
        "permission_error",
        "not_found_error",
        "authentication_error",
    ] {
        check(
            json!({"type": "error", "error": {"type": name, "message": "no"}}),
            false,
        );
    }
    check(
        json!({"type": "error", "code": "insufficient_quota", "message": "no"}),
        false,
    );
    check(json!({"error": {"message": "no GPU", "code": 502}}), true);
    check(json!({"error": {"message": "no", "code": 400}}), false);
    check(json!({"message": "full"}), true);
}
