//! Which kind of failure a refusal is: by the error's code or type, then by the HTTP status. Some servers send only words;
//! the documented ones are in [`WORDS`], and no other place looks into a message.

use contract::llm::{LlmError, LlmErrorCode};

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

/// Codes of an account without credit.
const NO_CREDIT: &[&str] = &[
    "insufficient_quota",
    "billing_error",
    "billing_hard_limit_reached",
    "billing_not_active",
    "organization_spend_limit_exceeded",
];
/// The same in words: Anthropic twice, Gemini twice.
const NO_CREDIT_WORDS: &[&str] = &[
    "credit balance is too low",
    "reached your specified api usage limits",
    "credits are depleted",
    "free tier is not available in your country",
];
/// Codes of a request whose content the provider does not want to answer: OpenAI, Azure.
const CONTENT: &[&str] = &[
    "content_filter",
    "content_policy_violation",
    "bio_policy",
    "cyber_policy",
    "misalignment_policy_violation",
    "image_content_policy_violation",
    "invalid_prompt",
];
/// The same in words: OpenRouter.
const CONTENT_WORDS: &[&str] = &["requires moderation", "your input was flagged"];
/// Codes and words of a provider that is not offered where the person is: OpenAI, and Gemini.
const NOT_HERE: &[&str] = &[
    "unsupported_country_region_territory",
    "country, region, or territory not supported",
    "user location is not supported",
    // Anthropic, under the code `forbidden`.
    "request not allowed",
];

/// OpenRouter, where nobody runs the model so: with tools, or under the rules that the account has for its data.
const NOBODY: &[&str] = &["no endpoints found"];

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
    (NOBODY, LlmErrorCode::ModelNotFound),
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

impl Said {
    pub(super) fn no_credit(&self) -> bool {
        self.is(NO_CREDIT, NO_CREDIT_WORDS)
    }

    pub(super) fn not_here(&self) -> bool {
        self.is(NOT_HERE, NOT_HERE)
    }

    /// Whether the provider does not want to answer this.
    pub(super) fn content(&self) -> bool {
        self.is(CONTENT, CONTENT_WORDS)
    }

    /// Whether the model is there, and nobody runs it as it is asked for.
    pub(super) fn nobody(&self) -> bool {
        self.is(NOBODY, NOBODY)
    }

    fn is(&self, codes: &[&str], words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        let has_code = |code: &&str| self.codes.iter().any(|said| said == code);
        codes.iter().any(has_code) || words.iter().any(|words| message.contains(words))
    }
}

/// The kind of a refusal under this HTTP status.
pub(super) fn kind(status: u16, said: &Said) -> LlmErrorCode {
    // Waiting does not fill an account, and another key does not move a person.
    if said.no_credit() || said.not_here() || said.content() {
        return LlmErrorCode::InvalidRequest;
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
pub(super) fn kind_inside(said: &Said) -> LlmErrorCode {
    if said.no_credit() || said.not_here() || said.content() {
        return LlmErrorCode::InvalidRequest;
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
