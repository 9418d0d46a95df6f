//! A driver's view of one run's journal: what is recorded already, and appending to it.
//!
//! What is recorded is kept packed: a long run is walked with all of its entries at hand, and most of them are never
//! asked for. Appends that come while another is being written share the next transaction, and whoever waits for any
//! of them carries the one in hand on: nobody who is not looked after can hold the others up.
//!
//! What could not be written and has nobody who hears of it goes back to the front of the queue: it may have been paid
//! for, and there may be room by the next time.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract::access::Access;
use contract::cost::{Cost, Prices};
use contract::event::RunEvent;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::llm::{LlmAttempt, Usage};
use contract::packed;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::check::FilesBefore;
use contract::ports::journal::{Durability, JournalError, NewEntry};
use contract::run::RunHeader;
use contract::value_ref::{Artifact, ValueRef};
use futures::channel::oneshot;
use futures::future::{BoxFuture, FutureExt, Shared};
use serde_json::Value;
use tokio::sync::watch;

use super::keys;
use super::work_clock::WorkClock;
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
    /// Tells whoever waits for a permission what people allowed for the rest of the run.
    allowed: watch::Sender<Arc<Vec<Access>>>,
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
    /// What people allowed for the rest of the run.
    allowed: Arc<Vec<Access>>,
    /// The model that each call asks that has no answer yet, for its price.
    asked: HashMap<String, String>,
    work: WorkClock,
}

/// An event at hand.
enum Kept {
    /// Only that it is there: nobody asks what it says.
    There,
    Packed(Arc<[u8]>),
    /// One that cannot be packed. The journal took it, so it must be here.
    Whole(Arc<RunEvent>),
}

/// What somebody wants to append.
struct Queued {
    entries: Vec<(Key, Arc<RunEvent>)>,
    artifacts: Vec<Artifact>,
    durability: Durability,
    /// Whether money was paid for it.
    is_paid: bool,
    /// It is left out when something is recorded here already.
    unless: Option<Key>,
    /// Told whether it was appended, or left out. None when nobody waits for it.
    done: Option<oneshot::Sender<Result<bool, JournalError>>>,
}

/// What is to be written in one append.
struct Batch {
    new: Vec<NewEntry>,
    /// For each entry that is queued what is to be known of it; none when it is recorded already, or not wanted.
    kept: Vec<Option<Kept>>,
    artifacts: Vec<Artifact>,
    durability: Durability,
    /// For each of those that want something appended, whether it is.
    wanted: Vec<bool>,
    /// When, in milliseconds since 1970.
    at_ms: i64,
}

impl Default for Batch {
    fn default() -> Self {
        Self {
            new: Vec::new(),
            kept: Vec::new(),
            artifacts: Vec::new(),
            durability: Durability::Commit,
            wanted: Vec::new(),
            at_ms: 0,
        }
    }
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
                let entry = NewEntry::new(record.key, record.at_ms, record.event);
                let kept = Kept::of(&entry);
                known.work.take(entry.at_ms, &entry.event);
                known.take(entry.key, &entry.event, kept);
            }
        }
        if next_seq == 1 {
            return Err(JournalError::NotFound(run.clone()));
        }
        known.work.resume(world.clock.now_ms());
        let allowed = watch::Sender::new(Arc::clone(&known.allowed));
        let book = Arc::new(Book {
            allowed,
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

    /// The amount of that alone, in the currency of the run's prices.
    pub fn spent(&self) -> f64 {
        self.known().cost.amount
    }

    /// How long the run was at work until now, in milliseconds.
    pub fn worked_ms(&self) -> i64 {
        self.known().work.worked_ms(self.book().world.clock.now_ms())
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

    /// What people allowed for the rest of the run.
    pub fn allowed(&self) -> Arc<Vec<Access>> {
        Arc::clone(&self.known().allowed)
    }

    /// The same, as it grows.
    pub fn watch_allowed(&self) -> watch::Receiver<Arc<Vec<Access>>> {
        self.book().allowed.subscribe()
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
        let whole = |(key, event): (Key, RunEvent)| match self.under {
            Some(_) => (self.at(&key), Arc::new(event)),
            None => (key, Arc::new(event)),
        };
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
        let batch = self.batch(&queued);
        let outcome = match batch.new.is_empty() {
            true => Ok(None),
            false => self
                .append(batch.new, batch.artifacts, batch.durability)
                .await
                .map(Some),
        };
        let mut waiting = Vec::with_capacity(queued.len());
        let mut back = Vec::new();
        let allowed = {
            let mut known = self.known();
            let mut kept = batch.kept.into_iter();
            for (mut one, is_wanted) in queued.into_iter().zip(batch.wanted) {
                match &outcome {
                    Ok(_) => {
                        for ((key, event), kept) in one.entries.drain(..).zip(&mut kept) {
                            if let Some(kept) = kept {
                                known.work.take(batch.at_ms, &event);
                                known.take(key, &event, kept);
                            }
                        }
                    }
                    // Somebody else drives the run: nothing of this is to be written any more.
                    Err(JournalError::Conflict) => {}
                    Err(_) if one.done.is_none() => {
                        back.push(one);
                        continue;
                    }
                    Err(_) => {}
                }
                waiting.extend(one.done.map(|done| (done, is_wanted)));
            }
            Arc::clone(&known.allowed)
        };
        self.allowed.send_if_modified(|told| {
            let is_more = !Arc::ptr_eq(told, &allowed);
            *told = allowed;
            is_more
        });
        if !back.is_empty() {
            self.queued().splice(0..0, back);
        }
        if let Ok(Some(last_seq)) = outcome {
            self.world.watcher.advanced(&self.run, last_seq);
        }
        for (done, is_wanted) in waiting {
            // Whoever waited may be gone.
            let _ = done.send(outcome.clone().map(|_| is_wanted));
        }
    }

    /// What is to be written of what is queued.
    fn batch(&self, queued: &[Queued]) -> Batch {
        let at_ms = self.world.clock.now_ms();
        let known = self.known();
        let mut keys: HashSet<&Key> = HashSet::new();
        let mut batch = Batch {
            at_ms,
            ..Batch::default()
        };
        for one in queued {
            let is_there = |key: &Key, keys: &HashSet<&Key>| known.entries.contains_key(key) || keys.contains(key);
            let is_wanted = !one.unless.as_ref().is_some_and(|first| is_there(first, &keys));
            let before = batch.new.len();
            batch.wanted.push(is_wanted);
            for (key, event) in &one.entries {
                if !is_wanted || is_there(key, &keys) {
                    batch.kept.push(None);
                    continue;
                }
                keys.insert(key);
                let entry = NewEntry::new(key.clone(), at_ms, Arc::clone(event));
                batch.kept.push(Some(Kept::of(&entry)));
                batch.new.push(entry);
            }
            // The values of what is recorded are, too.
            if batch.new.len() > before {
                batch.artifacts.extend(one.artifacts.iter().cloned());
            }
            if is_wanted && one.durability == Durability::Barrier {
                batch.durability = Durability::Barrier;
            }
        }
        batch
    }

    /// Writes entries, and says how far the journal reaches then.
    async fn append(
        &self,
        new: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<u64, JournalError> {
        // One append at a time: nobody else counts meanwhile.
        let first_seq = self.next_seq.load(Ordering::Acquire);
        let next_seq = first_seq + new.len() as u64;
        let journal = &self.world.journal;
        journal.append(&self.run, first_seq, new, artifacts, durability).await?;
        self.next_seq.store(next_seq, Ordering::Release);
        Ok(next_seq - 1)
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
    fn take(&mut self, key: Key, event: &RunEvent, kept: Kept) {
        self.tokens_used = self.tokens_used.saturating_add(tokens_in(event));
        if let RunEvent::EffectIntended { path, before, .. } = event {
            let files = Arc::make_mut(&mut self.before);
            files.entry(path.clone()).or_insert_with(|| before.clone());
        }
        match event {
            RunEvent::RunStarted { header } if header.recording.is_none() => {
                self.prices = Some(header.prices.clone());
            }
            RunEvent::ModelCallStarted { model, .. } if self.prices.is_some() => {
                self.asked.insert(call_of(&key).to_owned(), model.clone());
            }
            RunEvent::ModelAttempted { attempt } => {
                if let Some(usage) = &attempt.usage {
                    self.spend(&key, usage, attempt);
                }
            }
            // What was broken off hangs off its call, and may be asked again.
            RunEvent::ModelCallFinished { .. } => {
                self.asked.remove(key.as_str());
            }
            _ => {}
        }
        if matches!(
            event,
            RunEvent::PersonAnswered {
                answer: Answer::Allow {
                    scope: AllowedFor::Run | AllowedFor::Task
                }
            }
        ) {
            self.allow(&key);
        }
        self.entries.insert(key, kept);
    }

    /// Adds what the question at this key asked about.
    fn allow(&mut self, question: &Key) {
        let asked = self.entries.get(&question.mark("asked")).and_then(Kept::event);
        let Some(RunEvent::PersonAsked { ask }) = asked.as_deref() else {
            return;
        };
        match ask {
            Ask::Permission { access, .. } => Arc::make_mut(&mut self.allowed).extend(access.iter().cloned()),
            Ask::AllowEffect { effect, .. } => {
                let effect = effect.clone();
                Arc::make_mut(&mut self.allowed).push(Access::TaskEffect { effect });
            }
            Ask::ApprovePlan { .. } | Ask::UncertainEffect { .. } | Ask::Gate { .. } | Ask::RunStep { .. } => {}
        }
    }

    /// Adds what an attempt cost; its key hangs off its call's.
    fn spend(&mut self, key: &Key, usage: &Usage, attempt: &LlmAttempt) {
        if let (Some(prices), Some(model)) = (&self.prices, self.asked.get(call_of(key))) {
            self.cost.add(prices, attempt.asked(model), usage);
        }
    }
}

/// The address of the call that an entry hangs off.
fn call_of(key: &Key) -> &str {
    key.as_str().rsplit_once(':').map_or(key.as_str(), |(call, _)| call)
}

impl Kept {
    fn of(entry: &NewEntry) -> Self {
        // A flow walks its steps anew and comes to these by itself; only what failed is asked for again.
        if matches!(
            &*entry.event,
            RunEvent::PhaseStarted { .. } | RunEvent::PhaseFinished { error: None, .. } | RunEvent::PhaseRouted { .. }
        ) {
            return Self::There;
        }
        match entry.packed() {
            Some(packed) => Self::Packed(Arc::clone(packed)),
            None => Self::Whole(Arc::clone(&entry.event)),
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
