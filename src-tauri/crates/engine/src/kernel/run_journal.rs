//! A driver's view of one run's journal: what is recorded already, and appending to it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::event::RunEvent;
use contract::ids::{Key, RunId};
use contract::ports::check::FilesBefore;
use contract::ports::journal::{Durability, JournalError, NewEntry};
use contract::run::RunHeader;
use contract::value_ref::{Artifact, ValueRef};
use serde_json::Value;

use super::keys;
use crate::world::World;

const PAGE: u32 = 1_000;

/// What is known of a run, kept in step with its journal.
pub struct RunJournal {
    run: RunId,
    world: World,
    known: Mutex<Known>,
    // Held across an append: the next number is only known when the one before it is safe.
    next_seq: tokio::sync::Mutex<u64>,
}

#[derive(Default)]
struct Known {
    entries: HashMap<Key, Arc<RunEvent>>,
    tokens_used: u64,
    before: Arc<FilesBefore>,
}

impl RunJournal {
    /// Reads the whole journal of a run.
    pub async fn open(run: &RunId, world: &World) -> Result<Self, JournalError> {
        let mut known = Known::default();
        let mut next_seq = 1;
        loop {
            let page = world.journal.read(run, next_seq, PAGE).await?;
            let Some(last) = page.last() else { break };
            next_seq = last.seq + 1;
            for record in page {
                known.take(record.key, record.event);
            }
        }
        if next_seq == 1 {
            return Err(JournalError::NotFound(run.clone()));
        }
        Ok(Self {
            run: run.clone(),
            world: world.clone(),
            known: Mutex::new(known),
            next_seq: tokio::sync::Mutex::new(next_seq),
        })
    }

    /// Whose journal it is.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// How the run began.
    pub fn header(&self) -> Result<RunHeader, JournalError> {
        match self.recorded(&keys::run_started()).as_deref() {
            Some(RunEvent::RunStarted { header }) => Ok((**header).clone()),
            _ => Err(JournalError::Corrupted("the run has no beginning".to_owned())),
        }
    }

    /// The entry at this address, if it is there already.
    pub fn recorded(&self, key: &Key) -> Option<Arc<RunEvent>> {
        self.known().entries.get(key).map(Arc::clone)
    }

    /// What all attempts of all model calls have cost.
    pub fn tokens_used(&self) -> u64 {
        self.known().tokens_used
    }

    /// What the attempts of the model call at this address have cost.
    pub fn tokens_of(&self, call: &Key) -> u64 {
        let known = self.known();
        let attempts = (0_u32..).map_while(|n| known.entries.get(&keys::model_attempt(call, n)));
        attempts.map(|attempt| tokens_in(attempt)).sum()
    }

    /// The files that the run was about to change, with the address of what they held before its first change.
    pub fn files_before(&self) -> Arc<FilesBefore> {
        Arc::clone(&self.known().before)
    }

    /// How many of `key`, `key` with 1, 2, … are recorded, from `first` on.
    pub fn count(&self, first: u32, key: impl Fn(u32) -> Key) -> u32 {
        let known = self.known();
        (first..).take_while(|n| known.entries.contains_key(&key(*n))).count() as u32
    }

    /// Appends one entry, unless it is recorded already.
    pub async fn record(&self, key: Key, event: RunEvent) -> Result<(), JournalError> {
        self.record_all(vec![(key, event)], Vec::new(), Durability::Commit)
            .await
    }

    /// Appends entries in one transaction, without those that are recorded already, and tells
    /// whoever watches.
    pub async fn record_all(
        &self,
        entries: Vec<(Key, RunEvent)>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut next_seq = self.next_seq.lock().await;
        let at_ms = self.world.clock.now_ms();
        let new: Vec<NewEntry> = entries
            .into_iter()
            .filter(|(key, _)| self.recorded(key).is_none())
            .map(|(key, event)| NewEntry { key, at_ms, event })
            .collect();
        if new.is_empty() {
            return Ok(());
        }
        let count = new.len() as u64;
        self.world
            .journal
            .append(&self.run, *next_seq, new.clone(), artifacts, durability)
            .await?;
        *next_seq += count;
        let reached = *next_seq - 1;
        {
            let mut known = self.known();
            for entry in new {
                known.take(entry.key, entry.event);
            }
        }
        self.world.watcher.advanced(&self.run, reached);
        Ok(())
    }

    /// The value that an entry names, from the entry itself or from its artifact, verified.
    pub async fn value(&self, named: &ValueRef) -> Result<Value, JournalError> {
        if let Some(value) = &named.inline {
            return Ok(value.clone());
        }
        let Some(bytes) = self.world.journal.artifact(&named.hash).await? else {
            return Err(JournalError::Corrupted(format!(
                "the value {} is missing",
                named.hash.as_str()
            )));
        };
        serde_json::from_slice(&bytes).map_err(|error| JournalError::Corrupted(error.to_string()))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, key: Key, event: RunEvent) {
        self.tokens_used += tokens_in(&event);
        if let RunEvent::EffectIntended { path, before, .. } = &event {
            let files = Arc::make_mut(&mut self.before);
            files.entry(path.clone()).or_insert_with(|| before.clone());
        }
        self.entries.insert(key, Arc::new(event));
    }
}

fn tokens_in(event: &RunEvent) -> u64 {
    match event {
        RunEvent::ModelAttempted { attempt } => attempt.usage.map_or(0, |usage| usage.total()),
        _ => 0,
    }
}
