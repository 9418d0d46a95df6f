//! Which kind of failure a refusal is: by what it is about, by the error's code or type, then by the HTTP status. Some
//! servers send only words; the documented ones are in [`WORDS`] and in `cases`, and no other place looks into a message.

use contract::llm::{LlmError, LlmErrorCode};

use super::cases::Case;
use super::said::Said;

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
    ("permission_error", LlmErrorCode::Authentication),
];

/// Other names of a failure that passes, in the middle of an answer; under a status they say nothing.
const PASSES: &[&str] = &[
    "api_error",
    "internal_error",
    "internal_server_error",
    "InternalServerError",
    "service_unavailable",
    "service_unavailable_error",
    "unavailable_error",
    "UNAVAILABLE",
    "INTERNAL",
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
    (
        &["input length exceeds the context length"],
        LlmErrorCode::ContextLength,
    ),
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

/// The kind of a refusal under this HTTP status.
pub(super) fn kind(status: u16, case: Option<Case>, said: &Said) -> LlmErrorCode {
    // Waiting does not fill an account, and another key does not move a person.
    if let Some(case) = case {
        return case.code();
    }
    match known(said) {
        // What is wrong with the request does not pass, whatever the server calls it.
        Some(code) if is_final(status) && passes(code) => by_words(said).unwrap_or_else(|| by_status(status)),
        Some(code) => code,
        None => by_status(status),
    }
}

/// A refusal of this request, for good (models page, "Retry": other 4xx are never retried).
fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && status != 408 && status != 429
}

fn passes(code: LlmErrorCode) -> bool {
    LlmError::new(code, "").retryable()
}

/// The kind of an error that came in the middle of an answer, without a status: tried again only where it says that it
/// passes, or says nothing.
pub(super) fn kind_inside(case: Option<Case>, said: &Said) -> LlmErrorCode {
    if let Some(case) = case {
        return case.code();
    }
    let is_name = |code: &String| code.parse::<i64>().is_err() && code != "error";
    match known(said) {
        Some(code) => code,
        None if said.codes.iter().any(|code| PASSES.contains(&code.as_str())) => LlmErrorCode::Server,
        None if said.codes.iter().any(is_name) => LlmErrorCode::InvalidRequest,
        None => LlmErrorCode::Server,
    }
}

fn by_status(status: u16) -> LlmErrorCode {
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

/// The kind that a server names itself.
fn known(said: &Said) -> Option<LlmErrorCode> {
    let by_code = |(name, code): &(&str, LlmErrorCode)| said.codes.iter().any(|said| said == name).then_some(*code);
    CODES.iter().find_map(by_code).or_else(|| by_words(said))
}

fn by_words(said: &Said) -> Option<LlmErrorCode> {
    let message = format!("{} {}", said.codes.join(" "), said.message).to_lowercase();
    let is = |(words, code): &(&[&str], LlmErrorCode)| words.iter().all(|word| message.contains(word)).then_some(*code);
    WORDS.iter().find_map(is)
}
