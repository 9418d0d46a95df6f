//! What the settings need to know about a kind of provider to draw its card.

use serde::Serialize;
use ts_rs::TS;

/// A kind of provider.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ProviderInfo {
    /// Its name, the part before the colon in `provider:model`; also the account of its key, unless a person has
    /// several.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// Whether a person must say where the server is.
    pub needs_base_url: bool,
    /// Where it is when nobody says; empty where a person must.
    pub base_url: &'static str,
    /// Whether it needs a key.
    pub key: KeyNeed,
    /// The environment variables that may hold its key, the first that is set counts.
    pub environment: &'static [&'static str],
    /// Where a person buys credit, in a web browser; absent where it depends on the server.
    pub credit_page: Option<&'static str>,
    /// Where a person makes a key.
    pub keys_page: Option<&'static str>,
    /// Where such servers usually are, to choose from.
    pub usual_addresses: &'static [UsualAddress],
}

/// Whether a kind of provider needs a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyNeed {
    /// Nothing works without one.
    Required,
    /// Some servers want one.
    Optional,
    /// There is none.
    None,
}

/// A server that people often run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UsualAddress {
    /// The name of the server program.
    pub title: &'static str,
    /// Its address when nothing was changed.
    pub url: &'static str,
}
