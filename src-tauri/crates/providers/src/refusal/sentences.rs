//! What a refusal is called in words: what happened, what it means, and what to do.

use contract::llm::{LlmError, LlmErrorCode, Remedy};
use secrecy::SecretString;

use super::said::Said;
use crate::redact::without_key;

/// How much of a server's own words is repeated.
pub(super) const LONGEST_QUOTE: usize = 300;

/// The error for a page where an answer should be.
pub(crate) fn web_page(server: &str) -> LlmError {
    let message = format!(
        "{server} answered with a web page, not a model API: check the address of the model server in Settings, and on a network \
         with a sign-in page (a hotel, an office) sign in there first"
    );
    LlmError::new(LlmErrorCode::BadResponse, message)
}

/// The error for a proxy that wants to know who asks.
pub(super) fn proxy_sign_in(server: &str) -> LlmError {
    let message = format!(
        "a proxy between this computer and {server} wants a sign-in: sign in to the network first, in a web browser or as \
         those who run it say"
    );
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(Remedy::Network)
}

/// What helps against a refusal of this kind.
pub(super) fn remedy(status: u16, code: LlmErrorCode, said: &Said) -> Option<Remedy> {
    match code {
        LlmErrorCode::InvalidRequest if status == 402 || said.no_credit() => Some(Remedy::Credit),
        LlmErrorCode::InvalidRequest if said.not_here() => Some(Remedy::Provider),
        LlmErrorCode::InvalidRequest if said.content() => Some(Remedy::Model),
        code => Remedy::of(code),
    }
}

/// What happened, what it means and what to do, in one sentence.
pub(super) fn sentence(
    server: &str,
    key: Option<&SecretString>,
    status: u16,
    code: LlmErrorCode,
    said: &Said,
) -> String {
    let quote = quote(&said.message, key);
    match code {
        LlmErrorCode::Authentication if key.is_some() => {
            format!("{server} refused the key{quote}: check the key in Settings")
        }
        LlmErrorCode::Authentication => format!("{server} wants a key{quote}: add one in Settings"),
        LlmErrorCode::ModelNotFound if said.nobody() => format!(
            "{server} has nobody who runs this model as it is asked for{quote}: choose another model, or look at what your account there allows"
        ),
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
        LlmErrorCode::InvalidRequest if said.content() => {
            format!("{server} does not answer what is asked here{quote}: say it differently, or choose another model")
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
