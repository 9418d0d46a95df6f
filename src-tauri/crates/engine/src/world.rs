//! Everything a driver of a run is given: the ports, and what is registered behind them.

use std::sync::Arc;

use contract::ids::{Key, RunId};
use contract::llm::Delta;
use contract::ports::check::Check;
use contract::ports::clock::Clock;
use contract::ports::files::Files;
use contract::ports::hook::Hook;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::LlmProvider;
use contract::ports::tool::Tool;

use crate::registry::Registry;

/// The outside world of one run. Cheap to clone.
#[derive(Clone)]
pub struct World {
    /// The journal; the only memory there is.
    pub journal: Arc<dyn Journal>,
    /// The providers by the name before the colon in `provider:model`.
    pub providers: Vec<Arc<dyn LlmProvider>>,
    /// The tools, in the order in which a planner reads them.
    pub tools: Registry<dyn Tool>,
    /// What carries out the effects that a task brings by itself. No plan can name these.
    pub own_tools: Registry<dyn Tool>,
    /// The checks.
    pub checks: Registry<dyn Check>,
    /// The hooks, in the order of their registration.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// The working folder.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The person.
    pub people: Arc<dyn People>,
    /// Whoever watches.
    pub watcher: Arc<dyn Watcher>,
}

/// Somebody who watches a run. Calls never block; whoever is slow misses nothing, since the journal
/// has it all.
pub trait Watcher: Send + Sync {
    /// The journal of this run now reaches up to here.
    fn advanced(&self, run: &RunId, seq: u64);
    /// A model is saying something under this call's key.
    fn delta(&self, run: &RunId, key: &Key, delta: &Delta);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn advanced(&self, _run: &RunId, _seq: u64) {}
    fn delta(&self, _run: &RunId, _key: &Key, _delta: &Delta) {}
}
