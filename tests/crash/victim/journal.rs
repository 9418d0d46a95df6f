//! A journal that says what it was told is written, and the mutants that only say so.

use std::sync::{Arc, Mutex, PoisonError};

use app::JournalDecorator;
use async_trait::async_trait;
use contract::ports::journal::{Durability, Journal, JournalError};
use contract::{Hash, RunId};
use support::around::{Append, Around, AroundJournal};

/// An app that breaks its word, to see that somebody notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// Says that an entry is written, and writes it with the next ones.
    Lazy,
    /// The same, also where a sync is promised.
    Wordless,
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
            "wordless" => Ok(Self::Wordless),
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
        Arc::new(Around(Telling {
            journal,
            mutant,
            kept: Mutex::default(),
        }))
    })
}

struct Telling {
    journal: Arc<dyn Journal>,
    mutant: Option<Mutant>,
    /// What the lazy mutant has not written yet.
    kept: Mutex<Vec<Append>>,
}

/// How many appends the lazy mutant keeps back.
const LAZY: usize = 5;

impl Telling {
    /// Everything that is to be written now; nothing when it is kept back.
    fn now(&self, append: Append, last: bool) -> Option<Append> {
        let last = match self.mutant {
            Some(Mutant::Lazy) => last,
            Some(Mutant::Wordless) => false,
            Some(Mutant::Unsynced | Mutant::Blind | Mutant::Deaf) | None => return Some(append),
        };
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
impl AroundJournal for Telling {
    fn journal(&self) -> &dyn Journal {
        &*self.journal
    }

    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        let last_seq = append.first_seq + append.entries.len() as u64 - 1;
        let last = append.durability == Durability::Barrier;
        if let Some(mut now) = self.now(append, last) {
            if last {
                now.durability = Durability::Barrier;
            }
            if self.mutant == Some(Mutant::Unsynced) {
                now.durability = Durability::Commit;
            }
            let appended = now.to(self.journal(), run).await;
            if self.mutant != Some(Mutant::Deaf) {
                appended?;
            }
        }
        let word = if last { "barrier" } else { "commit" };
        println!("{word} {last_seq}");
        Ok(())
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
