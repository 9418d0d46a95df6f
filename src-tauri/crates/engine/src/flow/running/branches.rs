//! Work at the same time: branches that do not see each other, and the items of a list.

use contract::flow::Dialect;
use contract::ids::Key;
use contract::step::StepError;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use serde_json::{Map, Value};

use super::body::{self, Item};
use super::declared::Given;
use super::program::Body;
use super::runner::{Place, Runner};
use super::state::State;
use super::visit::Visit;
use super::work::Done;
use crate::flow::input::USER_QUERY;
use crate::kernel::driver::{Driver, Halt, Outcome};

/// Runs every step of a body at once. The output is the map of their outputs by key.
pub(super) async fn parallel<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    state: &mut State,
    place: &Place,
) -> Outcome<Done> {
    let visits: Vec<Visit<'a>> = (0..body.stages.len())
        .map(|at| Visit::of(place, &body.stages[at], state.enter(at)))
        .collect();
    let wanted: Vec<bool> = visits.iter().map(|visit| visit.is_wanted(state)).collect();
    for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
        state.begin(at, &body.stages[at]);
    }
    let outcomes = {
        let branch = runner.driver.branch();
        let inner = runner.driven_by(&branch);
        let seen: &State = state;
        let start = |at: usize| {
            let (visit, inner, is_wanted) = (visits[at].clone(), inner.clone(), wanted[at]);
            let prepared = is_wanted.then(|| visit.prepare(&inner, body, seen));
            async move {
                match prepared {
                    Some(prepared) => visit.complete(inner, prepared, seen).await,
                    None => {
                        visit.skip(&inner, None).await?;
                        Ok(Ok((Done::value(Value::Null), Vec::new())))
                    }
                }
            }
        };
        let most = body.most_at_once.unwrap_or(usize::MAX);
        all(&branch, &runner.driver.stop, visits.len(), most, start).await?
    };
    let outcomes = match outcomes {
        Ok(outcomes) => outcomes,
        Err(error) => return Ok(Err(error)),
    };
    let mut merged = Map::new();
    for (stage, (done, sets)) in body.stages.iter().zip(outcomes) {
        for (name, value) in sets {
            state.set(&name, value);
        }
        merged.insert(stage.key.clone(), done.output.clone());
        state.store_beside(&stage.key, done.output);
    }
    Ok(Ok(Done::value(Value::Object(merged))))
}

/// Runs a body once for each item. The output is the list of its outputs, in the items' order.
pub(super) async fn for_each<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    given: Given,
    items: Vec<Value>,
    most: Option<usize>,
    key: &Key,
    path: &str,
) -> Outcome<Value> {
    // The steps see the item under its name, so what is given has to have names too.
    let given = match (given, body.dialect) {
        (Given::Upstream(value), Dialect::Flow | Dialect::Plan) if body.declared.is_none() => {
            Given::Explicit(Map::from_iter([(USER_QUERY.to_owned(), value)]))
        }
        (given, _) => given,
    };
    let limit = runner.driver.header.task.limits.max_parallel as usize;
    let most = most.or(body.most_at_once).unwrap_or(limit).max(1);
    let branch = runner.driver.branch();
    let inner = runner.driven_by(&branch);
    let start = |index: usize| {
        let item = Item {
            value: items[index].clone(),
            index,
        };
        let place = Place::inside(&key.child("item").child(index), &format!("{path}[{index}]"));
        let run = body::run(inner.clone(), body, given.clone(), Some(item), place);
        async move { Ok(run.await?.result.map(|done| done.output)) }
    };
    let outcomes = all(&branch, &runner.driver.stop, items.len(), most, start).await?;
    Ok(outcomes.map(Value::Array))
}

/// Does several things at once, each by its place, at most so many at a time. The first failure ends
/// the others: models and persons are not waited for any more, a tool that has begun is.
async fn all<T, F>(
    branch: &Driver,
    stop: &tokio_util::sync::CancellationToken,
    count: usize,
    most: usize,
    start: impl Fn(usize) -> F,
) -> Outcome<Vec<T>>
where
    F: Future<Output = Outcome<T>>,
{
    let mut results: Vec<Option<Result<T, StepError>>> = (0..count).map(|_| None).collect();
    let mut working = FuturesUnordered::new();
    let mut halted: Option<Halt> = None;
    let mut next = 0;
    loop {
        while next < count && working.len() < most && !branch.stop.is_cancelled() {
            let (at, work) = (next, start(next));
            working.push(async move { (at, work.await) });
            next += 1;
        }
        let Some((at, outcome)) = working.next().await else {
            break;
        };
        match outcome {
            Ok(result) => {
                if result.is_err() {
                    branch.stop.cancel();
                }
                results[at] = Some(result);
            }
            Err(halt) => {
                // A person who is not there holds nobody else up, and a pause ends nothing.
                if !matches!(halt, Halt::Waiting | Halt::Paused) {
                    branch.stop.cancel();
                }
                halted = Some(weightier(halted, halt));
            }
        }
    }
    let failed = results.iter_mut().find(|result| matches!(result, Some(Err(_))));
    if let Some(Some(Err(error))) = failed.map(Option::take)
        && matches!(halted, None | Some(Halt::Cancelled | Halt::Waiting | Halt::Paused))
        && !stop.is_cancelled()
    {
        return Ok(Err(error));
    }
    if let Some(halt) = halted {
        return Err(halt);
    }
    results
        .into_iter()
        .flatten()
        .collect::<Result<Vec<T>, StepError>>()
        .map(Ok)
        .or_else(|error| Ok(Err(error)))
}

/// Which of two halts says more about how the drive ends.
pub(super) fn weightier(before: Option<Halt>, now: Halt) -> Halt {
    let weight = |halt: &Halt| match halt {
        Halt::Waiting => 0,
        Halt::Paused => 1,
        Halt::Cancelled => 2,
        Halt::Budget { .. } | Halt::Cost { .. } => 3,
        Halt::Failed(_) => 4,
        Halt::Journal(_) => 5,
    };
    match before {
        Some(before) if weight(&before) >= weight(&now) => before,
        Some(_) | None => now,
    }
}
