//! Drafts: what a person has typed and not yet saved or run.

use contract::AppError;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::app::App;
use crate::error::ToAppError;

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

/// The draft as it was last kept.
pub async fn get(app: &App, request: GetDraft) -> Result<Draft, AppError> {
    let kept = app
        .rooms
        .store
        .drafts()
        .get(&request.name)
        .await
        .map_err(ToAppError::to_app_error)?;
    let value = kept.and_then(|draft| serde_json::from_str(&draft.text).ok());
    Ok(Draft {
        value: value.unwrap_or_default(),
    })
}

/// Keeps a draft in place of the one before.
pub async fn set(app: &App, request: SetDraft) -> Result<(), AppError> {
    let drafts = app.rooms.store.drafts();
    let kept = if request.value.is_null() {
        drafts.delete(&request.name).await
    } else {
        drafts
            .set(&request.name, &request.value.to_string(), app.rooms.clock.now_ms())
            .await
    };
    kept.map_err(ToAppError::to_app_error)
}
