//! What was allowed for every run of a task: list it, take it back.

use contract::AppError;
use contract::access::Access;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::error::ToAppError;

/// Something that a person allowed for every run of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct TaskGrant {
    /// Its number.
    #[ts(type = "number")]
    pub id: i64,
    /// What the task is called.
    pub title: String,
    /// The folder that it works in.
    pub folder: String,
    /// What is allowed.
    pub access: Access,
    /// Milliseconds since 1970, UTC.
    #[ts(type = "number")]
    pub granted_at_ms: i64,
}

/// A grant to take back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RevokeGrant {
    /// Its number.
    #[ts(type = "number")]
    pub id: i64,
}

/// All grants, newest first.
pub async fn list(app: &App, (): ()) -> Result<Vec<TaskGrant>, AppError> {
    let all = app.rooms.store.grants().all().await.map_err(ToAppError::to_app_error)?;
    let shown = |grant: store::Grant| TaskGrant {
        id: grant.id,
        title: grant.title,
        folder: grant.folder,
        access: grant.access,
        granted_at_ms: grant.granted_at_ms,
    };
    Ok(all.into_iter().map(shown).collect())
}

/// Takes a grant back. Runs that have begun keep it; later ones ask again.
pub async fn revoke(app: &App, request: RevokeGrant) -> Result<(), AppError> {
    let revoked = app.rooms.store.grants().revoke(request.id).await;
    match revoked.map_err(ToAppError::to_app_error)? {
        true => Ok(()),
        false => Err(AppError::new("not_found", "this permission is not there any more")
            .hint("It may have been taken back already.")),
    }
}
