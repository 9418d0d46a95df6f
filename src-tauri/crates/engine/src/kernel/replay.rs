//! A run driven again with an older journal as the only source of what the outside said (kernel page,
//! "Journal": *replay*).
//!
//! Models, tools, checks, hooks and people are all leaves, and a leaf has an address. A driver that
//! replays takes the entries of a leaf over from the older run when it comes to that address, and
//! then goes on as after a restart: whatever is recorded is returned. Nothing is asked, executed or
//! changed. The world's tools are known by name and never executed.
//!
//! **A replay goes as far as the recording does, at each place, and no farther.** What breaks work off (a person's
//! word, a crossed budget, a failure beside it) comes at some moment, and moments are not repeated: who would be where
//! by then is another matter each time. So nothing is broken off in a replay. Everything goes on by itself to the
//! last thing that the recording has of it, and what comes next there is [`Halt::Unrecorded`], which ends nothing beside it.
//! Whoever knows why it was broken off says so in its place: a group, one of whose parts failed, fails; a run that was
//! stopped, or used up what it may use, ends as it did. Where nobody does, the two runs part, and the replay ends with a failure
//! that names the place; as it does at an address that is held with another meaning.
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
use contract::run::StopReason;
use contract::step::{StepError, code};
use tokio_util::sync::CancellationToken;

use super::driver::{Driver, Halt};
use super::run_journal::RunJournal;
use super::{keys, permit, tool_call};
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
    /// The replayed run did not come to the leaf's end ([`Halt::Unrecorded`]), or has one that means something else
    /// (`input_hash_mismatch`).
    pub(crate) async fn take_over(&self, key: &Key, meaning: Option<&Hash>) -> Result<(), Halt> {
        let Some(source) = &self.source else {
            return Ok(());
        };
        if self.journal.recorded(key).is_some() {
            return Ok(());
        }
        let started = source.recorded(&key.mark("started"));
        if let (Some(meaning), Some(recorded)) = (meaning, started.as_deref().and_then(meaning_of))
            && meaning != recorded
        {
            let message = format!("the run {} recorded something else at {key}", source.run());
            return Err(Halt::Failed(StepError::new(code::INPUT_HASH_MISMATCH, message)));
        }
        let mut entries = on_the_way(source, key);
        // What was broken off there is so still. A hook that failed stands there, too.
        let broken_off = keys::halted(key, source_reopened(source));
        let (ended, is_whole) = match source.recorded(key) {
            Some(ended) => (Some((key.clone(), ended)), true),
            None => {
                let ended = source.recorded(&broken_off);
                let is_whole = matches!(ended.as_deref(), Some(RunEvent::HookFinished { .. }));
                (ended.map(|ended| (broken_off, ended)), is_whole)
            }
        };
        entries.extend(ended.map(|(place, event)| (place, (*event).clone())));
        self.journal.record_all(entries, Vec::new(), Durability::Commit).await?;
        if is_whole { Ok(()) } else { Err(unrecorded(source, key)) }
    }

    /// Whether the run that is replayed came to this, too; of one that is not replayed nothing is asked.
    ///
    /// # Errors
    /// [`Halt::Unrecorded`].
    pub(crate) fn reach(&self, key: &Key) -> Result<(), Halt> {
        match &self.source {
            Some(source) if !source.is_recorded(key) => Err(unrecorded(source, key)),
            Some(_) | None => Ok(()),
        }
    }

    /// The same for the beginning of something, which may be recorded with its end alone.
    ///
    /// # Errors
    /// [`Halt::Unrecorded`].
    pub(crate) fn reach_begun(&self, key: &Key) -> Result<(), Halt> {
        self.reach(&key.mark("started")).or_else(|_| self.reach(key))
    }

    /// The same for the end of something that is marked as broken off at its own address.
    ///
    /// # Errors
    /// [`Halt::Unrecorded`].
    pub(crate) fn reach_end(&self, key: &Key) -> Result<(), Halt> {
        self.reach(key)?;
        match (&self.source, self.replayed(key).as_deref().is_some_and(is_broken_off)) {
            (Some(source), true) => Err(unrecorded(source, key)),
            (Some(_) | None, _) => Ok(()),
        }
    }

    /// Notes that something was broken off, as the run that is replayed noted it; does nothing for any other halt, or
    /// when no run is replayed. Also what waits for something that was broken off was so itself.
    ///
    /// # Errors
    /// Those of the journal.
    pub(crate) async fn repeat_broken_off(&self, key: &Key, halt: &Halt) -> Result<(), JournalError> {
        let (Some(source), Halt::Unrecorded(_) | Halt::Waiting) = (&self.source, halt) else {
            return Ok(());
        };
        let of_step = keys::halted(key, source_reopened(source));
        let at_its_own = source.recorded(key).filter(|event| is_broken_off(event));
        let noted = at_its_own.map(|event| (key, event));
        let noted = noted.or_else(|| Some((&of_step, source.recorded(&of_step)?)));
        match noted {
            Some((place, event)) => self.journal.record(place.clone(), (*event).clone()).await,
            None => Ok(()),
        }
    }

    /// What those beside work that halted are told of it: in a replay they go on to where they were broken off, and what
    /// it was is said when all are there ([`Driver::told_later`]).
    pub(crate) fn told_beside(&self, halt: Halt) -> Halt {
        match (&self.source, &halt) {
            (None, _) | (_, Halt::Journal(_) | Halt::Waiting | Halt::Unrecorded(_) | Halt::Paused) => halt,
            (Some(source), _) => {
                self.halt(&halt);
                unrecorded(source, &keys::run_started())
            }
        }
    }

    /// The halt that was kept back meanwhile, if one was.
    pub(crate) fn told_later(&self, halt: Halt) -> Halt {
        match (&halt, self.halted()) {
            (Halt::Unrecorded(_), Some(kept_back)) => kept_back.clone(),
            _ => halt,
        }
    }

    /// How the run that is replayed was broken off as a whole, if it was.
    pub(crate) fn replayed_halt(&self) -> Option<(StopReason, String)> {
        let source = self.source.as_ref()?;
        let ended = source.recorded(&keys::run_finished(source_reopened(source)));
        match ended.as_deref() {
            Some(RunEvent::RunFinished { result })
                if matches!(result.stop_reason, StopReason::Budget | StopReason::Cancelled) =>
            {
                Some((result.stop_reason, result.feedback.clone()))
            }
            _ => None,
        }
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

/// Everything that a leaf left on its way, whether it came to its end or not.
fn on_the_way(source: &RunJournal, key: &Key) -> Vec<(Key, RunEvent)> {
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
    // What a person said about a change of which nobody knew whether it was made.
    for n in 0..source.count(0, |n| tool_call::uncertain(key, n).mark("asked")) {
        take(tool_call::uncertain(key, n).mark("asked"));
        take(tool_call::uncertain(key, n));
    }
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
    entries
}

/// Whether this is the end of a branch that was ended from outside.
fn is_broken_off(event: &RunEvent) -> bool {
    matches!(event, RunEvent::PhaseFinished { error: Some(error), .. } if error.code == code::CANCELLED)
}

fn unrecorded(source: &RunJournal, key: &Key) -> Halt {
    let message = format!("the run {} recorded nothing at {}", source.run(), source.at(key));
    Halt::Unrecorded(StepError::new(code::NOT_FOUND, message))
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
