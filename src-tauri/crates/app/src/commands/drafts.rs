//! Drafts: what a person has typed and not yet saved or run.

use contract::AppError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

/// A draft's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GetDraft {
    /// Which; the window chooses the names.
    pub name: String,
}

/// A draft as it was last kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    /// What was kept; null when nothing is.
    #[ts(type = "unknown")]
    pub value: Value,
}

/// A draft to keep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SetDraft {
    /// Which.
    pub name: String,
    /// What to keep; null forgets it.
    #[ts(type = "unknown")]
    pub value: Value,
}
