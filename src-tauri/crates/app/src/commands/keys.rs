//! Keys of model accounts. They go in; only what may be shown comes out.

use contract::AppError;
use contract::secret::KeyInfo;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A key to keep.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetKey {
    /// The account it belongs to, such as `openai_compatible`.
    pub account: String,
    /// The key itself.
    #[ts(type = "string")]
    pub key: SecretString,
}

/// An account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct KeyAccount {
    /// Its name, such as `openai_compatible`.
    pub account: String,
}
