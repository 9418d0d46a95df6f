//! Undoing what a run changed in files (tools page, "Undo"): what is recorded of it, what a person is shown before, and
//! what they choose.
//!
//! Deliberately not here: reading files and the journal, and deciding what a file's undo is; that is the engine's.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::hash::Hash;

/// What has a name in the working folder: a file, or a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileFace {
    /// The address of its bytes; of a link, of the path that it leads to.
    pub hash: Hash,
    /// Its permissions as the system counts them; none where they are not known, or the system has no such numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub mode: Option<u32>,
    /// Whether it is a link.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub link: bool,
}

impl FileFace {
    /// A file with these bytes, whatever its permissions.
    pub fn of(hash: Hash) -> Self {
        Self {
            hash,
            mode: None,
            link: false,
        }
    }
}

/// A file that a command changed, as a comparison of the folder before and after found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileDelta {
    /// The file, relative to the working folder.
    pub path: String,
    /// What was there; none when nothing was.
    pub before: Option<FileFace>,
    /// What is there now; none when nothing is.
    pub after: Option<FileFace>,
    /// Whether the bytes from before were kept, so that the change can be undone.
    pub kept: bool,
}

/// One file of an undo or of its taking back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileRestore {
    /// The file, relative to the working folder.
    pub path: String,
    /// What is there; none when nothing is.
    pub from: Option<FileFace>,
    /// What comes in its place; none when the file goes.
    pub to: Option<FileFace>,
    /// Whether what comes is put together from what is there and what was before the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[ts(optional, as = "Option<bool>")]
    pub merged: bool,
}

/// A file that was to be restored and was not; it is as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct NotRestored {
    /// The file.
    pub path: String,
    /// Why, in words.
    pub why: String,
}

/// How a file stands before an undo or a redo.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoStanding {
    /// It is as the run (or the undo) left it, and gets back what it held.
    Restores,
    /// It is as the run made it (or as the undo brought it back), and goes.
    Deletes,
    /// It is already as it would be: nothing is done.
    Unchanged,
    /// Somebody changed it since, and a person chooses.
    Edited,
    /// Somebody removed it since, and a person chooses.
    Missing,
    /// It was undone before (or, for a redo, was never undone): nothing is done.
    Done,
    /// What it held was not kept, so it cannot be brought back.
    NotKept,
    /// There is something else under its name now: a folder, or a device.
    Blocked,
}

/// What a person wants with a file that somebody edited or removed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum UndoChoice {
    /// It stays as it is now.
    Keep,
    /// It gets back what it held, whatever it holds now; what it holds now is kept for a redo.
    Restore,
    /// Both: what somebody changed since stays, what the run changed goes. Only where the two do not overlap.
    Merge,
}

/// Whether what a person changed since and what is undone can both be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Merging {
    /// They touch different lines.
    Clean,
    /// They touch the same lines.
    Overlaps,
    /// It is no text, too long to be compared, or was changed by others in the middle of the run.
    Impossible,
}

/// A file in the preview of an undo or a redo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoFile {
    /// The file, relative to the working folder.
    pub path: String,
    /// How it stands.
    pub standing: UndoStanding,
    /// The address of what it gets; none when it goes.
    pub to: Option<Hash>,
    /// The address of what the run (or the undo) left; none when it removed it.
    pub left: Option<Hash>,
    /// The address of what is there now; none when nothing is.
    pub now: Option<Hash>,
    /// Whether a link is there now.
    pub is_link: bool,
    /// For one that was edited: whether both can be had; none for others.
    pub merging: Option<Merging>,
}

/// What an undo or a redo would do, file by file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoPreview {
    /// Whether what was undone is brought again.
    pub redo: bool,
    /// The files that the run changed, in the order in which it did.
    pub files: Vec<UndoFile>,
    /// Folders that the run made; each goes with an undo when nothing is in it any more.
    pub folders: Vec<String>,
    /// The address of what was seen: an undo that names it is refused when a file has changed since.
    pub stamp: Hash,
    /// Whether an earlier undo or redo was broken off; the next one finishes it first.
    pub unfinished: bool,
}

/// A file that a person picked for an undo or a redo.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ChosenFile {
    /// The file, as the preview names it.
    pub path: String,
    /// What to do when somebody edited or removed it since; absent, the undo is refused then.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub choice: Option<UndoChoice>,
}

/// What was undone or brought again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct UndoResult {
    /// Whether what was undone was brought again.
    pub redo: bool,
    /// Files that got back what they held.
    pub restored: Vec<String>,
    /// Files that went.
    pub deleted: Vec<String>,
    /// Files where both changes were put together.
    pub merged: Vec<String>,
    /// Files that stay as they are because a person wants that, or because there was nothing to do.
    pub kept: Vec<String>,
    /// Files that could not be restored.
    pub left: Vec<NotRestored>,
    /// Folders that the run made and that went with their last file.
    pub folders: Vec<String>,
}
