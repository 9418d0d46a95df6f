//! A journal that syncs every step.

use std::sync::Arc;

use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::value_ref::Artifact;
use contract::{Hash, RunId};

/// Whatever ends something is a barrier. That a call began need not be on disk: lost in a power cut, it is made again.
pub(super) struct Strict(pub(super) Arc<dyn Journal>);

#[async_trait]
impl Journal for Strict {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let only_begins = |entry: &NewEntry| matches!(entry.event, RunEvent::ModelCallStarted { .. });
        let durability = match entries.iter().all(only_begins) {
            true => durability,
            false => Durability::Barrier,
        };
        self.0.append(run, first_seq, entries, artifacts, durability).await
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.0.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        self.0.artifact(hash).await
    }
}
