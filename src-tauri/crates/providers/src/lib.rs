//! The model providers: each is one file and one line in [`all`].
//!
//! Read in this order: [`info`] (what the settings draw a card from), [`endpoint`] (where a server
//! is), [`anthropic`], [`openai`], [`gemini`], [`openai_compatible`], [`connection_test`] and
//! [`catalog`] (what is known of models without asking), [`local`] (servers on this machine); [`recording`] and [`replay`] (answers that
//! were kept earlier). Below them, and used by all that speak HTTP: [`server`] (everything that is the same for all),
//! [`retry`] (the one retry layer) and [`gate`] (how many at once), [`learned`] (in which terms a model is asked), `http`, `reader`, `sse`, `pieces`, `not_sent`, `refusal`,
//! `retry_after`, `turn`, `keyless` and `redact`.
//!
//! Deliberately not here: prompts, budgets, where keys are kept, and anything that knows what a step
//! is.

pub mod anthropic;
pub mod catalog;
mod closed_shape;
pub mod connection_test;
pub mod endpoint;
#[cfg(test)]
mod exchange;
pub mod gate;
pub mod gemini;
mod http;
pub mod info;
mod keyless;
pub mod learned;
pub mod local;
mod not_sent;
pub mod openai;
pub mod openai_compatible;
mod pieces;
mod reader;
pub mod recording;
mod redact;
mod refusal;
pub mod replay;
pub mod retry;
mod retry_after;
pub mod server;
mod sse;
#[cfg(test)]
mod testing;
mod turn;

pub use redact::without_key;

use info::ProviderInfo;
use server::Open;

/// Every kind of provider that a person can set up. The replay is not one: it plays, and is chosen
/// by what is played.
pub fn all() -> Vec<Kind> {
    vec![
        Kind {
            info: anthropic::info(),
            open: anthropic::open,
        },
        Kind {
            info: openai::info(),
            open: openai::open,
        },
        Kind {
            info: gemini::info(),
            open: gemini::open,
        },
        Kind {
            info: openai_compatible::info(),
            open: openai_compatible::open,
        },
    ]
}

/// A kind of provider.
pub struct Kind {
    /// What its card in the settings shows.
    pub info: ProviderInfo,
    /// How an account of it is opened.
    pub open: Open,
}

/// What the body of a successful answer of a chat-completions server says, when it came whole.
///
/// # Errors
/// It is no answer.
pub fn answer_of(
    server: &str,
    answer: &serde_json::Value,
) -> Result<contract::llm::LlmResponse, contract::llm::LlmError> {
    openai_compatible::answer_of(server, answer)
}

/// What a server's answer with an HTTP status that is no success means, whichever provider got it.
pub fn failure_of(server: &str, status: u16, body: &[u8]) -> contract::llm::LlmError {
    refusal::refusal(&endpoint::Host::of_a_person(server), None, status, body).error
}
