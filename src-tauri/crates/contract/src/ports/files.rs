//! The working folder. Paths are relative to it, or absolute inside it; nothing outside is reachable.

use std::sync::Arc;

use async_trait::async_trait;

use crate::access::Granted;
use crate::hash::Hash;
use crate::picture::{Picture, PictureLimits};
use crate::ports::documents::{Documents, NoDocuments};

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A link that leaves the folder, a device, a socket.
    Other,
}

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Without its folder.
    pub name: String,
    /// What it is.
    pub kind: FileKind,
    /// Bytes, for a file.
    pub size: u64,
}

/// Why a file could not be reached. The messages are for people.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FilesError {
    /// Nothing there.
    #[error("there is no file or folder \"{0}\" in the working folder")]
    NotFound(String),
    /// The working folder itself is not there, from the start or not any more.
    #[error("the working folder \"{0}\" is not there; it may have been moved or deleted")]
    FolderMissing(String),
    /// Outside the working folder.
    #[error("\"{0}\" is outside the working folder")]
    Outside(String),
    /// The system forbids it.
    #[error("\"{0}\" cannot be opened: permission denied")]
    Denied(String),
    /// A folder where a file is needed, or the other way round.
    #[error("\"{path}\" is not a {expected}")]
    WrongKind {
        /// The path.
        path: String,
        /// `file` or `folder`.
        expected: &'static str,
    },
    /// Something is there already.
    #[error("\"{0}\" exists already")]
    Exists(String),
    /// Too large to be read at once.
    #[error("\"{path}\" has {size} bytes; at most {limit} can be read at once")]
    TooLarge {
        /// The path.
        path: String,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// Anything else.
    #[error("\"{path}\": {message}")]
    Io {
        /// The path.
        path: String,
        /// What the system said.
        message: String,
    },
}

/// What the tools, the checks and the judge may do with the working folder.
#[async_trait]
pub trait Files: Send + Sync {
    /// The folder itself, absolute, to show.
    fn root(&self) -> &str;

    /// The same folder, and beside it what else is granted, under absolute paths. None when nothing else is.
    fn reaching(&self, _granted: &Granted) -> Option<Arc<dyn Files>> {
        None
    }

    /// The path relative to the folder, with `/`, without `.` or `..`.
    fn relative(&self, path: &str) -> Result<String, FilesError>;

    /// What is there: kind and size; none when nothing is.
    async fn stat(&self, path: &str) -> Result<Option<(FileKind, u64)>, FilesError>;

    /// A whole file, refused above `limit` bytes.
    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FilesError>;

    /// Part of a file: at most `length` bytes from `offset`.
    async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, FilesError>;

    /// The words that these bytes are, in whatever encoding they seem to be; none when they are no text.
    fn text(&self, bytes: &[u8]) -> Option<String>;

    /// What reads the documents among these files.
    fn documents(&self) -> Arc<dyn Documents> {
        Arc::new(NoDocuments)
    }

    /// A folder's entries, sorted by name.
    async fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError>;

    /// Replaces or makes a file as a whole: temporary file, synced, renamed; parents are made.
    async fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FilesError>;

    /// The address of a file's bytes; none when there is no file.
    async fn hash(&self, path: &str) -> Result<Option<Hash>, FilesError>;

    /// The folder as it is now, to be compared with another picture by [`changes`](crate::picture::changes). Of files
    /// that are as they were in the `earlier` picture nothing is read again.
    async fn picture(&self, limits: PictureLimits, earlier: Option<&Picture>) -> Result<Picture, FilesError>;
}
