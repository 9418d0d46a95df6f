//! A driver's view of one run's journal: what is recorded already, and appending to it.
//!
//! What is recorded is kept packed: a long run is walked with all of its entries at hand, and most of them are never
//! asked for. Appends that come while another is being written share the next transaction.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::cost::{Cost, Prices};
use contract::event::RunEvent;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::llm::Usage;
use contract::packed;
use contract::ports::check::FilesBefore;
use contract::ports::journal::{Durability, JournalError, NewEntry};
use contract::run::RunHeader;
use contract::value_ref::{Artifact, ValueRef};
use futures::channel::oneshot;
use serde_json::Value;

use super::keys;
use crate::world::World;

const PAGE: u32 = 1_000;

/// What is known of a run, kept in step with its journal.
pub struct RunJournal {
    run: RunId,
    world: World,
    /// What stands before every address; none for the run itself.
    under: Option<Key>,
    known: Arc<Mutex<Known>>,
    queued: Arc<Mutex<Vec<Queued>>>,
    // Held across an append: the next number is only known when the one before it is safe.
    next_seq: Arc<tokio::sync::Mutex<u64>>,
}

#[derive(Default)]
struct Known {
    entries: HashMap<Key, Kept>,
    tokens_used: u64,
    before: Arc<FilesBefore>,
    cost: Cost,
    /// The prices of the run; none for a recording.
    prices: Option<Prices>,
}

/// An event at hand.
enum Kept {
    /// Only that it is there: nobody asks what it says.
    There,
    Packed(Box<[u8]>),
    /// One that cannot be packed. The journal took it, so it must be here.
    Whole(Arc<RunEvent>),
}

/// What a new entry changes in what is known.
struct News {
    key: Key,
    kept: Kept,
    tokens: u64,
    /// A file that is about to change for the first time, perhaps, with the address of what it holds.
    file: Option<(String, Option<Hash>)>,
    money: Option<Money>,
}

/// What an entry says about money.
enum Money {
    /// What models cost; a recording's cost nothing.
    Prices(Prices),
    /// What an attempt used.
    Spent(Usage),
}

/// What somebody wants to append, and waits for.
struct Queued {
    entries: Vec<(Key, RunEvent)>,
    artifacts: Vec<Artifact>,
    durability: Durability,
    /// None when nobody waits for it.
    done: Option<oneshot::Sender<Result<(), JournalError>>>,
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
                known.take(News::of(record.key, &record.event));
            }
        }
        if next_seq == 1 {
            return Err(JournalError::NotFound(run.clone()));
        }
        Ok(Self {
            run: run.clone(),
            world: world.clone(),
            under: None,
            known: Arc::new(Mutex::new(known)),
            queued: Arc::default(),
            next_seq: Arc::new(tokio::sync::Mutex::new(next_seq)),
        })
    }

    /// The same journal, seen from an address in it: every other address lies below this one.
    pub fn under(&self, at: &Key) -> Self {
        Self {
            run: self.run.clone(),
            world: self.world.clone(),
            under: Some(self.at(at)),
            known: Arc::clone(&self.known),
            queued: Arc::clone(&self.queued),
            next_seq: Arc::clone(&self.next_seq),
        }
    }

    /// The whole address, as it stands in the journal.
    pub fn at(&self, key: &Key) -> Key {
        match &self.under {
            Some(under) => under.child(key),
            None => key.clone(),
        }
    }

    fn place<'a>(&self, key: &'a Key) -> Cow<'a, Key> {
        match self.under {
            Some(_) => Cow::Owned(self.at(key)),
            None => Cow::Borrowed(key),
        }
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

    /// The entry at this address, if it is there already; none for the beginning and the way on of a flow's step, and
    /// the end of one that did not fail: their results are at the leaves.
    pub fn recorded(&self, key: &Key) -> Option<Arc<RunEvent>> {
        self.known().entries.get(&*self.place(key)).and_then(Kept::event)
    }

    /// Whether there is an entry at this address.
    pub fn is_recorded(&self, key: &Key) -> bool {
        self.known().entries.contains_key(&*self.place(key))
    }

    /// What all attempts of all model calls have cost.
    pub fn tokens_used(&self) -> u64 {
        self.known().tokens_used
    }

    /// What that is in money, as far as prices are known.
    pub fn cost(&self) -> Cost {
        self.known().cost.clone()
    }

    /// What the attempts of the model call at this address have cost.
    pub fn tokens_of(&self, call: &Key) -> u64 {
        let known = self.known();
        let call = &self.at(call);
        let attempts = (0_u32..).map_while(|n| known.entries.get(&keys::model_attempt(call, n)));
        attempts
            .filter_map(Kept::event)
            .map(|attempt| tokens_in(&attempt))
            .sum()
    }

    /// The files that the run was about to change, with the address of what they held before its first change.
    pub fn files_before(&self) -> Arc<FilesBefore> {
        Arc::clone(&self.known().before)
    }

    /// How many of `key`, `key` with 1, 2, … are recorded, from `first` on.
    pub fn count(&self, first: u32, key: impl Fn(u32) -> Key) -> u32 {
        let known = self.known();
        let is_known = |n: &u32| known.entries.contains_key(&self.at(&key(*n)));
        (first..).take_while(is_known).count() as u32
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
        let (done, mut outcome) = oneshot::channel();
        // Whoever takes it along may look from another address.
        let whole = |(key, event): (Key, RunEvent)| (self.at(&key), event);
        let entries = entries.into_iter().map(whole).collect();
        self.queued().push(Queued {
            entries,
            artifacts,
            durability,
            done: Some(done),
        });
        let mut next_seq = self.next_seq.lock().await;
        // Somebody who waited less long may have taken it along.
        match outcome.try_recv() {
            Ok(Some(outcome)) => return outcome,
            Ok(None) => {}
            // Whoever took it along was dropped half-way: nobody knows where the journal stands.
            Err(_) => return Err(JournalError::Conflict),
        }
        let queued = std::mem::take(&mut *self.queued());
        let mut entries = Vec::new();
        let mut artifacts = Vec::new();
        let mut durability = Durability::Commit;
        let mut waiting = Vec::new();
        for one in queued {
            entries.extend(one.entries);
            artifacts.extend(one.artifacts);
            if one.durability == Durability::Barrier {
                durability = Durability::Barrier;
            }
            waiting.extend(one.done);
        }
        let outcome = self.append(&mut next_seq, entries, artifacts, durability).await;
        for done in waiting {
            // Our own is among them.
            let _ = done.send(outcome.clone());
        }
        outcome
    }

    /// Adds entries to whatever is appended next, before it and in its transaction: for what the engine would come to
    /// again by itself when it were lost, and what is followed by more at once.
    pub fn record_with_next(&self, entries: Vec<(Key, RunEvent)>, artifacts: Vec<Artifact>) {
        let whole = |(key, event): (Key, RunEvent)| (self.at(&key), event);
        let entries = entries.into_iter().map(whole).collect();
        self.queued().push(Queued {
            entries,
            artifacts,
            durability: Durability::Commit,
            done: None,
        });
    }

    async fn append(
        &self,
        next_seq: &mut u64,
        entries: Vec<(Key, RunEvent)>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let at_ms = self.world.clock.now_ms();
        let mut new = Vec::with_capacity(entries.len());
        let mut known = Vec::with_capacity(entries.len());
        let mut keys = HashSet::with_capacity(entries.len());
        for (key, event) in entries {
            if !self.known().entries.contains_key(&key) && keys.insert(key.clone()) {
                known.push(News::of(key.clone(), &event));
                new.push(NewEntry { key, at_ms, event });
            }
        }
        if new.is_empty() {
            return Ok(());
        }
        let count = new.len() as u64;
        self.world
            .journal
            .append(&self.run, *next_seq, new, artifacts, durability)
            .await?;
        *next_seq += count;
        let reached = *next_seq - 1;
        for news in known {
            self.known().take(news);
        }
        self.world.watcher.advanced(&self.run, reached);
        Ok(())
    }

    /// As [`RunJournal::record_all`], when nothing is recorded at `first` yet: of several who ask for
    /// the same, one gets true.
    pub async fn record_first(
        &self,
        first: &Key,
        entries: Vec<(Key, RunEvent)>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<bool, JournalError> {
        let mut next_seq = self.next_seq.lock().await;
        if self.is_recorded(first) {
            return Ok(false);
        }
        let whole = |(key, event): (Key, RunEvent)| (self.at(&key), event);
        let entries = entries.into_iter().map(whole).collect();
        self.append(&mut next_seq, entries, artifacts, durability).await?;
        Ok(true)
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
        if Hash::of_bytes(&bytes) != named.hash {
            let message = format!("the value under {} is not what its address says", named.hash.as_str());
            return Err(JournalError::Corrupted(message));
        }
        serde_json::from_slice(&bytes).map_err(|error| JournalError::Corrupted(error.to_string()))
    }

    fn queued(&self) -> MutexGuard<'_, Vec<Queued>> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, news: News) {
        self.tokens_used = self.tokens_used.saturating_add(news.tokens);
        if let Some((path, before)) = news.file {
            Arc::make_mut(&mut self.before).entry(path).or_insert(before);
        }
        match news.money {
            Some(Money::Prices(prices)) => self.prices = Some(prices),
            Some(Money::Spent(usage)) => self.spend(&news.key, &usage),
            None => {}
        }
        self.entries.insert(news.key, news.kept);
    }

    /// Adds what an attempt cost; its key hangs off its call's.
    fn spend(&mut self, key: &Key, usage: &Usage) {
        let Some(prices) = &self.prices else { return };
        let call = key.as_str().rsplit_once(':').map_or(key.as_str(), |(call, _)| call);
        let started = self.entries.get(&Key::new(call).mark("started")).and_then(Kept::event);
        if let Some(RunEvent::ModelCallStarted { model, .. }) = started.as_deref() {
            self.cost.add(prices, model, usage);
        }
    }
}

impl News {
    fn of(key: Key, event: &RunEvent) -> Self {
        let file = match event {
            RunEvent::EffectIntended { path, before, .. } => Some((path.clone(), before.clone())),
            _ => None,
        };
        Self {
            key,
            kept: Kept::new(event),
            tokens: tokens_in(event),
            file,
            money: match event {
                RunEvent::RunStarted { header } if header.recording.is_none() => {
                    Some(Money::Prices(header.prices.clone()))
                }
                RunEvent::ModelAttempted { attempt } => attempt.usage.map(Money::Spent),
                _ => None,
            },
        }
    }
}

impl Kept {
    fn new(event: &RunEvent) -> Self {
        // A flow walks its steps anew and comes to these by itself; only what failed is asked for again.
        if matches!(
            event,
            RunEvent::PhaseStarted { .. } | RunEvent::PhaseFinished { error: None, .. } | RunEvent::PhaseRouted { .. }
        ) {
            return Self::There;
        }
        let packed = serde_json::to_value(event)
            .ok()
            .and_then(|value| packed::pack(&value).ok());
        match packed {
            Some(packed) => Self::Packed(packed.into()),
            None => Self::Whole(Arc::new(event.clone())),
        }
    }

    fn event(&self) -> Option<Arc<RunEvent>> {
        match self {
            Self::Packed(bytes) => {
                let value = packed::unpack(bytes).ok()?;
                serde_json::from_value(value).ok().map(Arc::new)
            }
            Self::Whole(event) => Some(Arc::clone(event)),
            Self::There => None,
        }
    }
}

/// What an entry adds to the run's cost.
fn tokens_in(event: &RunEvent) -> u64 {
    match event {
        RunEvent::ModelAttempted { attempt } => attempt.usage.map_or(0, |usage| usage.total()),
        _ => 0,
    }
}
