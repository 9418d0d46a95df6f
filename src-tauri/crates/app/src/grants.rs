//! What a person allowed for every run of a task: kept when they say so, given to its next runs, listed and revoked.
//!
//! A task is the same task when it has the same goal in the same folder; a flow, the same id there. What a person allowed
//! for one run lies in that run's journal and nowhere else.

use contract::access::{Access, Envelope};
use contract::hash::Hash;
use contract::run::RunHeader;
use contract::{AppError, RunId};
use serde_json::json;
use store::NewGrant;

use crate::app::App;
use crate::error::{ToAppError, internal};

/// By what a task's grants are kept.
fn identity(header: &RunHeader) -> Result<Hash, AppError> {
    let flow = header.flow.as_deref().map(|run| run.flow.id.as_str());
    let identity = json!({ "folder": header.envelope.folder, "goal": header.task.goal, "flow": flow });
    Hash::of_value(&identity).map_err(|error| internal(error.to_string()))
}

impl App {
    /// The envelope with what was allowed for this task before.
    pub(crate) async fn with_kept_grants(&self, header: &RunHeader) -> Result<Envelope, AppError> {
        let kept = self.rooms.store.grants().of(&identity(header)?).await;
        Ok(Envelope {
            kept: kept.map_err(ToAppError::to_app_error)?,
            ..header.envelope.clone()
        })
    }

    /// Keeps what a person allowed for every run of the task that this is a run of.
    pub async fn grant_for_task(&self, run: &RunId, allowed: &[Access]) -> Result<(), AppError> {
        let header = self.header_of(run).await?;
        let task = identity(&header)?;
        let grants = allowed.iter().map(|access| NewGrant {
            task: task.clone(),
            title: header.title.clone(),
            folder: header.envelope.folder.clone(),
            access: access.clone(),
        });
        let kept = self.rooms.store.grants();
        kept.add(grants.collect(), self.rooms.clock.now_ms())
            .await
            .map_err(ToAppError::to_app_error)
    }
}
