//! A journal that syncs every step.

use std::sync::Arc;

use async_trait::async_trait;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::value_ref::Artifact;
use contract::{Hash, RunId};

/// Every answer is a barrier. What the engine comes to by itself (that a call began, that a step began or ended, where a
/// flow went) need not be on disk: lost in a power cut, it comes to it again.
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
        let is_derived = |entry: &NewEntry| {
            matches!(
                *entry.event,
                RunEvent::ModelCallStarted { .. }
                    | RunEvent::PhaseStarted { .. }
                    | RunEvent::PhaseFinished { .. }
                    | RunEvent::PhaseRouted { .. }
            )
        };
        let durability = match entries.iter().all(is_derived) {
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
