//! Work at the same time: branches that do not see each other, and the items of a list.

use contract::flow::{Dialect, OnFailure};
use contract::ids::Key;
use serde_json::{Map, Value};

use super::body::{self, Item};
use super::declared::Given;
use super::program::Body;
use super::runner::{Place, Runner};
use super::state::State;
use super::together;
use super::visit::Visit;
use super::work::Done;
use crate::flow::input::USER_QUERY;
use crate::kernel::driver::Outcome;
use crate::schedule::{self, Turn};

/// Runs every step of a body at once. The output is the map of their outputs by key; the answer is that of the first
/// step that gave one.
pub(super) async fn parallel<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    state: &mut State,
    place: &Place,
) -> Outcome<Done> {
    let mut visits: Vec<Visit<'a>> = Vec::with_capacity(body.stages.len());
    for (at, stage) in body.stages.iter().enumerate() {
        visits.push(Visit::of(place, stage, state.enter(at)).anew(runner).await?);
    }
    let wanted: Vec<bool> = visits.iter().map(|visit| visit.is_wanted(state)).collect();
    for (at, _) in wanted.iter().enumerate().filter(|(_, wanted)| **wanted) {
        state.begin(at, &body.stages[at]);
    }
    let items: Vec<schedule::Item> = body
        .stages
        .iter()
        .zip(&wanted)
        .map(|(stage, wanted)| match wanted {
            true => runner.effects.of_stage(stage).item(Vec::new()),
            false => schedule::Item::default(),
        })
        .collect();
    let outcomes = {
        let branch = runner.driver.branch();
        let around = runner.driven_by(&branch);
        let seen: &State = state;
        let start = |at: usize, turn: Turn, _: &together::Done<_>| {
            let (visit, inner) = (visits[at].clone(), around.with_turn(turn));
            let prepared = wanted[at].then(|| visit.prepare(&inner, body, seen));
            async move {
                match prepared {
                    Some(prepared) => {
                        let sets = |output: &Value| visit.sets_beside(seen, output);
                        visit.complete(inner, prepared, sets).await
                    }
                    None => {
                        visit.skip(&inner, None).await?;
                        Ok(Ok((Done::value(Value::Null), Vec::new())))
                    }
                }
            }
        };
        let order: Vec<usize> = (0..items.len()).collect();
        let most = runner.most_at_once(body.most_at_once);
        together::all(runner, &branch, (&items, &order), most, OnFailure::Stop, start).await?
    };
    let outcomes = match outcomes {
        Ok(outcomes) => outcomes,
        Err(error) => return Ok(Err(error)),
    };
    let (mut merged, mut text) = (Map::new(), None);
    for (stage, (done, sets)) in body.stages.iter().zip(outcomes) {
        text = text.or(done.text);
        for (name, value) in sets {
            state.set(&name, value);
        }
        merged.insert(stage.key.clone(), done.output.clone());
        state.store_beside(&stage.key, done.output);
    }
    Ok(Ok(Done {
        output: Value::Object(merged),
        text,
    }))
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
    let branch = runner.driver.branch();
    let around = runner.driven_by(&branch);
    let start = |index: usize, turn: Turn, _: &together::Done<_>| {
        let item = Item {
            value: items[index].clone(),
            index,
        };
        let place = Place::inside(&key.child("item").child(index), &format!("{path}[{index}]"));
        let run = body::run(around.with_turn(turn), body, given.clone(), Some(item), place);
        let journal = &around.driver.journal;
        async move {
            let ended = run.await?;
            // The others may take their time.
            journal.write_paid().await?;
            Ok(ended.result.map(|done| done.output))
        }
    };
    let each = vec![runner.effects.of_body(body).item(Vec::new()); items.len()];
    let order: Vec<usize> = (0..items.len()).collect();
    let most = runner.most_at_once(most.or(body.most_at_once));
    let outcomes = together::all(runner, &branch, (&each, &order), most, OnFailure::Stop, start).await?;
    Ok(outcomes.map(Value::Array))
}
