//! Running the steps of a flow or a group in a state of their own.

use contract::flow::{Dialect, Order};
use contract::step::StepError;
use futures::future::{BoxFuture, FutureExt};
use serde_json::Value;

use super::declared::{self, Given};
use super::program::{Body, Mode};
use super::runner::{Place, Runner};
use super::state::State;
use super::work::Done;
use super::{branches, reads, sequence};
use crate::flow::input::USER_QUERY;
use crate::kernel::driver::Halt;
use std::sync::Arc;

/// What the steps came to.
pub(super) struct Ended {
    pub(super) state: State,
    pub(super) result: Result<Done, StepError>,
}

/// One of the items that a body is run for.
pub(super) struct Item {
    pub(super) value: Value,
    pub(super) index: usize,
}

/// Runs a body once.
pub(super) fn run<'a>(
    runner: Runner<'a>,
    body: &'a Body,
    given: Given,
    item: Option<Item>,
    place: Place,
) -> BoxFuture<'a, Result<Ended, Halt>> {
    async move {
        let runner = Runner {
            model: body.model.clone().unwrap_or_else(|| Arc::clone(&runner.model)),
            ..runner
        };
        let raw = match &given {
            Given::Explicit(map) => Value::Object(map.clone()),
            Given::Upstream(value) => value.clone(),
        };
        let mut input = declared::begin(body.declared.as_ref(), body.dialect, given);
        // An agent without a schema has one value, and that is what its first step is given too.
        let raw = match (body.dialect, &body.declared, input.get(USER_QUERY)) {
            (Dialect::Manifest, None, Some(query)) => query.clone(),
            _ => raw,
        };
        if let Some(item) = item {
            input.insert("item".to_owned(), item.value);
            input.insert("index".to_owned(), Value::from(item.index));
        }
        let mut state = State::new(body.dialect, input, raw, &body.stages, &runner.chat.value);
        let result = match (&body.mode, body.order) {
            (Mode::Parallel, _) => branches::parallel(&runner, body, &mut state, &place).await?,
            (Mode::Sequence { .. } | Mode::ForEach { .. }, Order::Reads) => {
                reads::run(&runner, body, &mut state, &place).await?
            }
            (Mode::Sequence { .. } | Mode::ForEach { .. }, Order::Chain) => {
                sequence::run(&runner, body, &mut state, &place).await?
            }
        };
        let result = result.and_then(|done| match &body.output {
            Some(output) => Ok(Done {
                output: output.value(&state)?,
                ..done
            }),
            None => Ok(done),
        });
        Ok(Ended { state, result })
    }
    .boxed()
}
