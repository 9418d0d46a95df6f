//! A run driven again with an older journal as the only source of what the outside said (kernel page,
//! "Journal": *replay*).
//!
//! Models, tools, checks, hooks and people are all leaves, and a leaf has an address. A driver that
//! replays takes the entries of a leaf over from the older run when it comes to that address, and
//! then goes on as after a restart: whatever is recorded is returned. Nothing is asked, executed or
//! changed. An address that the older run does not hold, or holds with another meaning, ends the
//! replay with a failure that names it. The world's tools are known by name and never executed.
//!
//! The app's side: make a new run with the older one's header, then call
//! [`replay`](crate::driving::replay) in place of `drive`:
//!
//! ```text
//! engine::start(journal, &run, header_of(source), now).await?;
//! engine::replay(&run, &source, &world, &stop).await -> Driven
//! engine::final_hash(&events_of(run)) == engine::final_hash(&events_of(source))
//! ```

use std::sync::Arc;

use contract::event::RunEvent;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::ports::journal::{Durability, JournalError};
use contract::step::{StepError, code};
use tokio_util::sync::CancellationToken;

use super::driver::{Driver, Halt};
use super::run_journal::RunJournal;
use super::{keys, permit};
use crate::world::World;

impl Driver {
    /// Opens a run to drive it with what another run recorded.
    ///
    /// # Errors
    /// One of the two runs cannot be read.
    pub async fn open_replay(
        run: &RunId,
        source: &RunId,
        world: &World,
        stop: &CancellationToken,
    ) -> Result<Self, JournalError> {
        let mut driver = Self::open(run, world, stop).await?;
        let source = Arc::new(RunJournal::open(source, world).await?);
        // What a person said on the way belongs to no leaf.
        let words = (0..source.count(0, keys::guidance)).map(keys::guidance);
        let entries = words.filter_map(|key| Some((key.clone(), (*source.recorded(&key)?).clone())));
        driver
            .journal
            .record_all(entries.collect(), Vec::new(), Durability::Commit)
            .await?;
        driver.source = Some(source);
        Ok(driver)
    }

    /// Takes a leaf over from the run that is replayed; does nothing when none is, or when this run
    /// has the leaf already. `meaning` is the address of what the leaf is about to do, where the
    /// journal keeps one.
    ///
    /// # Errors
    /// The replayed run has no such leaf (`not_found`), or one that means something else
    /// (`input_hash_mismatch`).
    pub(crate) async fn take_over(&self, key: &Key, meaning: Option<&Hash>) -> Result<(), Halt> {
        let Some(source) = &self.source else {
            return Ok(());
        };
        if self.journal.recorded(key).is_some() {
            return Ok(());
        }
        // What the run's end broke off was broken off there too.
        let halted = keys::halted(key, source_reopened(source));
        let place = if source.recorded(key).is_some() { key } else { &halted };
        let Some(finished) = source.recorded(place) else {
            let message = format!("the run {} recorded nothing at {key}", source.run());
            return Err(Halt::Failed(StepError::new(code::NOT_FOUND, message)));
        };
        let started = source.recorded(&key.mark("started"));
        if let (Some(meaning), Some(recorded)) = (meaning, started.as_deref().and_then(meaning_of))
            && meaning != recorded
        {
            let message = format!("the run {} recorded something else at {key}", source.run());
            return Err(Halt::Failed(StepError::new(code::INPUT_HASH_MISMATCH, message)));
        }
        let mut entries = Vec::new();
        let mut take = |key: Key| {
            entries.extend(source.recorded(&key).map(|event| (key, (*event).clone())));
        };
        take(key.mark("started"));
        take(key.mark("asked"));
        for n in 0..source.count(0, |n| keys::intended(key, n)) {
            take(keys::intended(key, n));
        }
        for n in 0..source.count(0, |n| keys::model_attempt(key, n)) {
            take(keys::model_attempt(key, n));
        }
        // What a person was asked to permit before.
        take(permit::question(key).mark("asked"));
        take(permit::question(key));
        // What a hook asked a person on its way.
        for n in 0..source.count(0, |n| question(key, n)) {
            take(question(key, n).mark("asked"));
            take(question(key, n));
        }
        // What was performed for it on its way.
        for n in 0..source.count(0, |n| keys::performed(key, n)) {
            let leaf = keys::performed(key, n);
            take(leaf.mark("started"));
            for n in 0..source.count(0, |n| keys::intended(&leaf, n)) {
                take(keys::intended(&leaf, n));
            }
            take(leaf);
        }
        entries.push((place.clone(), (*finished).clone()));
        self.journal.record_all(entries, Vec::new(), Durability::Commit).await?;
        Ok(())
    }

    /// Takes over an entry that depends on when a person said something; does nothing when no run is replayed.
    ///
    /// # Errors
    /// Those of the journal.
    pub(crate) async fn repeat(&self, key: &Key) -> Result<(), JournalError> {
        match self.source.as_ref().and_then(|source| source.recorded(key)) {
            Some(event) => self.journal.record(key.clone(), (*event).clone()).await,
            None => Ok(()),
        }
    }

    /// What the run that is replayed recorded at this address; none when nothing is replayed.
    pub(crate) fn replayed(&self, key: &Key) -> Option<Arc<RunEvent>> {
        self.source.as_ref()?.recorded(key)
    }

    /// Whether another run answers in place of the outside.
    pub fn replays(&self) -> bool {
        self.source.is_some()
    }

    /// Whether a run that is replayed left this file; none when nothing is replayed.
    pub(crate) fn replayed_file(&self, path: &str) -> Option<bool> {
        let source = self.source.as_ref()?;
        let ended = source.recorded(&keys::run_finished(source_reopened(source)));
        let outputs = match ended.as_deref() {
            Some(RunEvent::RunFinished { result }) => result.outputs.iter().any(|output| output.path == path),
            _ => false,
        };
        Some(outputs)
    }
}

/// How often the run that is replayed was opened again.
fn source_reopened(source: &RunJournal) -> u32 {
    source.count(1, keys::run_reopened)
}

/// The `n`th question of a hook.
fn question(hook: &Key, n: u32) -> Key {
    hook.child(format!("ask/{n}"))
}

fn meaning_of(started: &RunEvent) -> Option<&Hash> {
    match started {
        RunEvent::ModelCallStarted { input_hash, .. } | RunEvent::ToolStarted { input_hash, .. } => Some(input_hash),
        _ => None,
    }
}
