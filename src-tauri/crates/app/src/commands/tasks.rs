//! Tasks as text: check, open, save.

use contract::AppError;
use contract::error::Problem;
use contract::task::Task;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A task's text to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckTask {
    /// YAML or JSON.
    pub source: String,
}

/// What a task's text says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckedTask {
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings. Text that is not YAML at all is one problem with its
    /// line and column.
    pub problems: Vec<Problem>,
}

/// A file that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenTask {
    /// Absolute.
    pub path: String,
}

/// A task's file as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenedTask {
    /// The text of the file, unchanged.
    pub source: String,
    /// Where it is, absolute.
    pub path: String,
    /// The folder that a run of it would work in: the file's own, or the one inside it that the task asks for.
    pub folder: String,
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings.
    pub problems: Vec<Problem>,
}

/// A task's text to write to a file that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveTask {
    /// Absolute, ending in `.yaml`, `.yml` or `.json`.
    pub path: String,
    /// The text, written as it is.
    pub source: String,
}
