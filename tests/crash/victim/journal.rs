//! A journal that says what it was told is written, and the mutants that only say so.

use std::sync::{Arc, Mutex, PoisonError};

use app::JournalDecorator;
use async_trait::async_trait;
use contract::event::RunEventRecord;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::value_ref::Artifact;
use contract::{Hash, RunId};

/// An app that breaks its word, to see that somebody notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Says that an entry is written, and writes it with the next ones.
    Lazy,
    /// Does not sync where a sync is promised.
    Unsynced,
    /// Does not say what a tool is about to change.
    Blind,
    /// Takes a failure for success.
    Deaf,
}

impl Mutant {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        match name {
            "lazy" => Ok(Self::Lazy),
            "unsynced" => Ok(Self::Unsynced),
            "blind" => Ok(Self::Blind),
            "deaf" => Ok(Self::Deaf),
            other => Err(format!("there is no mutant {other}")),
        }
    }
}

/// Put around the app's journal.
pub(crate) fn telling(mutant: Option<Mutant>) -> JournalDecorator {
    Box::new(move |journal| {
        Arc::new(Telling {
            journal,
            mutant,
            kept: Mutex::default(),
        })
    })
}

struct Telling {
    journal: Arc<dyn Journal>,
    mutant: Option<Mutant>,
    kept: Mutex<Vec<Kept>>,
}

/// What the lazy mutant has not written yet.
struct Kept {
    first_seq: u64,
    entries: Vec<NewEntry>,
    artifacts: Vec<Artifact>,
}

/// How many appends the lazy mutant keeps back.
const LAZY: usize = 5;

impl Telling {
    /// Everything that is to be written now; nothing when it is kept back.
    fn now(&self, append: Kept, last: bool) -> Option<Kept> {
        if self.mutant != Some(Mutant::Lazy) {
            return Some(append);
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(append);
        if kept.len() < LAZY && !last {
            return None;
        }
        let mut all = kept.drain(..);
        let mut joined = all.next()?;
        for more in all {
            joined.entries.extend(more.entries);
            joined.artifacts.extend(more.artifacts);
        }
        Some(joined)
    }
}

#[async_trait]
impl Journal for Telling {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let last_seq = first_seq + entries.len() as u64 - 1;
        let last = durability == Durability::Barrier;
        let append = Kept {
            first_seq,
            entries,
            artifacts,
        };
        if let Some(Kept {
            first_seq,
            entries,
            artifacts,
        }) = self.now(append, last)
        {
            let durability = match self.mutant {
                Some(Mutant::Unsynced) => Durability::Commit,
                Some(Mutant::Lazy | Mutant::Blind | Mutant::Deaf) | None => durability,
            };
            let appended = self
                .journal
                .append(run, first_seq, entries, artifacts, durability)
                .await;
            if self.mutant != Some(Mutant::Deaf) {
                appended?;
            }
        }
        let word = if last { "barrier" } else { "commit" };
        println!("{word} {last_seq}");
        Ok(())
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        self.journal.read(run, from_seq, limit).await
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        let kept = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let mut artifacts = kept.iter().flat_map(|append| &append.artifacts);
            artifacts
                .find(|artifact| artifact.hash == *hash)
                .map(|artifact| artifact.bytes.to_vec())
        };
        if kept.is_some() {
            return Ok(kept);
        }
        self.journal.artifact(hash).await
    }
}
