//! Taking back what a run changed in files, and bringing it again (tools page, "Undo").
//!
//! [`history`] folds the run's journal into what happened to each file, [`standing`] says how a file stands towards that
//! now, [`preview`] shows it, [`act`] does it: intend, act, record, as effects are done. [`merging`] puts two changes of
//! a text together.
//!
//! An undo is nothing that the run does: its end stays what it was, so that no `RunReopened` precedes these entries, and
//! a driver that goes on with the run later passes them by. Deliberately not here: who holds the run's lock, and whether
//! another run is at work in the folder; that is the app's.

pub mod act;
pub mod history;
pub mod merging;
pub mod preview;
pub mod standing;

#[cfg(test)]
mod tests;

use contract::ids::RunId;
use contract::ports::clock::Clock;
use contract::ports::files::FilesError;
use contract::ports::journal::{Journal, JournalError};
use contract::ports::undo::UndoFiles;

pub use act::{Wish, finish, undo};
pub use preview::preview;

/// The largest file that is brought back or overwritten, in bytes: as large as tools may change.
pub const MOST_BYTES: u64 = 50 * 1024 * 1024;

/// A run with its folder. The caller holds the run's lock, and the run is at its end.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// Which run.
    pub run: &'a RunId,
    /// Where its history is.
    pub journal: &'a dyn Journal,
    /// Its working folder.
    pub files: &'a dyn UndoFiles,
    /// What time it is.
    pub clock: &'a dyn Clock,
}

/// Why nothing was undone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UndoError {
    /// The history could not be written or read. What was recorded as intended is finished the next time.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The folder as a whole cannot be reached.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// A file that the run did not change.
    #[error("the run did not change a file \"{0}\"")]
    NotOfRun(String),
    /// A file is not what it was when a person chose.
    #[error("files were changed while you were looking")]
    ChangedMeanwhile,
    /// Somebody edited or removed these files since, and nobody said what to do with them.
    #[error("{} since the run: {}", edited(.0), .0.join(", "))]
    Edited(Vec<String>),
    /// Both changes were to be put together, and cannot be.
    #[error("the edits in {} cannot be put together with this: they touch the same lines, or it is no text", .0.join(", "))]
    Overlapping(Vec<String>),
    /// Nothing to do.
    #[error("there is nothing to {}", if *.0 { "bring back" } else { "undo" })]
    Nothing(bool),
}

fn edited(paths: &[String]) -> &'static str {
    match paths.len() {
        1 => "a file was edited or removed",
        _ => "files were edited or removed",
    }
}
