//! Steps in the order of what they read: each begins as soon as all that it reads is there (a plan, as
//! a flow). No routes and no passes; a failed step ends the flow, or only what reads it.
//!
//! A step sees what it reads and what the flow was given, and nothing that another has left by chance:
//! there is no step before it, and no history (goal-pipeline page, "Parallel without surprises").

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use contract::flow::Dialect;
use contract::step::{StepError, code};
use serde_json::Value;

use super::paths::paths;
use super::prepared::Prepared;
use super::program::Body;
use super::runner::{Place, Runner};
use super::state::State;
use super::together;
use super::visit::Visit;
use super::work::Done;
use crate::kernel::driver::Outcome;
use crate::order::kahn;
use crate::schedule::{Item, Turn};
use crate::template::{Path, Segment};

/// What a step came to: its output is in the state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    Done,
    /// Its condition did not hold; its output is null.
    NotWanted,
    /// Something that it reads failed.
    Skipped,
}

/// What is to be done about a step.
enum Next<'a> {
    Run(Box<Result<Prepared<'a>, StepError>>),
    Skip(Ran, Option<String>),
}

/// The state, and what is put into it at the end, in the steps' order.
struct Seen<'s> {
    state: &'s mut State,
    ran: Vec<bool>,
    sets: Vec<Vec<(String, Value)>>,
    /// The answer of the first step, as declared, that gave one.
    answer: Option<(usize, Done)>,
}

/// Runs the steps of a body.
pub(super) async fn run<'a>(runner: &Runner<'a>, body: &'a Body, state: &mut State, place: &Place) -> Outcome<Done> {
    let (needs, order) = match in_order(runner, body) {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    let count = body.stages.len();
    let mut visits: Vec<Visit<'a>> = Vec::with_capacity(body.stages.len());
    for (at, stage) in body.stages.iter().enumerate() {
        visits.push(Visit::of(place, stage, state.enter(at)).anew(runner).await?);
    }
    let items: Vec<Item> = body
        .stages
        .iter()
        .zip(&needs)
        .map(|(stage, needs)| runner.effects.of_stage(stage).item(needs.clone()))
        .collect();
    let seen = Mutex::new(Seen {
        state,
        ran: vec![false; count],
        sets: vec![Vec::new(); count],
        answer: None,
    });
    let outcome = {
        let seen = &seen;
        let branch = runner.driver.branch();
        let around = runner.driven_by(&branch);
        let start = |at: usize, turn: Turn, done: &together::Done<Ran>| {
            let (visit, inner) = (visits[at].clone(), around.with_turn(turn));
            let has_failed = |before: &&usize| matches!(done[**before], Some(Err(_) | Ok(Ran::Skipped)));
            let failed = needs[at]
                .iter()
                .find(has_failed)
                .map(|before| body.stages[*before].key.clone());
            let next = next_of(&inner, body, &visit, failed, lock(seen).state);
            async move { step(&inner, &visit, at, next, seen).await }
        };
        let most = runner.most_at_once(body.most_at_once);
        together::all(runner, &branch, (&items, &order), most, body.on_failure, start).await
    };
    let Seen {
        state,
        ran,
        sets,
        answer,
    } = seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    for at in order.into_iter().filter(|at| ran[*at]) {
        state.begin(at, &body.stages[at]);
    }
    for (name, value) in sets.into_iter().flatten() {
        state.set(&name, value);
    }
    Ok(outcome?.map(|_| {
        if let Some((_, answer)) = answer {
            return answer;
        }
        let last = body.stages.last().and_then(|stage| state.output(&stage.key));
        Done::value(last.cloned().unwrap_or_default())
    }))
}

fn lock<'m, 's>(seen: &'m Mutex<Seen<'s>>) -> MutexGuard<'m, Seen<'s>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn next_of<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    visit: &Visit<'a>,
    failed: Option<String>,
    state: &State,
) -> Next<'a> {
    match failed {
        Some(failed) => Next::Skip(Ran::Skipped, Some(failed)),
        None if visit.is_wanted(state) => Next::Run(Box::new(visit.prepare(runner, body, state))),
        None => Next::Skip(Ran::NotWanted, None),
    }
}

async fn step<'a>(
    runner: &Runner<'a>,
    visit: &Visit<'a>,
    at: usize,
    next: Next<'a>,
    seen: &Mutex<Seen<'_>>,
) -> Outcome<Ran> {
    match next {
        Next::Skip(ran, failed) => {
            visit.skip(runner, failed).await?;
            lock(seen).state.store_beside(&visit.stage.key, Value::Null);
            Ok(Ok(ran))
        }
        Next::Run(prepared) => {
            lock(seen).ran[at] = true;
            let sets = |output: &Value| visit.sets_beside(lock(seen).state, output);
            let outcome = visit.complete(runner.clone(), *prepared, sets).await?;
            Ok(outcome.map(|(done, sets)| {
                let mut seen = lock(seen);
                if done.text.is_some() && seen.answer.as_ref().is_none_or(|(before, _)| at < *before) {
                    seen.answer = Some((at, done.clone()));
                }
                seen.state.store_beside(&visit.stage.key, done.output);
                seen.sets[at] = sets;
                Ran::Done
            }))
        }
    }
}

/// The steps that each step reads, and all of them in their order.
fn in_order(runner: &Runner<'_>, body: &Body) -> Result<(Vec<Vec<usize>>, Vec<usize>), StepError> {
    let invalid = |problem: String| {
        let message = format!("\"{}\" cannot be run: {problem}", body.id);
        StepError::new(code::FLOW_INVALID, message)
    };
    let mut needs = Vec::with_capacity(body.stages.len());
    for (at, stage) in body.stages.iter().enumerate() {
        let mut read = BTreeSet::new();
        for path in paths(&runner.program.refs, stage) {
            match step_of(body, path) {
                Some(before) if before != at => {
                    read.insert(before);
                }
                Some(_) => {}
                None if is_by_chance(body, path) => {
                    let key = &stage.key;
                    let problem = format!(
                        "\"{key}\" reads {{{{{path}}}}}, which would depend on who is faster where steps run in the \
                         order of what they read"
                    );
                    return Err(invalid(problem));
                }
                None => {}
            }
        }
        needs.push(read.into_iter().collect());
    }
    match kahn(&needs) {
        Ok(order) => Ok((needs, order)),
        Err(_circle) => Err(invalid("its steps read each other in a circle".to_owned())),
    }
}

/// Whether a path leads to what steps leave that nobody waits for.
fn is_by_chance(body: &Body, path: &Path) -> bool {
    let below_outputs = || matches!(path.segments().get(1), Some(Segment::Name { .. }));
    let is_given = body
        .declared
        .as_ref()
        .is_some_and(|declared| declared.keys.iter().any(|key| key.name == path.root()));
    body.dialect == Dialect::Flow
        && !is_given
        && BY_CHANCE.contains(&path.root())
        && !(path.root() == "outputs" && below_outputs())
}

/// What a step of a flow sees of all others, where they come one after the other.
pub(crate) const BY_CHANCE: [&str; 6] = [
    "outputs",
    "metadata",
    "retries",
    "retry_counts",
    "phase_history",
    "current_phase",
];

/// The step whose output a path leads to.
fn step_of(body: &Body, path: &Path) -> Option<usize> {
    let direct = path.root_spellings().find_map(|name| body.by_key.get(name));
    let below = || match (path.root(), path.segments().get(1)) {
        ("outputs", Some(Segment::Name { name, others })) => {
            let mut spellings = std::iter::once(name).chain(others);
            spellings.find_map(|name| body.by_key.get(name))
        }
        _ => None,
    };
    direct.or_else(below).copied()
}
