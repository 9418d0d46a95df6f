//! Steps beside each other: whatever the timing, what they change comes in their order, and what has
//! begun is seen to its end ([`crate::schedule`]).

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use contract::flow::OnFailure;
use contract::step::StepError;

use super::runner::Runner;
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::schedule::{self, Item, Turn};

/// What became of items so far, by place.
pub(super) type Done<T> = [Option<Result<T, StepError>>];

/// Does all items, at most so many at a time; `start` makes the work of each. `branch` drives all of them: when a
/// failure ends the others, models and persons are not waited for any more, a tool that has begun is.
///
/// The results come by place. The failure that counts is the first in the items' order.
pub(super) async fn all<T, F>(
    runner: &Runner<'_>,
    branch: &Driver,
    (items, order): (&[Item], &[usize]),
    most: usize,
    on_failure: OnFailure,
    mut start: impl FnMut(usize, Turn, &Done<T>) -> F,
) -> Outcome<Vec<T>>
where
    F: Future<Output = Outcome<T>>,
{
    let first: Mutex<Option<(usize, StepError)>> = Mutex::new(None);
    let failures = &first;
    // In a replay everything goes on to where it was ended then (`kernel/replay`).
    let stops = on_failure == OnFailure::Stop && !branch.replays();
    let work = |place: usize, turn: Turn, done: &Done<T>| {
        let work = start(place, turn, done);
        async move {
            let outcome = work.await;
            if let Ok(Err(error)) = &outcome {
                let mut first = failures.lock().unwrap_or_else(PoisonError::into_inner);
                if first.as_ref().is_none_or(|(before, _)| place < *before) {
                    *first = Some((place, error.clone()));
                }
            }
            let ends_the_others = match &outcome {
                Ok(Ok(_)) => false,
                Ok(Err(_)) => stops,
                Err(halt) => !halt.ends_nothing() && !branch.replays(),
            };
            if ends_the_others {
                branch.stop.cancel();
            }
            outcome.map_err(|halt| branch.told_beside(halt))
        }
    };
    let settled = |_: usize, result: &Result<T, StepError>| match result {
        Err(_) if stops => ControlFlow::Break(()),
        Err(_) | Ok(_) => ControlFlow::Continue(()),
    };
    let done = schedule::run_within(runner.turn.as_ref(), items, order, most, work, settled).await;
    let done = done.map_err(|halt| branch.told_later(halt));
    let failed = first.into_inner().unwrap_or_else(PoisonError::into_inner);
    let is_stopped = runner.driver.stop.is_cancelled();
    match (done, failed) {
        (Err(Halt::Cancelled), Some((_, error))) if !is_stopped => Ok(Err(error)),
        (Err(halt), Some((_, error))) if halt.ends_nothing() && on_failure == OnFailure::Stop && !is_stopped => {
            Ok(Err(error))
        }
        (Err(halt), _) => Err(halt),
        (Ok(_), Some((_, error))) => Ok(Err(error)),
        (Ok(results), None) => Ok(results.into_iter().flatten().collect()),
    }
}
