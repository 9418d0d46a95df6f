//! What a model server says when it does not answer, in one kind, one sentence and one remedy.
//!
//! [`said`] reads the body, [`kinds`] and [`cases`] decide what it means, [`sentences`] says it.

mod cases;
mod kinds;
mod said;
mod sentences;
#[cfg(test)]
mod tests;

use contract::llm::{LlmError, LlmErrorCode};
use secrecy::SecretString;
use serde_json::Value;

use crate::endpoint::Host;
use cases::Case;
use kinds::{kind, kind_inside};
use said::{Said, numbers, said, said_in_words};
pub(crate) use sentences::web_page;
use sentences::{barred, proxy_sign_in, remedy, sentence};

/// A server's refusal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal {
    /// The error, as everyone above sees it.
    pub(crate) error: LlmError,
    /// The part of the request that the server names as the cause.
    pub(crate) param: Option<String>,
    /// Whether nothing but the request's own terms may be the cause.
    pub(crate) is_unexplained: bool,
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
            is_unexplained: false,
            words: String::new(),
        }
    }
}

/// Reads an answer with an HTTP status that is no success.
pub(crate) fn refusal(server: &Host, key: Option<&SecretString>, status: u16, body: &[u8]) -> Refusal {
    let said = match serde_json::from_slice::<Value>(body) {
        Ok(json) => said(&json),
        Err(_) => said_in_words(body, is_web_page(body)),
    };
    let case = Case::of(status, &said);
    if let Some(error) = in_between(server, key, status, case, &said) {
        return at_status(error, status).into();
    }
    let code = kind(status, case, &said);
    let message = sentence(server, key, status, (code, case), &said);
    let error = LlmError {
        retry_after_ms: said.wait_ms,
        remedy: remedy(server, code, case),
        ..at_status(LlmError::new(code, message), status)
    };
    Refusal {
        error,
        param: said.param,
        is_unexplained: code == LlmErrorCode::InvalidRequest && case.is_none(),
        words: said.message.to_lowercase(),
    }
}

/// What not the server said, but something on the way to it, which may be well again later: that speaks in pages, and in
/// short words. What passes (408, 429, 5xx) is the same whoever says it.
fn in_between(
    server: &Host,
    key: Option<&SecretString>,
    status: u16,
    case: Option<Case>,
    said: &Said,
) -> Option<LlmError> {
    match status {
        407 => Some(proxy_sign_in(server)),
        _ if case == Some(Case::PlainHttp) => None,
        401 | 403 | 451 if said.is_page => Some(barred(server, status, key, said)),
        408 | 429 => None,
        400..500 if said.is_page => Some(web_page(server)),
        403 | 451 if said.is_text && !speaks_of_keys(&said.message) => Some(barred(server, status, key, said)),
        _ => None,
    }
}

/// Whether words refuse whoever asks, and not what stands in between.
fn speaks_of_keys(message: &str) -> bool {
    let message = message.to_lowercase();
    ["key", "token", "auth", "credential", "permission"]
        .iter()
        .any(|word| message.contains(word))
}

/// Reads an error that came in the middle of an answer, or under a status of success.
pub(crate) fn refusal_inside(server: &Host, key: Option<&SecretString>, value: &Value) -> LlmError {
    let said = said(value);
    let status = said.codes.iter().find_map(|code| code.parse().ok());
    let case = Case::of(status.unwrap_or(200), &said);
    let code = match status {
        Some(status) if status >= 400 => kind(status, case, &said),
        _ => kind_inside(case, &said),
    };
    let message = sentence(server, key, status.unwrap_or(200), (code, case), &said);
    LlmError {
        status,
        retry_after_ms: said.wait_ms,
        remedy: remedy(server, code, case),
        ..LlmError::new(code, message)
    }
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
