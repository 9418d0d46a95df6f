//! Taking back what a run changed in files, and bringing it again (tools page, "Undo").
//!
//! Whoever undoes holds the run's lock, as whoever drives it does. A run that is not at its end is stopped by its person
//! first, and nothing is undone in a folder in which another run is at work. Deliberately not here: what an undo is, which
//! is the engine's.

use std::path::Path;

use contract::run::{RunStatus, RunSummary};
use contract::undo::{UndoPreview, UndoResult};
use contract::{AppError, Hash, RunId};
use engine::undo::history::History;
use engine::undo::{Place, UndoError, Wish, merging};
use serde::Serialize;
use store::{RunFilter, RunLock};
use ts_rs::TS;
use workspace::Folder;

use crate::app::App;
use crate::error::ToAppError;
use crate::world;

/// How many runs are looked at at once.
const PAGE: u32 = 200;

/// The largest file whose lines are counted, in bytes.
const COUNTED: usize = 8 * 1024 * 1024;

/// A file that a run changed, from before the run to how the run left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunFile {
    /// The file, relative to the working folder.
    pub path: String,
    /// The address of its bytes before; none when the run made it.
    pub before: Option<Hash>,
    /// The address of its bytes as the run left them; none when it removed it.
    pub after: Option<Hash>,
    /// Lines that came; none where they cannot be counted.
    pub added: Option<u32>,
    /// Lines that went; none where they cannot be counted.
    pub removed: Option<u32>,
    /// Whether it is no text.
    pub binary: bool,
    /// Whether the change is undone.
    pub undone: bool,
}

impl App {
    /// What an undo, or a redo, of a run would do now. Nothing is changed.
    pub async fn undo_preview(&self, run: &RunId, redo: bool) -> Result<UndoPreview, AppError> {
        let folder = self.folder_to_undo_in(run).await?;
        let preview = engine::undo::preview(self.place(run, &folder), redo).await;
        preview.map_err(ToAppError::to_app_error)
    }

    /// Undoes what a run changed in files, or brings it again.
    pub async fn undo(&self, run: &RunId, wish: &Wish) -> Result<UndoResult, AppError> {
        let folder = self.folder_to_undo_in(run).await?;
        self.refuse_busy_folder(run).await?;
        let _lock = self.lock_of_ended(run).await?;
        let done = engine::undo::undo(self.place(run, &folder), wish).await;
        done.map_err(ToAppError::to_app_error)
    }

    /// Finishes an undo that was broken off; an empty result when there is none.
    pub async fn finish_undo(&self, run: &RunId) -> Result<UndoResult, AppError> {
        let folder = self.folder_to_undo_in(run).await?;
        self.refuse_busy_folder(run).await?;
        let _lock = self.lock_of_ended(run).await?;
        let done = engine::undo::finish(self.place(run, &folder)).await;
        Ok(done.map_err(ToAppError::to_app_error)?.unwrap_or_default())
    }

    /// The files that a run changed, with how many lines came and went.
    pub async fn changed_files(&self, run: &RunId) -> Result<Vec<RunFile>, AppError> {
        let history = History::of(&*self.rooms.journal, run).await;
        let history = history.map_err(ToAppError::to_app_error)?;
        let mut files = Vec::with_capacity(history.files.len());
        for (path, touched) in history.files {
            let (Some(first), Some(last)) = (touched.changes.first(), touched.changes.last()) else {
                continue;
            };
            let (before, after) = (
                first.before.as_ref().map(|face| face.hash.clone()),
                last.after.as_ref().map(|face| face.hash.clone()),
            );
            let (old, new) = (
                self.bytes_at(before.as_ref()).await?,
                self.bytes_at(after.as_ref()).await?,
            );
            let sides = || old.iter().chain(&new);
            let lines = match (&old, &new) {
                (Some(old), Some(new)) if sides().all(|side| side.len() <= COUNTED) => merging::line_counts(old, new),
                _ => None,
            };
            files.push(RunFile {
                path,
                before,
                after,
                added: lines.map(|(added, _)| added),
                removed: lines.map(|(_, removed)| removed),
                binary: sides().any(|side| side.contains(&0)),
                undone: touched.undone,
            });
        }
        Ok(files)
    }

    /// Refuses to let a run go on where it stood when what it had changed there is undone: its steps would not find what
    /// those before them left.
    pub(crate) async fn refuse_undone(&self, run: &RunId) -> Result<(), AppError> {
        let history = History::of(&*self.rooms.journal, run).await;
        let history = history.map_err(ToAppError::to_app_error)?;
        if !history.files.values().any(|touched| touched.undone) {
            return Ok(());
        }
        Err(AppError::new(
            "undone",
            "what this run changed in files is undone, so it cannot go on where it stood",
        )
        .hint("Bring its changes back first, or run the task again."))
    }

    /// The bytes at an address; those of no file are none at all. Older journals do not have what a run left.
    async fn bytes_at(&self, hash: Option<&Hash>) -> Result<Option<Vec<u8>>, AppError> {
        match hash {
            None => Ok(Some(Vec::new())),
            Some(hash) => self
                .rooms
                .journal
                .artifact(hash)
                .await
                .map_err(ToAppError::to_app_error),
        }
    }

    fn place<'a>(&'a self, run: &'a RunId, folder: &'a Folder) -> Place<'a> {
        Place {
            run,
            journal: &*self.rooms.journal,
            files: folder,
            clock: &*self.rooms.clock,
        }
    }

    /// The folder of a run that is at its end and happened here.
    async fn folder_to_undo_in(&self, run: &RunId) -> Result<Folder, AppError> {
        self.refuse_imported(run).await?;
        let summary = self.ended(run).await?;
        let folder = world::folder(&summary.folder).await;
        folder.map_err(|error| {
            let error = error.to_app_error();
            match error.code.as_str() {
                "folder_missing" => {
                    error.hint("Put the folder back where it was. What the run changed is undone in it.")
                }
                _ => error,
            }
        })
    }

    /// The run's lock. Before it was held somebody may have let the run go on.
    async fn lock_of_ended(&self, run: &RunId) -> Result<RunLock, AppError> {
        let lock = self.lock(run).await?;
        self.ended(run).await?;
        Ok(lock)
    }

    async fn ended(&self, run: &RunId) -> Result<RunSummary, AppError> {
        let summary = self.summary(run).await?;
        match summary.status.is_end() {
            true => Ok(summary),
            false => Err(AppError::new("not_at_end", "this run is not at its end")
                .hint("Stop it first, or wait until it has ended; then what it changed can be undone.")),
        }
    }

    /// Refuses while another run is at work in the same folder, or in one around or inside it.
    async fn refuse_busy_folder(&self, run: &RunId) -> Result<(), AppError> {
        let here = self.summary(run).await?.folder;
        let filter = RunFilter {
            status: Some(vec![RunStatus::Running]),
            ..RunFilter::default()
        };
        let mut cursor: Option<String> = None;
        loop {
            let page = self.rooms.store.runs().list(&filter, cursor.as_deref(), PAGE).await;
            let page = page.map_err(ToAppError::to_app_error)?;
            let busy = page
                .runs
                .iter()
                .find(|other| is_at_work_in(other, &here) && other.run_id != *run);
            if let Some(other) = busy {
                let message = format!("the run \"{}\" is at work in this folder", other.title);
                return Err(AppError::new("folder_busy", message)
                    .hint("Wait until it has ended, or stop it; then undo.")
                    .retryable());
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }
}

fn is_at_work_in(other: &RunSummary, folder: &str) -> bool {
    let (there, here) = (Path::new(&other.folder), Path::new(folder));
    other.driven && (there.starts_with(here) || here.starts_with(there))
}

impl ToAppError for UndoError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        match self {
            Self::Journal(error) => error.to_app_error(),
            Self::Files(error) => error.to_app_error(),
            Self::NotOfRun(_) => {
                AppError::new("not_of_run", message).hint("Look at the list of files that it changed.")
            }
            Self::ChangedMeanwhile => AppError::new("changed_meanwhile", message)
                .hint("Nothing was undone. Look again at what would be undone.")
                .retryable(),
            Self::Edited(_) => AppError::new("edited_since", message)
                .hint("Nothing was undone. Say for each of them whether it stays as it is or is restored anyway."),
            Self::Overlapping(_) => AppError::new("changes_overlap", message)
                .hint("Nothing was undone. Keep the file as it is, or restore it anyway."),
            Self::Nothing(_) => {
                AppError::new("nothing_to_undo", message).hint("The files are as they would be afterwards already.")
            }
        }
    }
}
