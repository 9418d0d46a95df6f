//! The working folder of a run whose folder is gone: everything in it is missing, and the run can still be stopped.

use async_trait::async_trait;
use contract::Hash;
use contract::picture::{Picture, PictureLimits};
use contract::ports::files::{DirEntry, FileKind, Files, FilesError};

/// A folder that is not there.
pub(crate) struct MissingFolder(pub(crate) String);

impl MissingFolder {
    fn missing<T>(&self) -> Result<T, FilesError> {
        Err(FilesError::FolderMissing(self.0.clone()))
    }
}

#[async_trait]
impl Files for MissingFolder {
    fn root(&self) -> &str {
        &self.0
    }

    fn relative(&self, _path: &str) -> Result<String, FilesError> {
        self.missing()
    }

    async fn stat(&self, _path: &str) -> Result<Option<(FileKind, u64)>, FilesError> {
        self.missing()
    }

    async fn read(&self, _path: &str, _limit: u64) -> Result<Vec<u8>, FilesError> {
        self.missing()
    }

    async fn read_range(&self, _path: &str, _offset: u64, _length: u64) -> Result<Vec<u8>, FilesError> {
        self.missing()
    }

    fn text(&self, _bytes: &[u8]) -> Option<String> {
        None
    }

    async fn list(&self, _path: &str) -> Result<Vec<DirEntry>, FilesError> {
        self.missing()
    }

    async fn write(&self, _path: &str, _bytes: &[u8]) -> Result<(), FilesError> {
        self.missing()
    }

    async fn hash(&self, _path: &str) -> Result<Option<Hash>, FilesError> {
        self.missing()
    }

    async fn picture(&self, _limits: PictureLimits, _earlier: Option<&Picture>) -> Result<Picture, FilesError> {
        self.missing()
    }
}
