//! What a model server says when it does not answer, in one kind, one sentence and one remedy.
//!
//! [`said`] reads the body, [`kinds`] decides what it means, [`sentences`] says it.

mod kinds;
mod said;
mod sentences;
#[cfg(test)]
mod tests;

use contract::llm::LlmError;
use secrecy::SecretString;
use serde_json::Value;

use kinds::{kind, kind_inside};
use said::{numbers, said};
pub(crate) use sentences::web_page;
use sentences::{proxy_sign_in, remedy, sentence};

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

/// Reads an answer with an HTTP status that is no success.
pub(crate) fn refusal(server: &str, key: Option<&SecretString>, status: u16, body: &[u8]) -> Refusal {
    let json = serde_json::from_slice::<Value>(body).ok();
    let is_page = json.is_none() && is_web_page(body);
    let said = json.as_ref().map(said).unwrap_or_default();
    let code = match status {
        407 => return at_status(proxy_sign_in(server), status).into(),
        // A proxy in front of the server speaks in pages, and may be well again later.
        404 | 405 | 400 if is_page => return at_status(web_page(server), status).into(),
        _ => kind(status, &said),
    };
    let message = sentence(server, key, status, code, &said);
    let error = LlmError {
        retry_after_ms: said.wait_ms,
        remedy: remedy(status, code, &said),
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
        _ => kind_inside(&said),
    };
    let message = sentence(server, key, status.unwrap_or(200), code, &said);
    LlmError {
        status,
        retry_after_ms: said.wait_ms,
        remedy: remedy(status.unwrap_or(200), code, &said),
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
