//! Each refusal that servers are known to send, with its kind and its sentence.

use contract::llm::{LlmErrorCode, Remedy};
use serde_json::json;

use super::sentences::{LONGEST_QUOTE, quote};
use super::*;

fn host() -> Host {
    Host::of_a_person("http://host")
}

fn check(status: u16, body: &Value, code: LlmErrorCode, words: &str) {
    let refusal = refusal(
        &host(),
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
    assert_eq!(refusal_inside(&host(), None, body).code, code, "{body}");
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
    let without = refusal(&host(), None, 401, b"");
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
        let error = refusal(&host(), None, 429, body.to_string().as_bytes()).error;
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
    let refusal = refusal(&host(), None, 400, body.to_string().as_bytes());
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
        &host(),
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
        &host(),
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
        &host(),
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
    refusal(&host(), None, status, body.to_string().as_bytes()).error.remedy
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
    assert_eq!(remedy_of(400, &json!({})), Some(Remedy::Model));
    // No refusal is without a button, whatever it is.
    for status in 300..600 {
        for body in [json!({}), json!({"error": "no"}), code("x")] {
            assert!(remedy_of(status, &body).is_some(), "{status} {body}");
        }
    }
}

#[test]
fn a_proxy_that_wants_a_sign_in_says_so() {
    let page = b"<html>Proxy Authentication Required</html>";
    let error = refusal(&host(), None, 407, page).error;
    assert_eq!(error.code, LlmErrorCode::BadResponse);
    assert!(error.message.contains("wants a sign-in"), "{error}");
}

/// Documented refusals of this kind: what is meant, what helps, and whether another try may.
#[test]
fn a_refusal_for_good_is_never_tried_again_and_says_what_helps() {
    use LlmErrorCode as Code;
    let check = |status: u16, body: Value, code: Code, remedy: Option<Remedy>, words: &str| {
        let error = refusal(&host(), None, status, body.to_string().as_bytes()).error;
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
    check(
        413,
        large,
        Code::ContextLength,
        Some(Remedy::Less),
        "in a minute (8000 tokens, 6000 allowed)",
    );
    check(
        400,
        openai("x", "y", json!("server_error")),
        Code::InvalidRequest,
        Some(Remedy::Model),
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
            let error = refusal(&host(), None, status, body.to_string().as_bytes()).error;
            assert!(!error.retryable(), "{status} {name}: {error:?}");
        }
    }
}

#[test]
fn an_error_inside_an_answer_is_tried_again_only_where_it_may_pass() {
    let check = |body: Value, expected: bool| {
        let error = refusal_inside(&host(), None, &body);
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

#[test]
fn a_page_under_any_status_is_known_as_one_and_no_key_is_to_blame() {
    use LlmErrorCode as Code;
    let page = b"\xef\xbb\xbf \n<!DOCTYPE html><html><title>Blocked</title><body>Your company's proxy blocked this</body></html>";
    let key = SecretString::from("the key");
    let check = |status: u16, code: Code, remedy: Remedy, words: &str| {
        let error = refusal(&host(), Some(&key), status, page).error;
        assert_eq!(
            (error.code, error.remedy, error.status),
            (code, Some(remedy), Some(status)),
            "{error}"
        );
        assert!(
            error.message.contains(words) && !error.message.contains("Blocked"),
            "{error}"
        );
    };
    for status in [401, 403, 451] {
        let words = format!("in the place of an answer of http://host (HTTP {status})");
        check(status, Code::BadResponse, Remedy::Network, &words);
    }
    for status in [400, 402, 404, 405, 409, 410, 413, 418, 422] {
        check(
            status,
            Code::BadResponse,
            Remedy::Address,
            "a web page, not a model API",
        );
    }
    check(407, Code::BadResponse, Remedy::Network, "wants a sign-in");
    check(
        408,
        Code::Timeout,
        Remedy::Wait,
        "as a proxy or gateway in between says",
    );
    check(
        429,
        Code::RateLimit,
        Remedy::Wait,
        "as a proxy or gateway in between says",
    );
    for status in [500, 502, 503, 504, 520] {
        check(
            status,
            Code::Server,
            Remedy::Wait,
            "as a proxy or gateway in between says: try again",
        );
    }
}

#[test]
fn plain_words_are_the_servers_words() {
    let said = |status: u16, body: &[u8]| {
        let error = refusal(&host(), Some(&SecretString::from("the key")), status, body).error;
        (error.code, error.remedy.unwrap(), error.message)
    };
    use LlmErrorCode as Code;
    let (code, remedy, message) = said(403, b"Access denied by policy\n");
    assert_eq!((code, remedy), (Code::BadResponse, Remedy::Network), "{message}");
    assert!(
        message.contains("not let through (HTTP 403), saying \"Access denied by policy\""),
        "{message}"
    );
    let (code, remedy, message) = said(403, b"Invalid API key");
    assert_eq!((code, remedy), (Code::Authentication, Remedy::Key), "{message}");
    let (code, _, message) = said(401, b"Unauthorized");
    assert_eq!(code, Code::Authentication);
    assert!(
        message.contains("refused the key, saying \"Unauthorized\""),
        "{message}"
    );
    let (_, remedy, message) = said(400, b"Client sent an HTTP request to an HTTPS server.\n");
    assert_eq!(remedy, Remedy::Address);
    assert!(message.contains("write https:// instead of http://"), "{message}");
    let nginx = b"<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>";
    let (_, remedy, message) = said(400, nginx);
    assert_eq!(remedy, Remedy::Address);
    assert!(
        message.contains("write https://") && !message.contains("<html>"),
        "{message}"
    );
    assert!(said(500, b"out of memory").2.contains("saying \"out of memory\""));
    // What is no words is not repeated.
    for body in [
        &b"\0\x01\x02"[..],
        b"{\"error\": \"half",
        b"\xff\xfe",
        "x".repeat(4_000).as_bytes(),
    ] {
        assert!(!said(500, body).2.contains("saying"), "{body:?}");
    }
}

/// The whole sentences, as each server writes them.
#[test]
fn says_by_how_much_a_request_is_too_long() {
    let check = |message: &str, expected: &str| {
        let error = refusal(
            &host(),
            None,
            400,
            json!({"error": {"message": message}}).to_string().as_bytes(),
        )
        .error;
        assert_eq!(error.code, LlmErrorCode::ContextLength, "{error}");
        assert!(error.message.contains(expected), "{error}");
    };
    check(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 150000 tokens (149000 in the messages, 1000 in the functions). Please reduce the length of the messages or functions.",
        "(150000 tokens, 128000 fit)",
    );
    check(
        "This model's maximum context length is 4096 tokens. However, you requested 5100 tokens (4100 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
        "(5100 tokens, 4096 fit)",
    );
    check(
        "This endpoint's maximum context length is 200000 tokens. However, you requested about 250000 tokens (240000 of text input, 10000 in the output). Please reduce the length of either one.",
        "(250000 tokens, 200000 fit)",
    );
    check(
        "This model's maximum context length is 32,768 tokens. However, your request has 40,001 input tokens.",
        "(40001 tokens, 32768 fit)",
    );
    // Numbers of which none is too large say nothing.
    check(
        "'max_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 500 input tokens (4000 > 4096 - 500).",
        "(more than the model can read)",
    );
    let ollama = refusal(
        &host(),
        None,
        400,
        json!({"error": "input length exceeds the context length"})
            .to_string()
            .as_bytes(),
    );
    assert_eq!(ollama.error.remedy, Some(Remedy::Less), "{}", ollama.error);
}

#[test]
fn a_request_that_no_minute_has_room_for_is_never_tried_again() {
    let said = |status: u16, message: &str| {
        let body = openai(message, "tokens", json!("rate_limit_exceeded"));
        refusal(&host(), None, status, body.to_string().as_bytes()).error
    };
    let large = "Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.";
    for status in [413, 429] {
        let error = said(status, large);
        assert!(!error.retryable() && error.remedy == Some(Remedy::Less), "{error}");
        assert!(
            error
                .message
                .contains("may send to http://host in a minute (41000 tokens, 30000 allowed)"),
            "{error}"
        );
    }
    let busy = "Rate limit reached for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.";
    let error = said(429, busy);
    assert_eq!(
        (error.code, error.remedy),
        (LlmErrorCode::RateLimit, Some(Remedy::Wait)),
        "{error}"
    );
    let anthropic = "This request would exceed your organization's rate limit of 30,000 input tokens per minute.";
    assert_eq!(said(429, anthropic).code, LlmErrorCode::RateLimit);
}

#[test]
fn what_an_account_or_a_server_lacks_is_not_blamed_on_the_key_and_is_not_tried_again() {
    let check = |status: u16, body: Value, remedy: Remedy, words: &str| {
        let refusal = refusal(
            &host(),
            Some(&SecretString::from("the key")),
            status,
            body.to_string().as_bytes(),
        );
        let error = &refusal.error;
        assert_eq!(error.remedy, Some(remedy), "{error}");
        assert!(
            error.message.contains(words) && !error.message.contains("refused the key"),
            "{error}"
        );
        // Nor is it asked in simpler terms.
        assert!(!error.retryable() && !refusal.is_unexplained, "{error}");
    };
    let verify = "Your organization must be verified to use the model `gpt-6`. Please go to the settings.";
    check(
        403,
        openai(verify, "invalid_request_error", Value::Null),
        Remedy::Model,
        "verified organisations only",
    );
    let closed = openai("Your account has been deactivated", "x", json!("account_deactivated"));
    check(401, closed, Remedy::Provider, "is closed");
    let network = openai("Your IP is not on the allow list", "x", json!("ip_not_authorized"));
    check(401, network, Remedy::Network, "from certain networks only");
    let google = |status: &str, message: &str, details: Value| json!({"error": {"code": 403, "status": status, "message": message, "details": details}});
    let off =
        "Generative Language API has not been used in project 123 before or it is disabled. Enable it by visiting x";
    check(
        403,
        google("PERMISSION_DENIED", off, json!([{"reason": "SERVICE_DISABLED"}])),
        Remedy::Provider,
        "switched off",
    );
    let nothing = "You exceeded your current quota. * Quota exceeded for metric: x/generate_content_free_tier_requests, limit: 0, model: gemini-3.1-pro";
    check(
        429,
        google("RESOURCE_EXHAUSTED", nothing, json!([])),
        Remedy::Credit,
        "nothing of this model without payment",
    );
    check(451, json!({}), Remedy::Provider, "is not offered where you are");
    let studio = "No models loaded. Please load a model in the developer page or use the `lms load` command.";
    check(400, json!({ "error": studio }), Remedy::Model, "has no model loaded");
    let failed = openai(
        "Failed to load model \"x\". Error: insufficient system resources",
        "x",
        json!("model_load_failed"),
    );
    check(404, failed, Remedy::Model, "could not load this model");
    let memory = "model requires more system memory (12.0 GiB) than is available (7.5 GiB)";
    check(
        500,
        json!({"error": {"message": memory, "type": "api_error"}}),
        Remedy::Model,
        "could not load this model",
    );
    let no_tools = "registry.ollama.ai/library/gemma:2b does not support tools";
    check(
        400,
        openai(no_tools, "api_error", Value::Null),
        Remedy::Model,
        "calls no tools",
    );
    // A quota that is not nothing comes back.
    let some = nothing
        .replace("limit: 0", "limit: 0.5")
        .replace("limit: 0.5", "limit: 05");
    let again = refusal(
        &host(),
        None,
        429,
        google("RESOURCE_EXHAUSTED", &some, json!([])).to_string().as_bytes(),
    );
    assert_eq!(again.error.code, LlmErrorCode::RateLimit, "{}", again.error);
    // A summary of what was thought is asked for in another way instead.
    let summary = openai(
        "Your organization must be verified to generate reasoning summaries.",
        "x",
        Value::Null,
    );
    assert!(refusal(&host(), None, 400, summary.to_string().as_bytes()).is_unexplained);
}

#[test]
fn nobody_is_sent_to_an_address_that_is_the_providers_own() {
    let own = Host::of_the_provider("https://api.example.com");
    let page = b"<html>Sign in</html>";
    for (status, body) in [(200, &b"{}"[..]), (301, b""), (404, b"{}"), (404, page), (405, b"")] {
        let error = refusal(&own, None, status, body).error;
        assert_eq!(
            error.remedy.filter(|remedy| *remedy == Remedy::Address),
            None,
            "{status}: {error}"
        );
        assert!(
            !error.message.contains("address of the model server in Settings"),
            "{status}: {error}"
        );
    }
    let error = web_page(&own);
    assert_eq!(error.remedy, Some(Remedy::Network));
    assert!(error.message.contains("sign in to the network"), "{error}");
    assert_eq!(web_page(&host()).remedy, Some(Remedy::Address));
}
