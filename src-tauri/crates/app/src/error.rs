//! What every room's errors are for a person: a code, a sentence, and what to do.

use contract::AppError;
use contract::error::Problem;
use contract::ports::files::FilesError;
use contract::ports::journal::JournalError;
use contract::secret::KeyStoreError;
use store::StoreError;

use crate::flow_files::FlowFileError;
use crate::task_files::{self, TaskFileError};

/// An error of a room, in a person's words.
pub(crate) trait ToAppError {
    /// The same failure as the window and the terminal see it.
    fn to_app_error(self) -> AppError;
}

impl ToAppError for StoreError {
    fn to_app_error(self) -> AppError {
        let error = AppError::new(self.code(), self.to_string()).hint(sentence(self.hint()));
        if self.is_retryable() { error.retryable() } else { error }
    }
}

impl ToAppError for JournalError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        match self {
            Self::Conflict => run_busy(),
            Self::NotFound(_) => run_not_found(),
            Self::Corrupted(_) => AppError::new("store_corrupted", message)
                .hint("Nothing was overwritten. Other runs may still be readable; a copy from a backup may help."),
            Self::Storage(_) => AppError::new("store_failed", message)
                .hint("What was written before is safe. Check that the disk has room, then continue the run.")
                .retryable(),
        }
    }
}

impl ToAppError for FilesError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        let (code, hint) = match self {
            Self::NotFound(_) => ("file_not_found", "It may have been renamed or moved."),
            Self::FolderMissing(_) => (
                "folder_missing",
                "Put the folder back where it was, or choose another one and start again.",
            ),
            Self::Outside(_) => ("file_outside", "Only files inside the working folder can be shown."),
            Self::Denied(_) => (
                "folder_denied",
                "Give your user account permission to read and write there, or choose another folder.",
            ),
            Self::WrongKind { expected: "folder", .. } => ("not_a_folder", "Choose a folder."),
            Self::WrongKind { .. } => ("not_a_file", "Choose a file."),
            Self::Exists(_) => ("file_exists", "Choose another name."),
            Self::TooLarge { .. } => ("file_too_large", "Open it in another program."),
            Self::Io { .. } => ("file_failed", "Try again; if it happens again, check the disk."),
        };
        AppError::new(code, message).hint(hint)
    }
}

impl ToAppError for TaskFileError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        let (code, hint) = match self {
            Self::Unreadable { .. } => ("task_unreadable", "Check the file's name, and that you may open it."),
            Self::Extension { .. } => (
                "task_extension",
                "Choose a .yaml, .yml or .json file, or rename this one.",
            ),
            Self::Syntax { reason, .. } => ("task_syntax", task_files::hint(&reason)),
            Self::NotAnObject { .. } => (
                "task_not_object",
                "Begin with three lines: `goal:`, `context:` and `expectedOutput:`.",
            ),
        };
        AppError::new(code, message).hint(hint)
    }
}

impl ToAppError for FlowFileError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        let (code, hint) = match self {
            Self::Unreadable { .. } => ("flow_unreadable", "Check the file's name, and that you may open it."),
            Self::Extension { .. } => (
                "flow_extension",
                "Choose a .yaml, .yml or .json file, or rename this one.",
            ),
            Self::Syntax { reason, .. } => ("flow_syntax", task_files::hint(&reason)),
            Self::NotAnObject { .. } => (
                "flow_not_object",
                "Begin with `id:` on one line and `steps:` on another.",
            ),
            Self::Unwritable { .. } => ("flow_unwritable", "Choose another name or folder."),
        };
        AppError::new(code, message).hint(hint)
    }
}

impl ToAppError for KeyStoreError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        match self {
            Self::Unavailable(_) => AppError::new("keychain_unavailable", message).hint(
                "Start your system's keychain (on Linux a Secret Service such as GNOME Keyring), then try again.",
            ),
            Self::Locked(_) => AppError::new("keychain_locked", message)
                .hint("Unlock your system's keychain, then try again.")
                .retryable(),
            Self::Failed(_) => AppError::new("keychain_failed", message).hint("Try again.").retryable(),
        }
    }
}

/// Why a text is no task, in a person's words.
pub fn explain(error: TaskFileError) -> AppError {
    error.to_app_error()
}

/// Why a file is no flow, in a person's words.
pub fn explain_flow(error: FlowFileError) -> AppError {
    error.to_app_error()
}

/// A task with problems that must be put right.
pub(crate) fn task_invalid(problems: Vec<Problem>) -> AppError {
    let wrong = problems.iter().filter(|problem| !problem.warning).count();
    let message = match wrong {
        1 => "one thing in the task has to be put right first".to_owned(),
        _ => format!("{wrong} things in the task have to be put right first"),
    };
    AppError {
        problems,
        ..AppError::new("task_invalid", message).hint("Each one says where it is and what would be right.")
    }
}

/// A flow that cannot be run as it was written.
pub(crate) fn flow_invalid(problems: Vec<Problem>) -> AppError {
    let wrong = problems.iter().filter(|problem| !problem.warning).count();
    let message = match wrong {
        1 => "one thing in the flow has to be put right first".to_owned(),
        _ => format!("{wrong} things in the flow have to be put right first"),
    };
    AppError {
        problems,
        ..AppError::new("flow_invalid", message).hint("Each one says where it is and what would be right.")
    }
}

/// There is no such run.
pub(crate) fn run_not_found() -> AppError {
    AppError::new("not_found", "there is no such run").hint("Load the list again: it may have been removed meanwhile.")
}

/// Somebody else drives the run.
pub(crate) fn run_busy() -> AppError {
    AppError::new("run_busy", "another Tepa is at work on this run")
        .hint("Look for another window or terminal that runs it, and answer or stop it there.")
}

/// The run is at its end.
pub(crate) fn run_ended() -> AppError {
    AppError::new("run_ended", "this run is at its end").hint("Run the task again to start a new one.")
}

/// Something that should not happen happened.
pub(crate) fn internal(message: impl Into<String>) -> AppError {
    AppError::new("internal", message).hint("Nothing was lost. Try again; the log in the data folder says more.")
}

/// A work on another thread that ended in a panic.
pub(crate) fn thread_ended(_: tokio::task::JoinError) -> AppError {
    internal("a part of the app ended unexpectedly")
}

/// A person reads it alone, so it begins with a capital letter and ends with a full stop. An address at its beginning
/// stays as it is.
pub(crate) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let Some(first) = characters.next() else {
        return String::new();
    };
    let text: String = match message.starts_with("http://") || message.starts_with("https://") {
        true => message.to_owned(),
        false => first.to_uppercase().chain(characters).collect(),
    };
    if text.ends_with(['.', '!', '?']) {
        text
    } else {
        format!("{text}.")
    }
}
