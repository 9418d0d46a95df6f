//! The append-only journal of runs.

use std::sync::Arc;

use async_trait::async_trait;

use crate::event::{RunEvent, RunEventRecord};
use crate::hash::Hash;
use crate::ids::{Key, RunId};
use crate::packed;
use crate::value_ref::Artifact;

/// An entry before it has its number.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// Its address; unique in the run.
    pub key: Key,
    /// Milliseconds since 1970, UTC.
    pub at_ms: i64,
    /// What happened.
    pub event: Arc<RunEvent>,
    packed: Option<Arc<[u8]>>,
}

impl NewEntry {
    /// An entry, packed once for whoever keeps it.
    pub fn new(key: Key, at_ms: i64, event: impl Into<Arc<RunEvent>>) -> Self {
        let event = event.into();
        Self {
            key,
            at_ms,
            packed: packed::pack(&*event).ok().map(Arc::from),
            event,
        }
    }

    /// The event in few bytes ([`packed`]); none when it is nested too deep for that.
    pub fn packed(&self) -> Option<&Arc<[u8]>> {
        self.packed.as_ref()
    }
}

/// How safely an append must be on disk before it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Survives the end of the process.
    Commit,
    /// Survives a power cut too: before effects, approvals and the end of a run.
    Barrier,
}

/// Why the journal could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// Somebody else wrote to this run; this driver must stop.
    #[error("another process is driving this run")]
    Conflict,
    /// There is no such run.
    #[error("there is no run {0}")]
    NotFound(RunId),
    /// An entry or artifact cannot be read as what it should be.
    #[error("the history holds something unreadable: {0}")]
    Corrupted(String),
    /// The disk, or the database itself, said no.
    #[error("the history could not be written or read: {0}")]
    Storage(String),
}

/// One append-only list of entries per run, and the artifacts that they name.
#[async_trait]
pub trait Journal: Send + Sync {
    /// Appends entries and their artifacts in one transaction, the first under `first_seq`.
    ///
    /// # Errors
    /// `Conflict` when the run's last entry is not `first_seq - 1`, or a key is taken.
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError>;

    /// The entries from `from_seq` on, in order, at most `limit`.
    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError>;

    /// The bytes under an address.
    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError>;
}
