//! A run as one file: `.tepa`, to be kept or to be looked at on another machine.
//!
//! It is a zip of `manifest.json` (what it is, and the address of everything else), `journal.jsonl` (every event, a line
//! each), `artifacts/<digest>` (what the events name) and `checksums.txt` (as `sha256sum -c` reads it). `pack` writes
//! one, `unpack` reads one and believes nothing: every address is computed again, sizes are bounded before anything is
//! unpacked, and a version that is not known is refused. Keys are in none of these.

mod bounds;
mod pack;
#[cfg(test)]
mod tests;
mod unpack;

use std::path::{Path, PathBuf};

use contract::ids::RunId;
use contract::ports::journal::{Durability, JournalError, NewEntry};
use contract::{AppError, Hash};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) use self::pack::{file_name, write_new};
pub(crate) use self::unpack::ArchiveError;
use crate::app::App;
use crate::error::{ToAppError, thread_ended};

/// What the file says it is.
const FORMAT: &str = "tepa-run";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
const MANIFEST: &str = "manifest.json";
const JOURNAL: &str = "journal.jsonl";
const CHECKSUMS: &str = "checksums.txt";

/// What is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Manifest {
    format: String,
    version: u32,
    run_id: RunId,
    title: String,
    app_version: String,
    exported_at_ms: i64,
    events: u64,
    /// The address of the journal's bytes.
    journal: Hash,
    /// The address of all that the run came to.
    final_hash: Hash,
    artifacts: Vec<Listed>,
}

/// An artifact that is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    hash: Hash,
    kind: String,
    bytes: u64,
}

/// A run that was written to a file or read from one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Archived {
    /// Which run.
    pub run_id: RunId,
    /// What it is called.
    pub title: String,
    /// The file.
    pub file: PathBuf,
    /// How many events it has.
    pub events: u64,
    /// How many artifacts.
    pub artifacts: u64,
    /// The address of all that the run came to; the same on both machines.
    pub final_hash: Hash,
}

impl App {
    /// Writes a run that is at its end to a file. Without a name the file is called as the run is, in `folder`. A file
    /// that is there already stays as it is.
    pub async fn export(&self, run: &RunId, file: Option<&Path>, folder: &Path) -> Result<Archived, AppError> {
        let summary = self.summary(run).await?;
        if !summary.status.is_end() {
            return Err(AppError::new(
                "run_open",
                "the run is not at its end yet, so there is no whole of it to export",
            )
            .hint("Continue it to its end, or stop it."));
        }
        let file = match file {
            Some(file) => file.to_owned(),
            None => folder.join(file_name(&summary.title, run, "tepa")),
        };
        let content = self.content_of(run).await?;
        let now = self.rooms.clock.now_ms();
        let written = tokio::task::spawn_blocking(move || pack::write(content, &file, now));
        written.await.map_err(thread_ended)?.map_err(ToAppError::to_app_error)
    }

    /// Takes a run from a file into the history, to be looked at. It keeps its id, and is not continued here.
    pub async fn import(&self, file: &Path) -> Result<Archived, AppError> {
        let file = file.to_owned();
        let read = tokio::task::spawn_blocking(move || unpack::read(&file));
        let (archived, content) = read.await.map_err(thread_ended)?.map_err(ToAppError::to_app_error)?;
        let run = archived.run_id.clone();
        let known = self
            .rooms
            .store
            .runs()
            .get(&run)
            .await
            .map_err(ToAppError::to_app_error)?;
        if known.is_some() {
            return Err(here_already(&run));
        }
        // First the mark: a run without one could be continued on a machine that is not its own.
        let mark = self.rooms.store.settings().set(&mark_of(&run), &json!(true)).await;
        mark.map_err(ToAppError::to_app_error)?;
        let entries = content
            .events
            .into_iter()
            .map(|record| NewEntry::new(record.key, record.at_ms, record.event));
        let appended = self
            .rooms
            .journal
            .append(&run, 1, entries.collect(), content.artifacts, Durability::Barrier);
        match appended.await {
            Ok(()) => Ok(archived),
            Err(JournalError::Conflict) => Err(here_already(&run)),
            Err(error) => Err(error.to_app_error()),
        }
    }

    /// Marks a run as one that only repeats another.
    pub(crate) async fn mark_as_replay(&self, run: &RunId) -> Result<(), AppError> {
        let marked = self.rooms.store.settings().set(&mark_of(run), &json!(REPLAY)).await;
        marked.map_err(ToAppError::to_app_error)
    }

    /// Why a run may only be looked at; none when it is this machine's own.
    pub(crate) async fn mark_of(&self, run: &RunId) -> Result<Option<Mark>, AppError> {
        let mark = self.rooms.store.settings().get(&mark_of(run)).await;
        let mark = mark.map_err(ToAppError::to_app_error)?;
        Ok(mark.map(|mark| match mark == json!(REPLAY) {
            true => Mark::Replay,
            false => Mark::Imported,
        }))
    }

    /// Refuses what would change a run that came from another machine, or one that repeats another.
    pub(crate) async fn refuse_imported(&self, run: &RunId) -> Result<(), AppError> {
        match self.mark_of(run).await? {
            None => Ok(()),
            Some(Mark::Replay) => Err(AppError::new(
                "run_replayed",
                "this run is a replay of another one: it can be looked at and compared, and not continued",
            )
            .hint("Continue the run that it repeats.")),
            Some(Mark::Imported) => Err(imported()),
        }
    }
}

/// Why a run may only be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It came from another machine.
    Imported,
    /// It repeats another run.
    Replay,
}

/// The run was made elsewhere: what it may do was chosen there.
pub(crate) fn imported() -> AppError {
    AppError::new(
        "run_imported",
        "this run was imported from a file: it can be looked at and compared, and not continued",
    )
    .hint("To do the same here, choose a folder for it, or make a new task with its words.")
}

/// The mark of a replay.
const REPLAY: &str = "replay";

fn mark_of(run: &RunId) -> String {
    format!("imported/{run}")
}

fn here_already(run: &RunId) -> AppError {
    AppError::new("run_exists", format!("the run {run} is in the history already"))
        .hint(format!("Look for it among the runs; in a terminal: tepa show {run}"))
}
