//! What a run changed in files, and taking it back.

use contract::undo::{ChosenFile, UndoPreview, UndoResult};
use contract::{AppError, Hash, RunId};
use engine::undo::Wish;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::commands::runs::OneRun;
use crate::undoing::RunFile;

/// The files that a run changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunFiles {
    /// In the order in which it did.
    pub files: Vec<RunFile>,
}

/// An undo to look at before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewUndo {
    /// Which run.
    pub run_id: RunId,
    /// Whether what was undone would be brought again.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub redo: bool,
}

/// An undo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoRun {
    /// Which run.
    pub run_id: RunId,
    /// Whether what was undone is brought again.
    #[serde(default)]
    #[ts(optional, as = "Option<bool>")]
    pub redo: bool,
    /// Which files; all when empty.
    pub files: Vec<ChosenFile>,
    /// The stamp of the preview from which they were chosen: refused when a file has changed since.
    pub stamp: Hash,
}

/// The files that a run changed.
pub async fn files(app: &App, request: OneRun) -> Result<RunFiles, AppError> {
    Ok(RunFiles {
        files: app.changed_files(&request.run_id).await?,
    })
}

/// What an undo or a redo would do.
pub async fn preview(app: &App, request: PreviewUndo) -> Result<UndoPreview, AppError> {
    app.undo_preview(&request.run_id, request.redo).await
}

/// Undoes what a run changed in files, or brings it again.
pub async fn undo(app: &App, request: UndoRun) -> Result<UndoResult, AppError> {
    let wish = Wish {
        redo: request.redo,
        files: request.files,
        edited: None,
        stamp: Some(request.stamp),
    };
    app.undo(&request.run_id, &wish).await
}

/// Finishes an undo that was broken off.
pub async fn finish(app: &App, request: OneRun) -> Result<UndoResult, AppError> {
    app.finish_undo(&request.run_id).await
}
