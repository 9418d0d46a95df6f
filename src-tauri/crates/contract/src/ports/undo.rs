//! What an undo may do with the working folder: look at a name without following it, and put something else there only
//! while it is still what was looked at.

use async_trait::async_trait;

use crate::ports::files::FilesError;
use crate::undo::FileFace;

/// What has a name, with its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is.
    pub face: FileFace,
    /// The bytes of the file; of a link, the path that it leads to.
    pub bytes: Vec<u8>,
}

/// What is under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A file or a link.
    Here(FileFace),
    /// A folder, a device, a socket: nothing that an undo touches.
    Other,
}

/// The working folder, as an undo handles it. No link is followed at the end of a path, and nothing outside the folder
/// is reachable.
#[async_trait]
pub trait UndoFiles: Send + Sync {
    /// What is there.
    async fn look(&self, path: &str) -> Result<Found, FilesError>;

    /// What is there with its bytes, refused above `limit` bytes; none when there is no file and no link.
    async fn keep(&self, path: &str, limit: u64) -> Result<Option<Kept>, FilesError>;

    /// Puts `new` in the place of what is there, or removes it when there is no `new`, as long as what is there
    /// is `expected`, by its bytes and by whether it is a link (none: nothing is there). As a whole or not at all: a temporary file in the same
    /// folder, synced, renamed, the folder synced; parents are made; a link is replaced and never written through. A
    /// file keeps the permissions of the one in whose place it comes, unless `new` says others. False when something
    /// else is there: nothing is changed then.
    async fn exchange(&self, path: &str, expected: Option<&FileFace>, new: Option<&Kept>) -> Result<bool, FilesError>;

    /// Removes a folder when nothing is in it; false when it stays, or is not there.
    async fn remove_empty_folder(&self, path: &str) -> Result<bool, FilesError>;
}
