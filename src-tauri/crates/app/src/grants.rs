//! What a person allowed for every run of a task: kept when they say so, given to its next runs, listed and revoked.
//!
//! A task is the same task when it has the same goal in the same folder; a flow, the same id there. What a person allowed
//! for one run lies in that run's journal and nowhere else.

use contract::access::{Access, Envelope};
use contract::hash::Hash;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::files::Files;
use contract::run::RunHeader;
use contract::task::Task;
use contract::task_effect::{AskedEffect, TaskEffect};
use contract::{AppError, RunId};
use engine::effects;
use serde_json::json;
use store::NewGrant;

use crate::app::App;
use crate::error::{ToAppError, internal};
use crate::new_run::rules_asked;
use crate::world;

/// By what a task's grants are kept.
fn identity(header: &RunHeader) -> Result<Hash, AppError> {
    let flow = header.flow.as_deref().map(|run| run.flow.id.as_str());
    identity_of(&header.envelope.folder, &header.task, flow)
}

fn identity_of(folder: &str, task: &Task, flow: Option<&str>) -> Result<Hash, AppError> {
    let identity = json!({ "folder": folder, "goal": task.goal, "flow": flow });
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

    /// What a task would have the app do by itself, and what of it a person allowed for this task in this folder.
    pub async fn effects_of(&self, task: &Task, folder: Option<&str>) -> Result<Vec<AskedEffect>, AppError> {
        let rules = rules_asked(task);
        if effects::of(&rules, task, &self.rooms.checks).is_empty() {
            return Ok(Vec::new());
        }
        // Nothing was allowed in a folder that is not there.
        let folder = match folder {
            Some(folder) => world::folder(folder).await.ok(),
            None => None,
        };
        let kept = match folder {
            Some(folder) => {
                let task = identity_of(folder.root(), task, None)?;
                let kept = self.rooms.store.grants().of(&task).await;
                kept.map_err(ToAppError::to_app_error)?
            }
            None => Vec::new(),
        };
        let is_kept = |effect: &TaskEffect, _: &Hash| {
            let same = |access: &Access| matches!(access, Access::TaskEffect { effect: kept } if kept == effect);
            kept.iter().any(same)
        };
        Ok(effects::asked(&rules, task, &self.rooms.checks, is_kept))
    }

    /// Keeps what a person allowed with this answer, if it is for every run of the task.
    pub async fn keep_if_for_task(&self, run: &RunId, ask: &Ask, answer: &Answer) -> Result<(), AppError> {
        let Answer::Allow {
            scope: AllowedFor::Task,
        } = answer
        else {
            return Ok(());
        };
        match ask {
            Ask::Permission { access, .. } => self.grant_for_task(run, access).await,
            Ask::AllowEffect { effect, .. } => {
                let effect = effect.clone();
                self.grant_for_task(run, &[Access::TaskEffect { effect }]).await
            }
            Ask::ApprovePlan { .. } | Ask::UncertainEffect { .. } | Ask::Gate { .. } | Ask::RunStep { .. } => Ok(()),
        }
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
