//! A driver's view of one run's journal: what is recorded already, and appending to it.
//!
//! What is recorded is kept packed: a long run is walked with all of its entries at hand, and most of them are never
//! asked for. Appends that come while another is being written share the next transaction, and whoever waits for any
//! of them carries the one in hand on: nobody who is not looked after can hold the others up.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
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
use futures::future::{BoxFuture, FutureExt, Shared};
use serde_json::Value;

use super::keys;
use crate::world::World;

const PAGE: u32 = 1_000;

/// What is known of a run, kept in step with its journal.
pub struct RunJournal {
    /// What stands before every address; none for the run itself.
    under: Option<Key>,
    held: Arc<Held>,
}

/// Everybody's hold on the book. With the last one an append goes that nobody waits for any more; the store finishes it.
struct Held {
    book: Arc<Book>,
}

impl Drop for Held {
    fn drop(&mut self) {
        *self.book.in_hand() = None;
    }
}

/// What all views of the journal share.
struct Book {
    run: RunId,
    world: World,
    known: Mutex<Known>,
    queued: Mutex<Vec<Queued>>,
    /// The append that is being written. The next begins when this one is at its end: only then is its number known.
    in_hand: Mutex<Option<Append>>,
    next_seq: AtomicU64,
}

type Append = Shared<BoxFuture<'static, ()>>;

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

/// What somebody wants to append.
struct Queued {
    entries: Vec<(Key, RunEvent)>,
    artifacts: Vec<Artifact>,
    durability: Durability,
    /// Whether money was paid for it.
    is_paid: bool,
    /// It is left out when something is recorded here already.
    unless: Option<Key>,
    /// Told whether it was appended, or left out. None when nobody waits for it.
    done: Option<oneshot::Sender<Result<bool, JournalError>>>,
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
        let book = Arc::new(Book {
            run: run.clone(),
            world: world.clone(),
            known: Mutex::new(known),
            queued: Mutex::default(),
            in_hand: Mutex::default(),
            next_seq: AtomicU64::new(next_seq),
        });
        Ok(Self {
            under: None,
            held: Arc::new(Held { book }),
        })
    }

    /// The same journal, seen from an address in it: every other address lies below this one.
    pub fn under(&self, at: &Key) -> Self {
        Self {
            under: Some(self.at(at)),
            held: Arc::clone(&self.held),
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
        &self.book().run
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
        let queued = self.queue(entries, artifacts, durability);
        self.book().write(queued).await.map(|_| ())
    }

    /// Adds entries to whatever is appended next, before it and in its transaction: for what the engine would come to
    /// again by itself when it were lost, and what is followed by more at once.
    pub fn record_with_next(&self, entries: Vec<(Key, RunEvent)>, artifacts: Vec<Artifact>) {
        let queued = self.queue(entries, artifacts, Durability::Commit);
        self.add(queued);
    }

    /// The same for what was paid for and is followed by more at once. Before anything is waited for it is written
    /// ([`RunJournal::write_paid`]).
    pub fn record_paid_with_next(&self, entries: Vec<(Key, RunEvent)>, artifacts: Vec<Artifact>) {
        let queued = Queued {
            is_paid: true,
            ..self.queue(entries, artifacts, Durability::Commit)
        };
        self.add(queued);
    }

    /// Whoever walks through what is done already comes by all of it, with its values: nothing of that is kept.
    fn add(&self, queued: Queued) {
        let is_new = {
            let known = self.known();
            queued.entries.iter().any(|(key, _)| !known.entries.contains_key(key))
        };
        if is_new {
            self.book().queued().push(queued);
        }
    }

    /// Writes what was paid for and waits for something to go with.
    pub async fn write_paid(&self) -> Result<(), JournalError> {
        if !self.book().queued().iter().any(|queued| queued.is_paid) {
            return Ok(());
        }
        self.record_all(Vec::new(), Vec::new(), Durability::Commit).await
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
        let queued = Queued {
            unless: Some(self.at(first)),
            ..self.queue(entries, artifacts, durability)
        };
        self.book().write(queued).await
    }

    fn queue(&self, entries: Vec<(Key, RunEvent)>, artifacts: Vec<Artifact>, durability: Durability) -> Queued {
        let whole = |(key, event): (Key, RunEvent)| (self.at(&key), event);
        Queued {
            // Whoever writes it may look from another address.
            entries: entries.into_iter().map(whole).collect(),
            artifacts,
            durability,
            is_paid: false,
            unless: None,
            done: None,
        }
    }

    /// The value that an entry names, from the entry itself or from its artifact, verified.
    pub async fn value(&self, named: &ValueRef) -> Result<Value, JournalError> {
        if let Some(value) = &named.inline {
            return Ok(value.clone());
        }
        let Some(bytes) = self.book().world.journal.artifact(&named.hash).await? else {
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

    fn book(&self) -> &Arc<Book> {
        &self.held.book
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.book().known()
    }
}

impl Book {
    /// Appends this with all that is queued, and says whether it was appended.
    async fn write(self: &Arc<Self>, mut queued: Queued) -> Result<bool, JournalError> {
        let (done, mut outcome) = oneshot::channel();
        queued.done = Some(done);
        self.queued().push(queued);
        loop {
            let append = self.append_in_hand();
            append.await;
            match outcome.try_recv() {
                Ok(Some(outcome)) => return outcome,
                // It came too late for that append.
                Ok(None) => {}
                // It broke down: nobody knows where the journal stands.
                Err(_) => return Err(JournalError::Conflict),
            }
        }
    }

    /// The append that is being written, or the next one.
    fn append_in_hand(self: &Arc<Self>) -> Append {
        let mut in_hand = self.in_hand();
        match &*in_hand {
            Some(append) if append.peek().is_none() => append.clone(),
            Some(_) | None => {
                let append = Arc::clone(self).append_queued().boxed().shared();
                *in_hand = Some(append.clone());
                append
            }
        }
    }

    async fn append_queued(self: Arc<Self>) {
        let queued = std::mem::take(&mut *self.queued());
        let at_ms = self.world.clock.now_ms();
        let mut new = Vec::new();
        let mut news = Vec::new();
        let mut artifacts = Vec::new();
        let mut durability = Durability::Commit;
        let mut waiting = Vec::with_capacity(queued.len());
        {
            let known = self.known();
            let mut keys = HashSet::new();
            for one in queued {
                let is_there = |key: &Key, keys: &HashSet<Key>| known.entries.contains_key(key) || keys.contains(key);
                let is_wanted = !one.unless.as_ref().is_some_and(|first| is_there(first, &keys));
                waiting.extend(one.done.map(|done| (done, is_wanted)));
                if !is_wanted {
                    continue;
                }
                for (key, event) in one.entries {
                    if !is_there(&key, &keys) {
                        keys.insert(key.clone());
                        news.push(News::of(key.clone(), &event));
                        new.push(NewEntry { key, at_ms, event });
                    }
                }
                artifacts.extend(one.artifacts);
                if one.durability == Durability::Barrier {
                    durability = Durability::Barrier;
                }
            }
        }
        let outcome = self.append(new, news, artifacts, durability).await;
        for (done, is_wanted) in waiting {
            // Whoever waited may be gone.
            let _ = done.send(outcome.clone().map(|()| is_wanted));
        }
    }

    async fn append(
        &self,
        new: Vec<NewEntry>,
        news: Vec<News>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        if new.is_empty() {
            return Ok(());
        }
        // One append at a time: nobody else counts meanwhile.
        let first_seq = self.next_seq.load(Ordering::Acquire);
        let next_seq = first_seq + new.len() as u64;
        let journal = &self.world.journal;
        journal.append(&self.run, first_seq, new, artifacts, durability).await?;
        self.next_seq.store(next_seq, Ordering::Release);
        {
            let mut known = self.known();
            news.into_iter().for_each(|news| known.take(news));
        }
        self.world.watcher.advanced(&self.run, next_seq - 1);
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn queued(&self) -> MutexGuard<'_, Vec<Queued>> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn in_hand(&self) -> MutexGuard<'_, Option<Append>> {
        self.in_hand.lock().unwrap_or_else(PoisonError::into_inner)
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
        match packed::pack(event) {
            Ok(packed) => Self::Packed(packed.into()),
            Err(_) => Self::Whole(Arc::new(event.clone())),
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
