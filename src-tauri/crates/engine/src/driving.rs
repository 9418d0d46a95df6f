//! Takes a run from where its journal stands to its end, to a question that nobody answers, or to a pause.
//!
//! Not here: what a task or a flow does on the way; that is [`task_loop`](crate::task_loop) and
//! [`flow`](crate::flow).

use std::sync::Arc;

use contract::event::RunEvent;
use contract::flow::FlowRun;
use contract::ids::RunId;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::run::{RunHeader, RunResult, StopReason};
use contract::step::{StepError, code};
use tokio_util::sync::CancellationToken;

use crate::flow::{self, FlowOutcome, Outputs};
use crate::kernel::controls::Controls;
use crate::kernel::driver::{Driver, Halt, budget_message, cost_message, time_message};
use crate::kernel::{forks_at, keys};
use crate::task_loop::{End, TaskLoop};
use crate::world::World;

/// How a drive ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    /// The run is at its end.
    Finished(RunResult),
    /// A person has to say something, and nobody was there to.
    Waiting,
    /// A person paused it.
    Paused,
    /// The journal could not be written or read; what is in it is safe, and the run can go on later.
    Stopped(JournalError),
}

/// Writes the first event of a run.
pub async fn start(journal: &dyn Journal, run: &RunId, header: RunHeader, at_ms: i64) -> Result<(), JournalError> {
    let event = RunEvent::RunStarted {
        header: Box::new(header),
    };
    let entry = NewEntry::new(keys::run_started(), at_ms, event);
    journal
        .append(run, 1, vec![entry], Vec::new(), Durability::Barrier)
        .await
}

/// Takes a run from where its journal stands to its end, or to a question that nobody answers.
///
/// The caller holds the run's lock. Cancelling `controls.stop` ends the run as `cancelled`; dropping the
/// future leaves it interrupted, to be driven again.
pub async fn drive_with(run: &RunId, world: &World, controls: &Arc<Controls>) -> Driven {
    match Driver::open_with(run, world, controls).await {
        Ok(driver) => carry_on(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

/// As [`drive_with`], for whoever only ever stops a run.
pub async fn drive(run: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    drive_with(run, world, &Arc::new(Controls::with_stop(stop.clone()))).await
}

/// As [`drive`], with everything that the outside says taken from another run's journal: models,
/// tools, checks, hooks and people. Nothing is asked, executed or changed; where the other run has no
/// answer and was not ended there, this one ends as an error that names the place. A run that was not reopened comes to
/// the same [final hash](crate::final_hash).
pub async fn replay(run: &RunId, source: &RunId, world: &World, stop: &CancellationToken) -> Driven {
    match Driver::open_replay(run, source, world, stop).await {
        Ok(driver) => carry_on(driver).await,
        Err(error) => Driven::Stopped(error),
    }
}

async fn carry_on(mut driver: Driver) -> Driven {
    driver.controls.attach(&driver.journal);
    let finished = keys::run_finished(driver.reopened);
    if let Some(RunEvent::RunFinished { result }) = driver.journal.recorded(&finished).as_deref() {
        return Driven::Finished(result.clone());
    }
    if let Some(flow) = driver.flow.take() {
        return match end_flow(&driver, flow, Outputs::Needed).await {
            Ok((_, result)) => Driven::Finished(result),
            Err(halt) => interrupted(&driver, halt).await,
        };
    }
    let mut task = TaskLoop::new(&driver);
    let (end, error) = match task.run().await {
        Ok(end) => (end, None),
        Err(halt) => {
            // Whoever wants to go on needs the place.
            let error = halt.as_step_error().filter(|error| forks_at(error).is_some());
            match end_of(&driver, halt) {
                Ok(end) => (end, error),
                Err(halt) => return interrupted(&driver, halt).await,
            }
        }
    };
    match task.finish(end, error).await {
        Ok(result) => Driven::Finished(result),
        Err(error) => Driven::Stopped(error),
    }
}

/// The end of a run that a halt means; the halt itself when the run merely goes on later.
fn end_of(driver: &Driver, halt: Halt) -> Result<End, Halt> {
    match halt {
        Halt::Unrecorded(error) => Ok(driver.replayed_halt().unwrap_or((StopReason::Error, error.message))),
        Halt::Cancelled => Ok((StopReason::Cancelled, "You stopped the run.".to_owned())),
        Halt::Budget { used, budget } => Ok((StopReason::Budget, budget_message(used, budget))),
        Halt::Cost {
            used,
            budget,
            currency,
            unpriced,
        } => {
            let words = cost_message(used, budget, &currency, unpriced.as_deref());
            Ok((StopReason::Budget, words))
        }
        Halt::Time { minutes } => Ok((StopReason::Budget, time_message(minutes))),
        Halt::Failed(error) if error.code == code::REJECTED => Ok((StopReason::Rejected, error.message)),
        Halt::Failed(error) => Ok((StopReason::Error, error.message)),
        Halt::Journal(_) | Halt::Waiting | Halt::Paused => Err(halt),
    }
}

/// A drive that is not at the run's end. What was paid for and could not be written gets another chance: there may be
/// room by now.
async fn interrupted(driver: &Driver, halt: Halt) -> Driven {
    if let Halt::Journal(JournalError::Storage(_)) = halt {
        // It is the first failure that is told.
        let _ = driver.journal.write_paid().await;
    }
    match halt {
        Halt::Journal(error) => Driven::Stopped(error),
        Halt::Paused => paused(driver).await,
        _ => Driven::Waiting,
    }
}

async fn paused(driver: &Driver) -> Driven {
    let key = keys::run_paused(driver.journal.count(0, keys::run_paused));
    match driver.journal.record(key, RunEvent::RunPaused).await {
        Ok(()) => Driven::Paused,
        Err(error) => Driven::Stopped(error),
    }
}

/// Takes a flow's run from where its journal stands to its end, and tells what the flow came to.
///
/// # Errors
/// What the run waits for, or why its journal cannot be written.
pub async fn drive_flow(run: &RunId, world: &World, stop: &CancellationToken) -> Result<FlowOutcome, Halt> {
    let mut driver = Driver::open(run, world, stop).await?;
    let Some(flow) = driver.flow.take() else {
        let error = StepError::new(code::FLOW_INVALID, "this run is no run of a flow");
        return Err(Halt::Failed(error));
    };
    Ok(end_flow(&driver, flow, Outputs::Kept).await?.0)
}

/// Runs the flow of a run and writes the run's end.
async fn end_flow(driver: &Driver, flow: Box<FlowRun>, outputs: Outputs) -> Result<(FlowOutcome, RunResult), Halt> {
    let ended = flow::run(driver, flow, outputs).await;
    // What the run came to counts the last answer too.
    driver.journal.write_paid().await?;
    let (outcome, halted) = match ended {
        Ok(outcome) => (outcome, None),
        Err(halt) => {
            let error = halt.as_step_error();
            let outcome = FlowOutcome {
                error,
                ..FlowOutcome::default()
            };
            (outcome, Some(end_of(driver, halt)?))
        }
    };
    let ended = halted.map_or(Ok(&outcome), Err);
    let (result, artifacts) = flow::running::result(driver, ended).await?;
    let entry = (
        keys::run_finished(driver.reopened),
        RunEvent::RunFinished { result: result.clone() },
    );
    driver
        .journal
        .record_all(vec![entry], artifacts, Durability::Barrier)
        .await?;
    Ok((outcome, result))
}
