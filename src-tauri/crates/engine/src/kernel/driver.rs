//! The one who drives a run: its journal, its world, and the ways in which driving stops.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use contract::access::{Access, Envelope};
use contract::cost::Cost;
use contract::event::RunEvent;
use contract::flow::FlowRun;
use contract::ids::{Key, RunId};
use contract::llm::Usage;
use contract::plan::Plan;
use contract::ports::hook::{CycleMetadata, Hook, HookEvent};
use contract::ports::journal::JournalError;
use contract::run::RunHeader;
use contract::step::{StepError, code};
use contract::task::{Limits, Task};
use contract::value_ref::{Artifact, ValueRef};
use futures::future::{Either, select};
use indexmap::{IndexMap, IndexSet};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::controls::{AtWork, Controls};
use super::fallback::Silent;
use super::keys;
use super::run_journal::RunJournal;
use crate::reuse::Reusable;
use crate::schedule::Turn;
use crate::world::World;
use crate::{effects, rules};

/// Why driving cannot go on. Not a step's failure: it passes through everything to the loop.
#[derive(Debug, Clone, PartialEq)]
pub enum Halt {
    /// The journal cannot be written or read.
    Journal(JournalError),
    /// A person stopped the run.
    Cancelled,
    /// The tokens are used up.
    Budget {
        /// Tokens used.
        used: u64,
        /// Tokens allowed.
        budget: u64,
    },
    /// The money is used up, or cannot be counted.
    Cost {
        /// What was spent.
        used: f64,
        /// What may be.
        budget: f64,
        /// In which currency.
        currency: String,
        /// The model whose price is not known, when that is why.
        unpriced: Option<String>,
    },
    /// The run was at work for as long as it may be.
    Time {
        /// The minutes that are allowed.
        minutes: u32,
    },
    /// A person paused the run; nothing is at work any more.
    Paused,
    /// A person has to say something, and nobody is there.
    Waiting,
    /// The run that is replayed came no farther here: its end, or a failure beside this, broke it off. When it was
    /// neither, the two runs part here, and this says so.
    Unrecorded(StepError),
    /// The run cannot go on as it is recorded; ends it as an error.
    Failed(StepError),
}

impl From<JournalError> for Halt {
    fn from(error: JournalError) -> Self {
        Self::Journal(error)
    }
}

impl Halt {
    /// Whether work beside what halted goes on all the same.
    pub(crate) fn ends_nothing(&self) -> bool {
        matches!(self, Self::Waiting | Self::Unrecorded(_) | Self::Paused)
    }

    /// The halt in the words of the step that it interrupts; none when the step merely goes on later.
    pub fn as_step_error(&self) -> Option<StepError> {
        match self {
            Self::Journal(_) | Self::Waiting | Self::Unrecorded(_) | Self::Paused => None,
            Self::Cancelled => Some(StepError::new(code::CANCELLED, "you stopped the run")),
            Self::Budget { used, budget } => {
                Some(StepError::new(code::BUDGET_EXCEEDED, budget_message(*used, *budget)))
            }
            Self::Cost {
                used,
                budget,
                currency,
                unpriced,
            } => Some(StepError::new(
                code::BUDGET_EXCEEDED,
                cost_message(*used, *budget, currency, unpriced.as_deref()),
            )),
            Self::Time { minutes } => Some(StepError::new(code::BUDGET_EXCEEDED, time_message(*minutes))),
            Self::Failed(error) => Some(error.clone()),
        }
    }
}

/// The seed's sentence, for money; for a model without a price, why the run could not go on and what to do.
pub fn cost_message(used: f64, budget: f64, currency: &str, unpriced: Option<&str>) -> String {
    match unpriced {
        None => format!("Cost budget exceeded: used {used:.4} of {budget} {currency}"),
        Some(model) => format!(
            "The run may cost at most {budget} {currency}, and what {model} costs is not known, so it was not asked. Take \
             the limit away and continue, or enter the model's prices in Settings and start again."
        ),
    }
}

/// The seed's sentence, for time.
pub fn time_message(minutes: u32) -> String {
    let unit = if minutes == 1 { "minute" } else { "minutes" };
    format!("Time budget exceeded: at work for more than {minutes} {unit}")
}

/// The seed's sentence for a run that used up its tokens.
pub fn budget_message(used: u64, budget: u64) -> String {
    format!("Token budget exceeded: used {used} of {budget} tokens")
}

/// A leaf's or step's outcome: a value, a failure of its own, or a halt of the whole drive.
pub type Outcome<T> = Result<Result<T, StepError>, Halt>;

/// What attempts cost, known before the journal has them.
#[derive(Debug, Clone, Default)]
struct Reported {
    tokens: u64,
    /// Stays empty for a recording, which costs nothing.
    cost: Cost,
}

/// The steps that changed a file, in order, each with its cycle.
pub type Writers = IndexSet<(u32, String)>;

/// All that the work of one run needs.
pub struct Driver {
    /// The ports.
    pub world: World,
    /// The journal of this run.
    pub journal: Arc<RunJournal>,
    /// How the run began, with the limits as they are now; what flow it is stands apart.
    pub header: Arc<RunHeader>,
    /// The flow, where the run is one of a flow and it has not been begun.
    pub flow: Option<Box<FlowRun>>,
    /// Cancelled when a person stops the run.
    pub stop: CancellationToken,
    /// The hooks of the run in the order of their registration: the app's, then the task's rules.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// A person's words to whoever drives.
    pub controls: Arc<Controls>,
    /// How often the run was opened again after its end.
    pub reopened: u32,
    /// What steps are told of the task, when a hook changed it for this cycle.
    shown: Arc<Mutex<Option<Arc<Task>>>>,
    scratchpad: Arc<Mutex<Arc<IndexMap<String, Value>>>>,
    changed: Arc<Mutex<IndexMap<String, Writers>>>,
    /// The MCP servers that plans name which a person approved.
    servers: Arc<Mutex<Vec<String>>>,
    /// What earlier cycles left to be taken over.
    pub reusable: Arc<Reusable>,
    halting: CancellationToken,
    halted: Arc<OnceLock<Halt>>,
    /// What the attempts cost that were reported, whether they are recorded already or not.
    reported: Arc<Mutex<Reported>>,
    /// Models that did not answer lately.
    pub(super) silent: Silent,
    /// The run that answers in place of the outside, when one is replayed.
    pub(super) source: Option<Arc<RunJournal>>,
    /// As many as may be at work at once in the whole run, whatever lies in what.
    slots: Arc<Semaphore>,
    /// The turn in the order of whatever lies around all that is driven here.
    pub(crate) turn: Option<Turn>,
}

impl Driver {
    /// Opens a run to drive it.
    pub async fn open(run: &RunId, world: &World, stop: &CancellationToken) -> Result<Self, JournalError> {
        Self::open_with(run, world, &Arc::new(Controls::with_stop(stop.clone()))).await
    }

    /// Opens a run to drive it with these controls.
    pub async fn open_with(run: &RunId, world: &World, controls: &Arc<Controls>) -> Result<Self, JournalError> {
        let journal = Arc::new(RunJournal::open(run, world).await?);
        let mut header = journal.header()?;
        let reported = Reported {
            tokens: journal.tokens_used(),
            cost: journal.cost(),
        };
        let raised = journal.count(0, keys::limits_raised);
        if let Some(last) = raised.checked_sub(1)
            && let Some(RunEvent::LimitsRaised { limits }) = journal.recorded(&keys::limits_raised(last)).as_deref()
        {
            header.task.limits = limits.clone();
        }
        let reopened = journal.count(1, keys::run_reopened);
        let slots = header.task.limits.max_parallel.max(1) as usize;
        let flow = header.flow.take();
        let hooks = world.hooks.iter().cloned().chain(rules::hooks(&header.rules)).collect();
        Ok(Self {
            world: world.clone(),
            journal,
            header: Arc::new(header),
            flow,
            stop: controls.stop.clone(),
            hooks,
            controls: Arc::clone(controls),
            reopened,
            shown: Arc::default(),
            scratchpad: Arc::default(),
            changed: Arc::default(),
            servers: Arc::default(),
            reusable: Arc::default(),
            halting: CancellationToken::new(),
            halted: Arc::default(),
            reported: Arc::new(Mutex::new(reported)),
            silent: Silent::default(),
            source: None,
            slots: Arc::new(Semaphore::new(slots)),
            turn: None,
        })
    }

    /// A halt in the words of the step that it interrupts, as [`Halt::as_step_error`]; of a branch it is said whether a
    /// person stopped the run, or work beside it failed.
    pub fn interruption(&self, halt: &Halt) -> Option<StepError> {
        match halt {
            Halt::Cancelled if !self.controls.stop.is_cancelled() && self.stop.is_cancelled() => {
                let message = "work beside it could not go on, so it was ended";
                Some(StepError::new(code::CANCELLED, message))
            }
            halt => halt.as_step_error(),
        }
    }

    /// Drives a part of the same work that can be ended by itself.
    pub fn branch(&self) -> Self {
        Self {
            world: self.world.clone(),
            journal: Arc::clone(&self.journal),
            header: Arc::clone(&self.header),
            flow: None,
            stop: self.stop.child_token(),
            hooks: self.hooks.clone(),
            controls: Arc::clone(&self.controls),
            reopened: self.reopened,
            shown: Arc::clone(&self.shown),
            scratchpad: Arc::clone(&self.scratchpad),
            changed: Arc::clone(&self.changed),
            servers: Arc::clone(&self.servers),
            reusable: Arc::clone(&self.reusable),
            halting: self.halting.clone(),
            halted: Arc::clone(&self.halted),
            reported: Arc::clone(&self.reported),
            silent: self.silent.clone(),
            source: self.source.clone(),
            slots: Arc::clone(&self.slots),
            turn: self.turn.clone(),
        }
    }

    /// Drives a whole task under an address of this run, with a scratchpad of its own; `turn` is that of
    /// whatever the task lies in.
    pub fn nested(&self, at: &Key, task: Task, turn: Option<Turn>) -> Self {
        let mut nested = self.branch();
        nested.journal = Arc::new(self.journal.under(at));
        nested.source = self.source.as_ref().map(|source| Arc::new(source.under(at)));
        nested.header = Arc::new(RunHeader {
            task,
            ..(*self.header).clone()
        });
        nested.turn = turn;
        nested.shown = Arc::default();
        nested.scratchpad = Arc::default();
        nested.reusable = Arc::default();
        nested
    }

    /// Runs a future until it is done, a person stops the run, or other work has halted the drive.
    pub async fn or_stop<T>(&self, work: impl Future<Output = T>) -> Result<T, Halt> {
        let (stop, halting) = (pin!(self.stop.cancelled()), pin!(self.halting.cancelled()));
        let stopped = select(stop, halting);
        match select(stopped, pin!(work)).await {
            Either::Left((Either::Left(_), _)) => Err(Halt::Cancelled),
            Either::Left((Either::Right(_), _)) => Err(self.halted.get().cloned().unwrap_or(Halt::Cancelled)),
            Either::Right((value, _)) => Ok(value),
        }
    }

    /// Ends work that is in flight beside this: the drive does not go on. The first halt counts.
    /// A wait for a person ends nothing, and neither does a pause. In a replay only a journal that cannot be written
    /// does: all else goes on to where it was broken off then ([`super::replay`]).
    pub fn halt(&self, halt: &Halt) {
        if halt.ends_nothing() {
            return;
        }
        let ends_all = !self.replays() || matches!(halt, Halt::Journal(_));
        if self.halted.set(halt.clone()).is_ok() && ends_all {
            self.halting.cancel();
        }
    }

    /// What halted the drive first, if anything did.
    pub(super) fn halted(&self) -> Option<&Halt> {
        self.halted.get()
    }

    /// Halts when nothing more may begin.
    pub fn check_halted(&self) -> Result<(), Halt> {
        if self.stop.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        match self.halted.get() {
            Some(halt) if !self.replays() || matches!(halt, Halt::Journal(_)) => Err(halt.clone()),
            Some(_) | None => Ok(()),
        }
    }

    /// The hooks of an event, in the order in which they are called; without those that need what nobody allowed.
    pub fn hooks_of(&self, event: HookEvent) -> Vec<Arc<dyn Hook>> {
        let all = self.hooks.iter().filter(|hook| hook.event() == event);
        all.filter(|hook| hook.needs().is_none_or(|effect| self.is_allowed(effect)))
            .map(Arc::clone)
            .collect()
    }

    /// How many steps may be at work at once: one where hooks around steps do something in the world themselves, since
    /// nobody could tell what came first.
    pub(crate) fn steps_at_once(&self) -> usize {
        let around = [HookEvent::PreStep, HookEvent::PostStep];
        let mut hooks = around.into_iter().flat_map(|event| self.hooks_of(event));
        match hooks.any(|hook| hook.needs().is_some()) {
            true => 1,
            false => usize::try_from(self.header.task.limits.max_parallel).unwrap_or(usize::MAX),
        }
    }

    /// Halts when no more steps may begin: others may have ended the drive while this had its turn, or have just crossed
    /// the budget.
    pub(crate) fn check_may_begin(&self) -> Result<(), Halt> {
        self.check_halted()?;
        self.check_budget()
    }

    /// What hooks are told besides the data.
    pub fn metadata(&self, cycle: u32) -> CycleMetadata {
        CycleMetadata {
            cycle_number: cycle,
            total_cycles_used: cycle.saturating_sub(1),
            tokens_used: self.journal.tokens_used(),
        }
    }

    /// Halts, and with it everything in flight, when more tokens or more money are used than allowed:
    /// strictly more, as in the seed. Of a replay the recording says where that was.
    pub fn check_budget(&self) -> Result<(), Halt> {
        if self.replays() {
            return Ok(());
        }
        let limits = &self.header.task.limits;
        let (used, spent) = {
            let reported = self.reported();
            (reported.tokens, reported.cost.amount)
        };
        let used = self.journal.tokens_used().max(used);
        let spent = self.journal.spent().max(spent);
        let halt = match limits.max_cost {
            _ if used > limits.max_tokens => Halt::Budget {
                used,
                budget: limits.max_tokens,
            },
            Some(budget) if spent > budget => Halt::Cost {
                used: spent,
                budget,
                currency: self.header.prices.currency.clone(),
                unpriced: None,
            },
            Some(_) | None => return self.check_time(),
        };
        self.halt(&halt);
        Err(halt)
    }

    /// Halts, and with it everything in flight, when the run was at work for longer than it may be. A replay does not
    /// take the time that the run took.
    pub(super) fn check_time(&self) -> Result<(), Halt> {
        let Some(minutes) = self.header.task.limits.max_minutes.filter(|_| self.source.is_none()) else {
            return Ok(());
        };
        if self.journal.worked_ms() <= i64::from(minutes) * 60_000 {
            return Ok(());
        }
        let halt = Halt::Time { minutes };
        self.halt(&halt);
        Err(halt)
    }

    /// Halts before a model is asked whose price is not known, when the run may cost so much and no more: the limit
    /// could not hold.
    pub(super) fn check_price(&self, model: &str) -> Result<(), Halt> {
        let prices = &self.header.prices;
        let Some(budget) = self.header.task.limits.max_cost else {
            return Ok(());
        };
        if self.replays() || self.header.recording.is_some() || prices.of(model).is_some() {
            return Ok(());
        }
        let halt = Halt::Cost {
            used: self.journal.spent().max(self.reported().cost.amount),
            budget,
            currency: prices.currency.clone(),
            unpriced: Some(model.to_owned()),
        };
        self.halt(&halt);
        Err(halt)
    }

    /// Counts what an attempt cost as soon as it is known, so that nothing is sent after the call that crosses the
    /// budget.
    pub(super) fn count_reported(&self, model: &str, usage: &Usage) {
        let mut reported = self.reported();
        reported.tokens = reported.tokens.saturating_add(usage.total());
        if self.header.recording.is_none() {
            reported.cost.add(&self.header.prices, model, usage);
        }
    }

    fn reported(&self) -> MutexGuard<'_, Reported> {
        self.reported.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the run may touch, with the limits as they are now, and with what was allowed of what the task brings.
    pub fn envelope(&self) -> Envelope {
        let limits = &self.header.task.limits;
        let (rules, task, checks) = (&self.header.rules, &self.header.task, &self.world.checks);
        Envelope {
            effects: effects::asked(rules, task, checks, |effect, _| self.is_allowed(effect)),
            max_tokens: limits.max_tokens,
            max_cycles: limits.max_cycles,
            max_cost: limits.max_cost,
            max_minutes: limits.max_minutes,
            ..self.header.envelope.clone()
        }
    }

    /// What a call is held against: the envelope, and the MCP servers that approved plans name.
    pub(super) fn held_against(&self) -> Cow<'_, Envelope> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        if servers.is_empty() {
            return Cow::Borrowed(&self.header.envelope);
        }
        let mut envelope = self.header.envelope.clone();
        envelope.mcp_servers.extend(servers.iter().cloned());
        Cow::Owned(envelope)
    }

    /// The MCP servers that a plan's steps name, each once, besides those that the envelope names anyway.
    pub(crate) fn servers_of(&self, plan: &Plan) -> Vec<String> {
        let mut servers: Vec<String> = Vec::new();
        for name in plan.steps.iter().flat_map(|step| &step.tools) {
            let Some(tool) = self.world.tools.get(name) else {
                continue;
            };
            for access in tool.access(&Value::Null) {
                if let Access::Server { server, .. } = access
                    && !servers.contains(&server)
                    && !self.header.envelope.mcp_servers.contains(&server)
                {
                    servers.push(server);
                }
            }
        }
        servers
    }

    /// From here on the servers that this plan names are inside: a person approved it.
    pub(crate) fn approve_servers(&self, plan: &Plan) {
        let found = self.servers_of(plan);
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        for server in found {
            if !servers.contains(&server) {
                servers.push(server);
            }
        }
    }

    /// Begins a leaf that is not recorded yet; it is at work until the guard is dropped. No more leaves than the run's
    /// `maxParallel` are at work at once. While the run is paused no leaf begins: the drive halts when the last one
    /// that is at work has been recorded.
    pub async fn begin_leaf(&self) -> Result<AtWork, Halt> {
        let slot = self.take_slot().await?;
        if let Some(at_work) = self.controls.begin() {
            return Ok(at_work.with_slot(slot));
        }
        drop(slot);
        self.journal.write_paid().await?;
        self.controls.idle().await;
        Err(Halt::Paused)
    }

    /// Does something in the middle of a leaf that needs no slot, such as waiting for a person.
    pub(super) async fn without_slot<T>(&self, at_work: &mut AtWork, work: impl Future<Output = T>) -> Result<T, Halt> {
        at_work.give_slot_back();
        let done = work.await;
        at_work.take(self.take_slot().await?);
        Ok(done)
    }

    async fn take_slot(&self) -> Result<OwnedSemaphorePermit, Halt> {
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned() {
            return Ok(slot);
        }
        self.journal.write_paid().await?;
        let slot = self.or_stop(Arc::clone(&self.slots).acquire_owned()).await?;
        // The slots of a run are never closed.
        slot.map_err(|_closed| Halt::Cancelled)
    }

    /// How a leaf was broken off, if it was and the run has not been opened again since: it is so still.
    pub(super) fn broken_off(&self, leaf: &Key) -> Option<Halt> {
        let recorded = self.journal.recorded(&keys::halted(leaf, self.reopened))?;
        let error = match &*recorded {
            RunEvent::ModelCallFinished { error, .. } | RunEvent::ToolFinished { error, .. } => error.clone()?,
            _ => return None,
        };
        // A budget halts by itself; only a person's word to stop is nowhere else.
        (error.code == code::CANCELLED).then_some(Halt::Cancelled)
    }

    /// A leaf's recorded failure. Journals of before kept a person's word to stop as one: it stops the run still.
    pub(super) fn recalled<T>(&self, error: &StepError) -> Outcome<T> {
        if error.code == code::CANCELLED && self.reopened == 0 {
            Err(Halt::Cancelled)
        } else {
            Ok(Err(error.clone()))
        }
    }

    /// A task as questions about it are known: without its limits, which may be raised while it runs (kernel page,
    /// "Journal").
    pub fn known_task(task: &Task) -> Task {
        Task {
            limits: Limits::default(),
            ..task.clone()
        }
    }

    /// The task as steps are told of it: the person's, unless a hook changed it for this cycle.
    pub fn shown_task(&self) -> Arc<Task> {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(shown.get_or_insert_with(|| Arc::new(self.header.task.clone())))
    }

    /// Tells the steps of the coming execution another task.
    pub fn show_task(&self, task: Task) {
        *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(task));
    }

    /// The scratchpad as it is now.
    pub fn scratchpad(&self) -> Arc<IndexMap<String, Value>> {
        Arc::clone(&self.pad())
    }

    /// Writes to the scratchpad in memory; the journal has it already.
    pub fn write_scratchpad(&self, name: String, value: Value) {
        Arc::make_mut(&mut self.pad()).insert(name, value);
    }

    /// Takes an entry out of the scratchpad in memory; the journal has that already.
    pub fn forget_in_scratchpad(&self, name: &str) {
        Arc::make_mut(&mut self.pad()).shift_remove(name);
    }

    /// Notes that a step changed a file.
    pub(super) fn note_change(&self, path: String, cycle: u32, step: String) {
        let mut changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        changed.entry(path).or_default().insert((cycle, step));
    }

    /// The files that steps changed, each with the first step that did.
    pub fn changed_files(&self) -> Vec<(String, String)> {
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        let first = |(path, by): (&String, &Writers)| Some((path.clone(), by.first()?.1.clone()));
        changed.iter().filter_map(first).collect()
    }

    /// The steps that changed this file, each with its cycle.
    pub fn writers_of(&self, path: &str) -> Writers {
        let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
        changed.get(path).cloned().unwrap_or_default()
    }

    fn pad(&self) -> MutexGuard<'_, Arc<IndexMap<String, Value>>> {
        self.scratchpad.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Names a value, adding its artifact to the list when it is large.
    pub fn name_value(kind: &'static str, value: &Value, artifacts: &mut Vec<Artifact>) -> Result<ValueRef, StepError> {
        let (named, artifact) =
            ValueRef::of(kind, value).map_err(|error| StepError::new(code::TOOL_FAILED, error.to_string()))?;
        artifacts.extend(artifact);
        Ok(named)
    }

    /// How long a finished model call took, in milliseconds; 0 when it is not finished.
    pub fn duration_of(&self, call: &Key) -> u64 {
        match self.journal.recorded(call).as_deref() {
            Some(RunEvent::ModelCallFinished { duration_ms, .. }) => *duration_ms,
            _ => 0,
        }
    }

    /// Which of the attempts at an address is the one to work on: the last that was opened.
    pub fn is_opened(&self, of: &Key, n: u32) -> bool {
        let opened = of.mark(format!("attempt-{n}"));
        let was_opened = |journal: &RunJournal| journal.recorded(&opened).is_some();
        n == 0 || was_opened(self.journal.as_ref()) || self.source.as_deref().is_some_and(was_opened)
    }
}
