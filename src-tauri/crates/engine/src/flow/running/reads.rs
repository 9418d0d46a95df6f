//! Steps in the order of what they read: each begins as soon as all that it reads is there (a plan, as
//! a flow). No routes and no passes; a failed step ends the flow, or only what reads it.

use std::collections::BTreeSet;

use contract::flow::OnFailure;
use contract::step::{StepError, code};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::Value;

use super::branches::weightier;
use super::program::{Body, Stage, Work};
use super::runner::{Place, Runner};
use super::state::State;
use super::visit::Visit;
use super::work::Done;
use crate::kernel::driver::{Halt, Outcome};
use crate::template::{Path, Segment};

/// Runs the steps of a body.
pub(super) async fn run<'a>(runner: &Runner<'a>, body: &'a Body, state: &mut State, place: &Place) -> Outcome<Done> {
    let mut open = match Open::of(body) {
        Ok(open) => open,
        Err(error) => return Ok(Err(error)),
    };
    let branch = runner.driver.branch();
    let inner = runner.driven_by(&branch);
    let limit = runner.driver.header.task.limits.max_parallel as usize;
    let most = body.most_at_once.unwrap_or(limit).max(1);
    let mut working = FuturesUnordered::new();
    let (mut first, mut halted): (Option<(usize, StepError)>, Option<Halt>) = (None, None);
    loop {
        while working.len() < most && !branch.stop.is_cancelled() {
            let Some(at) = open.ready.pop_first() else { break };
            let visit = Visit::of(place, &body.stages[at], state.enter(at));
            if let Some(failed) = open.failed[at].clone() {
                visit.skip(&inner, Some(failed)).await?;
                state.store(&visit.stage.key, Value::Null);
                open.settle(at, Some(&visit.stage.key));
                continue;
            }
            if !visit.is_wanted(state) {
                visit.skip(&inner, None).await?;
                state.store(&visit.stage.key, Value::Null);
                open.settle(at, None);
                continue;
            }
            state.begin(at, visit.stage);
            let prepared = visit.prepare(&inner, body, state);
            let inner = inner.clone();
            let started_at_ms = inner.driver.world.clock.now_ms();
            working.push(async move {
                let done = visit.carry_out(&inner, prepared).await;
                (at, visit, started_at_ms, done)
            });
        }
        let Some((at, visit, started_at_ms, done)) = working.next().await else {
            break;
        };
        let done = match done {
            Ok(done) => done,
            Err(halt) => {
                if !matches!(halt, Halt::Waiting | Halt::Paused) {
                    branch.stop.cancel();
                }
                halted = Some(weightier(halted, halt));
                continue;
            }
        };
        let done = done.and_then(|done| Ok((visit.sets(state, &done.output)?, done.output)));
        let (outcome, sets) = match &done {
            Ok((sets, output)) => (Ok(output), sets.as_slice()),
            Err(error) => (Err(error), &[][..]),
        };
        let closed = visit.close(&inner, started_at_ms, outcome, sets, None, Vec::new());
        match closed.await?.and(done) {
            Ok((sets, output)) => {
                for (name, value) in &sets {
                    state.set(name, value.clone());
                }
                state.store(&visit.stage.key, output);
                open.settle(at, None);
            }
            Err(error) => {
                if body.on_failure == OnFailure::Stop {
                    branch.stop.cancel();
                }
                if first.as_ref().is_none_or(|(before, _)| at < *before) {
                    first = Some((at, error));
                }
                open.settle(at, Some(&visit.stage.key));
            }
        }
    }
    match (first, halted) {
        (Some((_, error)), None | Some(Halt::Cancelled)) if !runner.driver.stop.is_cancelled() => Ok(Err(error)),
        (_, Some(halt)) => Err(halt),
        (Some((_, error)), None) => Ok(Err(error)),
        (None, None) => {
            let last = body.stages.last().and_then(|stage| state.output(&stage.key));
            Ok(Ok(Done::value(last.cloned().unwrap_or_default())))
        }
    }
}

/// Which steps are still to come.
struct Open {
    ready: BTreeSet<usize>,
    waits_for: Vec<usize>,
    leads_to: Vec<Vec<usize>>,
    /// The failed step because of which a step is not run.
    failed: Vec<Option<String>>,
}

impl Open {
    fn of(body: &Body) -> Result<Self, StepError> {
        let count = body.stages.len();
        let mut open = Self {
            ready: BTreeSet::new(),
            waits_for: vec![0; count],
            leads_to: vec![Vec::new(); count],
            failed: vec![None; count],
        };
        for (at, stage) in body.stages.iter().enumerate() {
            let read: BTreeSet<usize> = paths(stage).filter_map(|path| step_of(body, path)).collect();
            for before in read.into_iter().filter(|before| *before != at) {
                open.waits_for[at] += 1;
                open.leads_to[before].push(at);
            }
        }
        open.ready = (0..count).filter(|at| open.waits_for[*at] == 0).collect();
        if open.has_circle() {
            let message = format!("\"{}\" cannot be run: its steps read each other in a circle", body.id);
            return Err(StepError::new(code::FLOW_INVALID, message));
        }
        Ok(open)
    }

    fn has_circle(&self) -> bool {
        let mut waits_for = self.waits_for.clone();
        let mut ready: Vec<usize> = self.ready.iter().copied().collect();
        let mut met = 0;
        while let Some(at) = ready.pop() {
            met += 1;
            for &next in &self.leads_to[at] {
                waits_for[next] -= 1;
                if waits_for[next] == 0 {
                    ready.push(next);
                }
            }
        }
        met < waits_for.len()
    }

    fn settle(&mut self, at: usize, failed: Option<&str>) {
        for next in std::mem::take(&mut self.leads_to[at]) {
            if let Some(failed) = failed {
                self.failed[next].get_or_insert_with(|| failed.to_owned());
            }
            self.waits_for[next] -= 1;
            if self.waits_for[next] == 0 {
                self.ready.insert(next);
            }
        }
    }
}

/// The step whose output a path leads to.
fn step_of(body: &Body, path: &Path) -> Option<usize> {
    let direct = path.root_spellings().find_map(|name| body.by_key.get(name));
    let below = || match (path.root(), path.segments().get(1)) {
        ("outputs", Some(Segment::Name { name, .. })) => body.by_key.get(name),
        _ => None,
    };
    direct.or_else(below).copied()
}

/// Everything that a step refers to.
fn paths(stage: &Stage) -> impl Iterator<Item = &Path> {
    let reads = stage.reads.iter().flatten().map(|(_, mapping)| mapping);
    let (mappings, templates): (Vec<_>, Vec<_>) = match &stage.work {
        Work::Ask {
            instructions, prompt, ..
        } => (
            Vec::new(),
            [Some(instructions), prompt.as_ref()].into_iter().flatten().collect(),
        ),
        Work::Agent { instructions, .. } => (Vec::new(), vec![instructions]),
        Work::Tool { args, .. } => (args.iter().map(|(_, mapping)| mapping).collect(), Vec::new()),
        Work::Gate { text, .. } | Work::Answer { text } => (Vec::new(), vec![text]),
        Work::Task {
            goal,
            context,
            expected,
        } => (vec![context, expected], vec![goal]),
        Work::Group(_) | Work::Ref(_) => (Vec::new(), Vec::new()),
    };
    // What a step with a state of its own says is about that state; only what it reads is about this one.
    let own = !stage.is_private;
    let inside = mappings.into_iter().filter(move |_| own);
    let in_mappings = reads
        .chain(inside)
        .flat_map(|mapping| mapping.references().into_iter().map(|(_, reference)| &reference.path));
    let in_templates = templates
        .into_iter()
        .filter(move |_| own)
        .flat_map(|template| template.references().map(|reference| &reference.path));
    let in_condition = stage.when.iter().flat_map(|when| when.references());
    in_mappings.chain(in_templates).chain(in_condition)
}
