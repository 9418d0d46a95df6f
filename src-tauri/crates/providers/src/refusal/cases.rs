//! What a refusal is about where its kind alone does not tell what helps: its kind, its remedy and its sentence.

use contract::llm::{LlmErrorCode, Remedy};

use super::said::Said;
use crate::endpoint::Host;

/// What a refusal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    /// The account has no credit.
    NoCredit,
    /// The account pays nothing, and gets nothing of this model for that.
    NotFree,
    /// The provider is not offered where the person is.
    NotHere,
    /// The provider does not want to answer this.
    Content,
    /// The model is there, and nobody runs it as it is asked for.
    Nobody,
    /// No model is loaded.
    NotLoaded,
    /// The model could not be loaded.
    LoadFailed,
    /// The model calls no tools, or not as the server is set up.
    NoTools,
    /// The model is for organisations that were verified.
    Unverified,
    /// The account is closed.
    Closed,
    /// The account may be used from certain networks only.
    OtherNetwork,
    /// The account has this API switched off.
    SwitchedOff,
    /// One request has more tokens than the account may send in a minute.
    TooMuchAtOnce,
    /// The server wants https.
    PlainHttp,
}

/// A case, the codes that name it, and the words that do; all words of a row must be in the message, in lower case.
type Row = (Case, &'static [&'static str], &'static [&'static [&'static str]]);

const CASES: &[Row] = &[
    (
        Case::NoCredit,
        &[
            "insufficient_quota",
            "billing_error",
            "billing_hard_limit_reached",
            "billing_not_active",
            "organization_spend_limit_exceeded",
        ],
        // Anthropic twice, Gemini twice.
        &[
            &["credit balance is too low"],
            &["reached your specified api usage limits"],
            &["credits are depleted"],
            &["free tier is not available in your country"],
        ],
    ),
    (
        Case::NotHere,
        &["unsupported_country_region_territory"],
        &[
            &["country, region, or territory not supported"],
            // Gemini
            &["user location is not supported"],
            // Anthropic, under the code `forbidden`.
            &["request not allowed"],
        ],
    ),
    (
        Case::Content,
        // OpenAI, Azure
        &[
            "content_filter",
            "content_policy_violation",
            "bio_policy",
            "cyber_policy",
            "misalignment_policy_violation",
            "image_content_policy_violation",
            "invalid_prompt",
        ],
        // OpenRouter
        &[&["requires moderation"], &["your input was flagged"]],
    ),
    // OpenRouter: with tools, or under the rules that the account has for its data.
    (Case::Nobody, &[], &[&["no endpoints found"]]),
    // LM Studio
    (Case::NotLoaded, &[], &[&["no models loaded"]]),
    (
        Case::LoadFailed,
        &["model_load_failed"],
        // LM Studio, Ollama
        &[&["failed to load model"], &["model requires more system memory"]],
    ),
    (
        Case::NoTools,
        &[],
        // Ollama, llama.cpp, vLLM
        &[
            &["does not support tools"],
            &["tools param requires --jinja"],
            &["tool choice requires --enable-auto-tool-choice"],
        ],
    ),
    // OpenAI. What only the summary of thoughts needs it for is asked without that.
    (
        Case::Unverified,
        &[],
        &[
            &["must be verified to use the model"],
            &["must be verified to stream this model"],
        ],
    ),
    // OpenAI, Anthropic
    (
        Case::Closed,
        &["account_deactivated"],
        &[&["account has been deactivated"], &["organization has been disabled"]],
    ),
    // OpenAI
    (
        Case::OtherNetwork,
        &["ip_not_authorized"],
        &[&["your ip is not on the allow list"]],
    ),
    // Gemini
    (
        Case::SwitchedOff,
        &["SERVICE_DISABLED"],
        &[&["has not been used in project", "or it is disabled"]],
    ),
    (
        Case::PlainHttp,
        &[],
        // Go, nginx, Apache
        &[
            &["client sent an http request to an https server"],
            &["plain http request was sent to https port"],
            &["speaking plain http to an ssl-enabled server port"],
        ],
    ),
];

impl Case {
    /// What this refusal under this HTTP status is about; none where its kind says it all.
    pub(super) fn of(status: u16, said: &Said) -> Option<Self> {
        let message = said.message.to_lowercase();
        let is = |(case, codes, rows): &Row| {
            let has_code = codes.iter().any(|code| said.codes.iter().any(|said| said == code));
            let has_words = rows.iter().any(|row| row.iter().all(|words| message.contains(words)));
            (has_code || has_words).then_some(*case)
        };
        match status {
            402 => Some(Self::NoCredit),
            451 => Some(Self::NotHere),
            _ if said.per_minute.is_some() => Some(Self::TooMuchAtOnce),
            _ if is_nothing_free(said, &message) => Some(Self::NotFree),
            _ => CASES.iter().find_map(is),
        }
    }

    /// The kind: none of them passes, whatever the status, and neither does another key help.
    pub(super) fn code(self) -> LlmErrorCode {
        match self {
            Self::Nobody | Self::NotLoaded | Self::LoadFailed => LlmErrorCode::ModelNotFound,
            Self::TooMuchAtOnce => LlmErrorCode::ContextLength,
            Self::PlainHttp => LlmErrorCode::BadResponse,
            Self::NoCredit
            | Self::NotFree
            | Self::NotHere
            | Self::Content
            | Self::NoTools
            | Self::Unverified
            | Self::Closed
            | Self::OtherNetwork
            | Self::SwitchedOff => LlmErrorCode::InvalidRequest,
        }
    }

    /// What helps.
    pub(super) fn remedy(self) -> Remedy {
        match self {
            Self::NoCredit | Self::NotFree => Remedy::Credit,
            Self::NotHere | Self::Closed | Self::SwitchedOff => Remedy::Provider,
            Self::Content | Self::Nobody | Self::NotLoaded | Self::LoadFailed | Self::NoTools | Self::Unverified => {
                Remedy::Model
            }
            Self::OtherNetwork => Remedy::Network,
            Self::TooMuchAtOnce => Remedy::Less,
            Self::PlainHttp => Remedy::Address,
        }
    }

    /// What happened, what it means and what to do, in one sentence.
    pub(super) fn sentence(self, server: &Host, quote: &str, said: &Said) -> String {
        match self {
            Self::NoCredit => format!("the credit of this account at {server} is used up{quote}: top it up there"),
            Self::NotFree => format!(
                "{server} gives this account nothing of this model without payment{quote}: enable billing there, or choose another model"
            ),
            Self::NotHere => format!(
                "{server} is not offered where you are{quote}: choose another provider, or a model on your own machine"
            ),
            Self::Content => format!(
                "{server} does not answer what is asked here{quote}: say it differently, or choose another model"
            ),
            Self::Nobody => format!(
                "{server} has nobody who runs this model as it is asked for{quote}: choose another model, or look at what your account there allows"
            ),
            Self::NotLoaded => format!("{server} has no model loaded{quote}: load one there, or choose another one"),
            Self::LoadFailed => format!(
                "{server} could not load this model{quote}: choose a smaller one, or close other programs on that machine"
            ),
            Self::NoTools => format!(
                "this model calls no tools as {server} is set up{quote}: choose a model that does, such as qwen3 or llama3.1"
            ),
            Self::Unverified => format!(
                "{server} gives this model to verified organisations only{quote}: choose another model, or have yours verified there"
            ),
            Self::Closed => format!(
                "the account of this key at {server} is closed{quote}: ask its support, or choose another provider"
            ),
            Self::OtherNetwork => format!(
                "{server} takes this key from certain networks only{quote}: connect to one of them, or have this one allowed there"
            ),
            Self::SwitchedOff => format!(
                "the account of this key has the API of {server} switched off{quote}: switch it on there, or choose another provider"
            ),
            Self::TooMuchAtOnce => {
                let much = match said.per_minute {
                    Some((asked, room)) => format!("{asked} tokens, {room} allowed"),
                    None => "more than allowed".to_owned(),
                };
                format!(
                    "the request has more tokens than this account may send to {server} in a minute ({much}){quote}: give it less to read, or have the limit raised there"
                )
            }
            Self::PlainHttp => format!(
                "{server} wants https{quote}: write https:// instead of http:// in the address of the model server in Settings"
            ),
        }
    }
}

/// Gemini, whose free tier has limits of nothing.
fn is_nothing_free(said: &Said, message: &str) -> bool {
    const NOTHING: &str = "limit: 0";
    let ends = |(_, after): (&str, &str)| !after.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    said.codes.iter().any(|code| code == "RESOURCE_EXHAUSTED") && message.split_once(NOTHING).is_some_and(ends)
}
