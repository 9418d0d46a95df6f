//! Why the store could not be opened, read or written, in sentences for people.

use std::io;
use std::path::{Path, PathBuf};

use contract::ports::journal::JournalError;

/// What went wrong. The message says what happened; [`StoreError::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder, or a file in it, cannot be used.
    #[error("the data folder cannot be used: {path}: {source}")]
    Folder {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The system forbids it.
    #[error("there is no permission to use {path}")]
    Denied {
        /// What is forbidden.
        path: PathBuf,
    },
    /// There is no room left.
    #[error("the disk is full, so the history could not be written")]
    DiskFull,
    /// Another program kept the database to itself for too long.
    #[error("the history is busy: another program has kept it locked for too long")]
    Locked,
    /// The database has to be brought up to date, and another window of an older version uses it.
    #[error("the history has to be brought up to date, but another Tepa still has it open")]
    InUse,
    /// A newer version of the app wrote it.
    #[error("the history was written by a newer version of Tepa (its format is {found}, this version knows {known})")]
    Newer {
        /// The newest migration in the database.
        found: i64,
        /// The newest migration in this program.
        known: i64,
    },
    /// The bytes on disk are not what was written.
    #[error("the history is damaged: {0}")]
    Corrupted(String),
    /// Bringing the database up to date failed.
    #[error("the history could not be brought up to date: {reason}; {}", outcome(*restored, backup))]
    Migration {
        /// What failed.
        reason: String,
        /// Whether the database is as it was before.
        restored: bool,
        /// Where the copy from before is.
        backup: Option<PathBuf>,
    },
    /// The program was built with an SQLite that can damage databases.
    #[error("this program carries SQLite {found}, which can damage databases; it needs {needed} or newer")]
    OldSqlite {
        /// The version it carries.
        found: String,
        /// The oldest version that is safe.
        needed: &'static str,
    },
    /// The text that continues a list is not one that the store gave out.
    #[error("the list cannot be continued from \"{0}\"")]
    Cursor(String),
    /// What should be changed is not there.
    #[error("there is no {0}")]
    NotFound(String),
    /// The store was closed meanwhile.
    #[error("the history was closed")]
    Closed,
    /// Anything else that the database said.
    #[error("the history could not be read or written: {0}")]
    Storage(String),
}

fn outcome(restored: bool, backup: &Option<PathBuf>) -> String {
    match (restored, backup) {
        (true, _) => "nothing was lost, it is as it was before".to_owned(),
        (false, Some(path)) => format!("the copy from before is {}", path.display()),
        (false, None) => "there was nothing in it yet".to_owned(),
    }
}

impl StoreError {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "check that the folder exists and is on a disk that can be written",
            Self::Denied { .. } => "give your user account permission to read and write there, then start again",
            Self::DiskFull => "make some room on the disk, then try again",
            Self::Locked => "close other programs that have the history open, such as a backup, then try again",
            Self::InUse => "close every other Tepa window and terminal, then start again",
            Self::Newer { .. } => "install the newest version of Tepa; nothing was changed",
            Self::Corrupted(_) => {
                "nothing was overwritten: move the file away to start anew, or put a copy from \"backups\" in its place"
            }
            Self::Migration { .. } => "keep using the version you had, and tell us what it said",
            Self::OldSqlite { .. } => "install Tepa from its official package",
            Self::Cursor(_) => "load the list from its beginning",
            Self::NotFound(_) => "load the list again: it may have been removed meanwhile",
            Self::Closed => "start Tepa again",
            Self::Storage(_) => "try again; if it happens again, start Tepa anew",
        }
    }

    /// Stable, snake_case: what programs decide by.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "store_folder",
            Self::Denied { .. } => "store_denied",
            Self::DiskFull => "store_disk_full",
            Self::Locked => "store_locked",
            Self::InUse => "store_in_use",
            Self::Newer { .. } => "store_newer",
            Self::Corrupted(_) => "store_corrupted",
            Self::Migration { .. } => "store_migration",
            Self::OldSqlite { .. } => "store_old_sqlite",
            Self::Cursor(_) => "store_cursor",
            Self::NotFound(_) => "not_found",
            Self::Closed => "store_closed",
            Self::Storage(_) => "store_failed",
        }
    }

    /// Whether the same request may succeed later without anything being repaired.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::DiskFull | Self::Locked | Self::InUse | Self::Storage(_))
    }

    /// What an operation on a file or folder said.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Self::Denied { path: path.to_owned() }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::Folder {
                path: path.to_owned(),
                source,
            },
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let code = error
            .as_database_error()
            .and_then(|refused| refused.code()?.parse().ok());
        if let Some(known) = code.and_then(|code| of_code(code, &error.to_string())) {
            return known;
        }
        match error {
            sqlx::Error::PoolClosed => Self::Closed,
            sqlx::Error::Io(source) => Self::io(Path::new(crate::open::DATABASE), source),
            sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => Self::Corrupted(error.to_string()),
            other => Self::Storage(other.to_string()),
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let code = error.sqlite_error().map(|refused| refused.extended_code);
        if let Some(known) = code.and_then(|code| of_code(code, &error.to_string())) {
            return known;
        }
        match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..) => Self::Corrupted(error.to_string()),
            other => Self::Storage(other.to_string()),
        }
    }
}

/// What a result code of SQLite means, where it means something of its own. Its lower byte says which kind of trouble
/// it is.
fn of_code(code: i32, message: &str) -> Option<StoreError> {
    match code & 0xff {
        5 | 6 => Some(StoreError::Locked),
        3 | 8 | 23 => Some(StoreError::Denied {
            path: PathBuf::from(crate::open::DATABASE),
        }),
        11 | 26 => Some(StoreError::Corrupted(message.to_owned())),
        13 => Some(StoreError::DiskFull),
        _ => None,
    }
}

impl From<StoreError> for JournalError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Corrupted(what) => Self::Corrupted(what),
            other => Self::Storage(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(kind: io::ErrorKind, expected: &str) {
        let error = StoreError::io(Path::new("folder"), kind.into());
        assert_eq!(error.code(), expected);
    }

    #[test]
    fn names_the_trouble_with_a_folder() {
        check(io::ErrorKind::PermissionDenied, "store_denied");
        check(io::ErrorKind::ReadOnlyFilesystem, "store_denied");
        check(io::ErrorKind::StorageFull, "store_disk_full");
        check(io::ErrorKind::NotADirectory, "store_folder");
    }
}
