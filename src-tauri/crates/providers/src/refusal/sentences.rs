//! What a refusal is called in words: what happened, what it means, and what to do.

use contract::llm::{LlmError, LlmErrorCode, Remedy};
use secrecy::SecretString;

use super::cases::Case;
use super::said::Said;
use crate::endpoint::Host;
use crate::redact::without_key;

/// How much of a server's own words is repeated.
pub(super) const LONGEST_QUOTE: usize = 300;

/// The error for a page where an answer should be.
pub(crate) fn web_page(server: &Host) -> LlmError {
    let network = match server.is_own() {
        true => "",
        false => ", and on a network with a sign-in page (a hotel, an office) sign in there first",
    };
    let message = format!(
        "{server} answered with a web page, not a model API: {}{network}",
        server.look()
    );
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(server.remedy())
}

/// The error for a proxy that wants to know who asks.
pub(super) fn proxy_sign_in(server: &Host) -> LlmError {
    let message = format!(
        "a proxy between this computer and {server} wants a sign-in: sign in to the network first, in a web browser or as \
         those who run it say"
    );
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(Remedy::Network)
}

/// The error for what a proxy or a filter keeps from the server, in its words where it has some. The key is not to blame.
pub(super) fn barred(server: &Host, status: u16, key: Option<&SecretString>, said: &Said) -> LlmError {
    let what = match said.is_page {
        true => format!("a web page came in the place of an answer of {server} (HTTP {status})"),
        false => format!(
            "what was sent to {server} is not let through (HTTP {status}){}",
            quote(&said.message, key)
        ),
    };
    let message = format!(
        "{what}: a company's proxy or a filter of the network may stand in between, so sign in to the network, or ask those \
         who run it"
    );
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(Remedy::Network)
}

/// What helps against a refusal of this kind.
pub(super) fn remedy(server: &Host, code: LlmErrorCode, case: Option<Case>) -> Option<Remedy> {
    match (code, case) {
        (_, Some(case)) => Some(case.remedy()),
        (LlmErrorCode::BadResponse, None) => Some(server.remedy()),
        // What this model is not asked in a way that it takes, another one may be.
        (LlmErrorCode::InvalidRequest, None) => Some(Remedy::Model),
        (code, None) => Remedy::of(code),
    }
}

/// What happened, what it means and what to do, in one sentence.
pub(super) fn sentence(
    server: &Host,
    key: Option<&SecretString>,
    status: u16,
    (code, case): (LlmErrorCode, Option<Case>),
    said: &Said,
) -> String {
    let quote = match said.is_page {
        true => ", as a proxy or gateway in between says".to_owned(),
        false => quote(&said.message, key),
    };
    if let Some(case) = case {
        return case.sentence(server, &quote, said);
    }
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
            "{server} sends requests on to another address, and a key must not follow there: {}",
            match server.is_own() {
                true => server.look(),
                false => "enter the final address of the model server in Settings",
            }
        ),
        LlmErrorCode::BadResponse => {
            format!("{server} has no model API at this address{quote}: {}", server.look())
        }
        LlmErrorCode::InvalidRequest => {
            format!(
                "{server} refused the request{}{quote}: choose another model, which may take it",
                number(status)
            )
        }
        LlmErrorCode::Connection | LlmErrorCode::StreamCut | LlmErrorCode::NotRecorded => {
            format!("{server} refused the request{}{quote}", number(status))
        }
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
pub(super) fn quote(message: &str, key: Option<&SecretString>) -> String {
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
