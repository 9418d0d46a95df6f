//! Parallel without surprises (goal-pipeline page, "Executor"): items of work in one total order,
//! as many at once as allowed, with turns for what touches the world.
//!
//! - An item starts when the items it needs have settled and a slot is free; of several, the first in
//!   the order. With one slot nothing overlaps.
//! - An item that is `alone` waits for every earlier item and holds back every later one.
//! - An execution that changes the world waits for every earlier execution of the order and holds back
//!   every later one; executions that only read overlap. What needs no turn overlaps with anything.
//! - Whoever waits (for a turn, for a person) holds no slot, so nobody waits in a circle: slots are
//!   held by work that ends by itself, and turns wait only for what is earlier in the order.
//! - Items may lie in an item ([`run_within`]): what they execute waits for its turn outside, too, from
//!   the outermost on. So whatever is inside comes where its item comes.
//!
//! Deliberately not here: what the work is, what to do when an item's work fails, and cancelling work
//! in flight. A plan's steps, and a flow's, are items alike.
//!
//! The cost of a run is `n log n` in the items and their needs; nothing is scanned twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use futures::channel::oneshot;
use futures::future::poll_fn;
use futures::stream::{FuturesUnordered, StreamExt};
use futures::task::AtomicWaker;

use crate::kernel::driver::Halt;

/// What an item's executions do to the world; the later ones include the earlier.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Use {
    /// No execution at all, as when a model only thinks.
    #[default]
    Nothing,
    /// It looks.
    Reads,
    /// It changes something.
    Writes,
}

/// One piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// The items whose results it needs, as places in the list of items.
    pub after: Vec<usize>,
    /// The most that its executions may turn out to do. Others wait by this until
    /// [`Turn::expect`] says that less is to come.
    pub uses: Use,
    /// Nothing else runs beside it.
    pub alone: bool,
}

/// Runs items. `order` lists their places so that every item comes after what it needs
/// ([`crate::order::kahn`]); `start` makes an item's work from its place, its turn and the results so
/// far; `settled` is told each result as it comes, and breaks to let nothing more begin.
///
/// The results come by place; an item that never began has none. Work that is in flight is always
/// awaited to its end: who wants it to end early cancels it from outside.
///
/// # Errors
/// The weightiest halt of any item. After [`Halt::Waiting`] and [`Halt::Unrecorded`] everything that does not need
/// that item still runs; after any other nothing more begins.
pub async fn run<T, F>(
    items: &[Item],
    order: &[usize],
    limit: usize,
    start: impl FnMut(usize, Turn, &[Option<T>]) -> F,
    settled: impl FnMut(usize, &T) -> ControlFlow<()>,
) -> Result<Vec<Option<T>>, Halt>
where
    F: Future<Output = Result<T, Halt>>,
{
    run_within(None, items, order, limit, start, settled).await
}

/// The same inside the work of another item, whose turn this is.
///
/// # Errors
/// As [`run`].
pub async fn run_within<T, F>(
    around: Option<&Turn>,
    items: &[Item],
    order: &[usize],
    limit: usize,
    mut start: impl FnMut(usize, Turn, &[Option<T>]) -> F,
    mut settled: impl FnMut(usize, &T) -> ControlFlow<()>,
) -> Result<Vec<Option<T>>, Halt>
where
    F: Future<Output = Result<T, Halt>>,
{
    let around = around.map(|turn| Arc::new(turn.clone()));
    let shared = Arc::new(Shared::new(items, order, limit));
    let mut results: Vec<Option<T>> = items.iter().map(|_| None).collect();
    let mut in_flight = FuturesUnordered::new();
    let mut halted: Option<Halt> = None;
    loop {
        while let Some(position) = shared.next_to_start() {
            let turn = Turn {
                shared: Arc::clone(&shared),
                position,
                around: around.clone(),
            };
            let work = start(order[position], turn, &results);
            in_flight.push(async move { (position, work.await) });
        }
        let ended = poll_fn(|context| {
            shared.moved.register(context.waker());
            if shared.state().can_start() {
                return Poll::Ready(None);
            }
            in_flight.poll_next_unpin(context).map(Some)
        });
        match ended.await {
            None => {}
            Some(None) => break,
            Some(Some((position, Ok(result)))) => {
                let place = order[position];
                if settled(place, &result).is_break() {
                    shared.state().close();
                }
                results[place] = Some(result);
                shared.state().settle(position);
            }
            Some(Some((position, Err(halt)))) => {
                shared.state().halt(position, &halt);
                halted = Some(weightier(halted, halt));
            }
        }
    }
    match halted {
        Some(halt) => Err(halt),
        None => Ok(results),
    }
}

fn weightier(before: Option<Halt>, now: Halt) -> Halt {
    let weight = |halt: &Halt| match halt {
        Halt::Waiting => 0,
        Halt::Unrecorded(_) => 1,
        Halt::Paused => 2,
        Halt::Budget { .. } | Halt::Cost { .. } | Halt::Time { .. } => 3,
        Halt::Cancelled => 4,
        Halt::Failed(_) => 5,
        Halt::Journal(_) => 6,
    };
    match before {
        Some(before) if weight(&before) >= weight(&now) => before,
        Some(_) | None => now,
    }
}

/// An item's place in the order while it works. Cheap to clone.
#[derive(Clone)]
pub struct Turn {
    shared: Arc<Shared>,
    position: usize,
    /// The turn of the item in which this one lies.
    around: Option<Arc<Turn>>,
}

impl Turn {
    /// Returns when every earlier execution that changes something is over.
    ///
    /// # Errors
    /// The halt of an earlier item because of which this will not be.
    pub async fn to_read(&self) -> Result<(), Halt> {
        self.wait_for(Use::Reads).await
    }

    /// Returns when every earlier execution is over. Later ones are held back until
    /// [`Turn::expect`] says that nothing of the kind is to come, or the item settles.
    ///
    /// # Errors
    /// The halt of an earlier item because of which this will not be.
    pub async fn to_write(&self) -> Result<(), Halt> {
        self.wait_for(Use::Writes).await
    }

    /// Says what may still come of this item: its next execution and all after it.
    pub fn expect(&self, uses: Use) {
        self.shared.state().expect(self.position, uses);
    }

    /// Whether nothing else runs beside this item, where it lies.
    pub fn is_alone(&self) -> bool {
        let state = self.shared.state();
        state.sequential || state.alone.contains(&self.position)
    }

    /// Does something that needs no slot, such as waiting for a person.
    ///
    /// # Errors
    /// The halt of another item because of which this one is not to go on.
    pub async fn away<T>(&self, work: impl Future<Output = T>) -> Result<T, Halt> {
        for turn in self.levels() {
            turn.shared.give_slot_back(turn.position);
        }
        let done = work.await;
        self.take_slot().await?;
        Ok(done)
    }

    /// This turn and those around it, from the innermost on.
    fn levels(&self) -> impl Iterator<Item = &Turn> {
        std::iter::successors(Some(self), |turn| turn.around.as_deref())
    }

    /// Asks at every level, the outermost first: whoever has the turn inside has it outside.
    async fn wait_for(&self, uses: Use) -> Result<(), Halt> {
        let levels: Vec<&Turn> = self.levels().collect();
        let mut waited = false;
        for turn in levels.iter().rev() {
            let granted = turn.shared.state().ask_turn(turn.position, uses)?;
            let Some(granted) = granted else { continue };
            // Also outside nobody is kept from working. An outer slot is not taken back: it says how many items
            // are begun, not how many work.
            for level in &levels {
                level.shared.give_slot_back(level.position);
            }
            waited = true;
            // A turn is granted or refused before the one who grants it is gone.
            granted.await.unwrap_or(Err(Halt::Cancelled))?;
        }
        if waited { self.take_slot().await } else { Ok(()) }
    }

    async fn take_slot(&self) -> Result<(), Halt> {
        let promise = self.shared.state().ask_slot(self.position)?;
        let Some(promise) = promise else { return Ok(()) };
        promise.await.unwrap_or(Err(Halt::Cancelled))
    }
}

type Granted = oneshot::Sender<Result<(), Halt>>;
type Promise = oneshot::Receiver<Result<(), Halt>>;

struct Shared {
    state: Mutex<State>,
    moved: AtomicWaker,
}

/// Everything is by position in the order; two waits of one item are told apart by a ticket.
struct State {
    free: usize,
    /// How many slots each item holds: one while it works, none while it waits.
    held: Vec<usize>,
    alone: BTreeSet<usize>,
    /// All items are alone.
    sequential: bool,
    ready: BTreeSet<usize>,
    waits_for: Vec<usize>,
    leads_to: Vec<Vec<usize>>,
    begun: Vec<bool>,
    settled: Vec<bool>,
    /// Everything before it has settled.
    frontier: usize,
    uses: Vec<Use>,
    may_execute: BTreeSet<usize>,
    may_write: BTreeSet<usize>,
    readers: BTreeMap<(usize, u64), Granted>,
    writers: BTreeMap<(usize, u64), Granted>,
    for_slot: BTreeMap<(usize, u64), Granted>,
    tickets: u64,
    /// Items that wait for a person who is not there, and all that need them.
    suspended: BTreeSet<usize>,
    /// Nothing more begins.
    closed: bool,
    halted: Option<Halt>,
}

impl Shared {
    fn new(items: &[Item], order: &[usize], limit: usize) -> Self {
        let mut position = vec![0; items.len()];
        for (at, &place) in order.iter().enumerate() {
            position[place] = at;
        }
        let mut state = State::empty(order.len(), limit);
        for (at, &place) in order.iter().enumerate() {
            let item = &items[place];
            state.waits_for[at] = item.after.len();
            for &before in &item.after {
                state.leads_to[position[before]].push(at);
            }
            if item.after.is_empty() {
                state.ready.insert(at);
            }
            if item.alone {
                state.alone.insert(at);
            }
            state.note_use(at, item.uses);
        }
        Self {
            state: Mutex::new(state),
            moved: AtomicWaker::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_to_start(&self) -> Option<usize> {
        self.state().next_to_start()
    }

    fn give_slot_back(&self, position: usize) {
        self.state().give_slots(position, 1);
        self.moved.wake();
    }
}

impl State {
    fn empty(count: usize, limit: usize) -> Self {
        Self {
            free: limit.max(1),
            held: vec![0; count],
            alone: BTreeSet::new(),
            sequential: limit <= 1,
            ready: BTreeSet::new(),
            waits_for: vec![0; count],
            leads_to: vec![Vec::new(); count],
            begun: vec![false; count],
            settled: vec![false; count],
            frontier: 0,
            uses: vec![Use::Nothing; count],
            may_execute: BTreeSet::new(),
            may_write: BTreeSet::new(),
            readers: BTreeMap::new(),
            writers: BTreeMap::new(),
            for_slot: BTreeMap::new(),
            tickets: 0,
            suspended: BTreeSet::new(),
            closed: false,
            halted: None,
        }
    }

    /// The first item that is ready, when it may begin now. Where the first may not, no later one may.
    fn first_startable(&self) -> Option<usize> {
        if self.closed || self.free == 0 {
            return None;
        }
        let first = *self.ready.first()?;
        let alone = self.sequential || self.alone.contains(&first);
        let held_back = self.alone.first().is_some_and(|&barrier| barrier < first);
        let may = if alone { self.frontier == first } else { !held_back };
        may.then_some(first)
    }

    fn can_start(&self) -> bool {
        self.first_startable().is_some()
    }

    fn next_to_start(&mut self) -> Option<usize> {
        let first = self.first_startable()?;
        self.ready.remove(&first);
        self.free -= 1;
        self.held[first] = 1;
        self.begun[first] = true;
        Some(first)
    }

    fn note_use(&mut self, position: usize, uses: Use) {
        self.uses[position] = uses;
        if uses >= Use::Reads {
            self.may_execute.insert(position);
        } else {
            self.may_execute.remove(&position);
        }
        if uses >= Use::Writes {
            self.may_write.insert(position);
        } else {
            self.may_write.remove(&position);
        }
    }

    fn expect(&mut self, position: usize, uses: Use) {
        if self.uses[position] != uses && !self.settled[position] {
            self.note_use(position, uses);
            self.grant_turns();
        }
    }

    fn settle(&mut self, position: usize) {
        self.note_use(position, Use::Nothing);
        self.settled[position] = true;
        self.alone.remove(&position);
        while self.settled.get(self.frontier) == Some(&true) {
            self.frontier += 1;
        }
        for next in std::mem::take(&mut self.leads_to[position]) {
            self.waits_for[next] -= 1;
            if self.waits_for[next] == 0 {
                self.ready.insert(next);
            }
        }
        self.give_slots(position, usize::MAX);
        self.grant_turns();
    }

    fn halt(&mut self, position: usize, halt: &Halt) {
        if matches!(halt, Halt::Waiting | Halt::Unrecorded(_)) {
            // It stays unsettled: what needs it does not begin, and its turn is not over.
            self.suspend(position);
            self.give_slots(position, usize::MAX);
            self.refuse_turns();
            return;
        }
        self.closed = true;
        self.halted = Some(weightier(self.halted.take(), halt.clone()));
        let waiting = [&mut self.readers, &mut self.writers, &mut self.for_slot].map(std::mem::take);
        for granted in waiting.into_iter().flat_map(BTreeMap::into_values) {
            // Whoever does not wait any more need not be told.
            let _ = granted.send(Err(halt.clone()));
        }
    }

    /// Nothing more begins: who never will holds nobody back.
    fn close(&mut self) {
        if std::mem::replace(&mut self.closed, true) {
            return;
        }
        for position in 0..self.begun.len() {
            if !self.begun[position] {
                self.note_use(position, Use::Nothing);
            }
        }
        self.grant_turns();
    }

    /// Marks an item, and all that will not begin because of it: none of them has its turn over.
    fn suspend(&mut self, position: usize) {
        let mut more = vec![position];
        while let Some(position) = more.pop() {
            if self.suspended.insert(position) {
                more.extend(&self.leads_to[position]);
            }
        }
    }

    fn ticket(&mut self, position: usize) -> ((usize, u64), (Granted, Promise)) {
        self.tickets += 1;
        ((position, self.tickets), oneshot::channel())
    }

    /// `None` when the turn has come already.
    fn ask_turn(&mut self, position: usize, uses: Use) -> Result<Option<Promise>, Halt> {
        // What an item does was not always expected of it.
        if self.uses[position] < uses {
            self.note_use(position, uses);
        }
        if let Some(halt) = &self.halted {
            return Err(halt.clone());
        }
        if self.blocker_set(uses).range(..position).next().is_none() {
            return Ok(None);
        }
        if self.is_suspended_before(position, uses) {
            return Err(Halt::Waiting);
        }
        let (ticket, (granted, promise)) = self.ticket(position);
        match uses {
            Use::Nothing | Use::Reads => self.readers.insert(ticket, granted),
            Use::Writes => self.writers.insert(ticket, granted),
        };
        Ok(Some(promise))
    }

    /// Who holds back an execution that does this.
    fn blocker_set(&self, uses: Use) -> &BTreeSet<usize> {
        match uses {
            Use::Nothing | Use::Reads => &self.may_write,
            Use::Writes => &self.may_execute,
        }
    }

    fn is_suspended_before(&self, position: usize, uses: Use) -> bool {
        let blockers = self.blocker_set(uses);
        self.suspended.range(..position).any(|held| blockers.contains(held))
    }

    fn grant_turns(&mut self) {
        let first_write = self.may_write.first().copied().unwrap_or(usize::MAX);
        while let Some(entry) = self.readers.first_entry().filter(|entry| entry.key().0 <= first_write) {
            let _ = entry.remove().send(Ok(()));
        }
        let first_execution = self.may_execute.first().copied().unwrap_or(usize::MAX);
        while let Some(entry) = self
            .writers
            .first_entry()
            .filter(|entry| entry.key().0 <= first_execution)
        {
            let _ = entry.remove().send(Ok(()));
        }
    }

    /// Nobody who waits for a suspended item's turn will have one while this lasts.
    fn refuse_turns(&mut self) {
        for uses in [Use::Reads, Use::Writes] {
            let blockers = self.blocker_set(uses);
            let Some(&first) = self.suspended.iter().find(|held| blockers.contains(held)) else {
                continue;
            };
            let waiting = match uses {
                Use::Nothing | Use::Reads => &mut self.readers,
                Use::Writes => &mut self.writers,
            };
            for granted in waiting.split_off(&(first + 1, 0)).into_values() {
                let _ = granted.send(Err(Halt::Waiting));
            }
        }
    }

    /// `None` when there is a slot now.
    fn ask_slot(&mut self, position: usize) -> Result<Option<Promise>, Halt> {
        if let Some(halt) = &self.halted {
            return Err(halt.clone());
        }
        if self.free > 0 {
            self.free -= 1;
            self.held[position] += 1;
            return Ok(None);
        }
        let (ticket, (granted, promise)) = self.ticket(position);
        self.for_slot.insert(ticket, granted);
        Ok(Some(promise))
    }

    /// Takes back at most this many of an item's slots. Who is in the middle of something gets them
    /// before who has not begun.
    fn give_slots(&mut self, position: usize, most: usize) {
        let given = self.held[position].min(most);
        self.held[position] -= given;
        for _ in 0..given {
            self.pass_on_slot();
        }
    }

    fn pass_on_slot(&mut self) {
        while let Some(((position, _), granted)) = self.for_slot.pop_first() {
            if granted.send(Ok(())).is_ok() {
                self.held[position] += 1;
                return;
            }
        }
        self.free += 1;
    }
}

#[cfg(test)]
mod tests;
