//! Deleting runs: for good, and only those that nobody drives.
//!
//! Deliberately not here: what goes with a run (`store`), and the files that a run wrote: they are the person's.

use contract::{AppError, RunId};

use crate::app::App;
use crate::commands::runs::WhatGoes;
use crate::error::ToAppError;
use crate::event_log::Signal;

/// The most runs that are deleted at once.
const MOST: usize = 200;

impl App {
    /// What deleting runs would take with it. A value that several of them share and nobody else uses is not counted.
    pub async fn deletion(&self, runs: &[RunId]) -> Result<WhatGoes, AppError> {
        not_too_many(runs)?;
        let mut goes = WhatGoes::default();
        for run in runs {
            let found = self.rooms.store.deletion_of(run).await;
            let Some(found) = found.map_err(ToAppError::to_app_error)? else {
                continue;
            };
            goes.runs += 1;
            goes.events += found.events;
            goes.values += found.artifacts;
            goes.bytes += found.bytes;
        }
        Ok(goes)
    }

    /// Deletes runs for good, all of them or none, and says what went.
    ///
    /// # Errors
    /// One of them is at work, here or in another process.
    pub async fn delete(&self, runs: &[RunId]) -> Result<WhatGoes, AppError> {
        let goes = self.deletion(runs).await?;
        let mut locks = Vec::new();
        for run in runs {
            if self.rooms.active.is_active(run) {
                return Err(at_work());
            }
            let lock = self.rooms.store.lock_run(run).map_err(ToAppError::to_app_error)?;
            locks.push(lock.ok_or_else(at_work)?);
        }
        let deleted = self.rooms.store.delete_runs(runs).await;
        deleted.map_err(ToAppError::to_app_error)?;
        for run in runs {
            self.rooms.approvals.forget(run);
        }
        drop(locks);
        self.rooms.events.say(Signal::RunsChanged);
        Ok(goes)
    }
}

fn not_too_many(runs: &[RunId]) -> Result<(), AppError> {
    if runs.len() <= MOST {
        return Ok(());
    }
    let message = format!("these are more runs than are deleted at once ({MOST})");
    Err(AppError::new("too_many", message).hint("Choose fewer, and then the others."))
}

fn at_work() -> AppError {
    AppError::new(
        "run_at_work",
        "one of these runs is at work, and is not deleted meanwhile",
    )
    .hint("Stop it first, or wait until it has ended.")
}
