//! The loop.

use contract::ids::RunId;
use contract::ports::journal::{Journal, JournalError};
use contract::run::{RunHeader, RunResult};
use tokio_util::sync::CancellationToken;

use crate::world::World;

/// How a drive ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Driven {
    /// The run is at its end.
    Finished(RunResult),
    /// A person has to say something, and nobody was there to.
    Waiting,
    /// The journal could not be written or read; what is in it is safe, and the run can go on later.
    Stopped(JournalError),
}

/// Writes the first event of a run.
pub async fn start(_journal: &dyn Journal, _run: &RunId, _header: RunHeader, _at_ms: i64) -> Result<(), JournalError> {
    Ok(())
}

/// Takes a run from where its journal stands to its end, or to a question that nobody answers.
///
/// The caller holds the run's lock. Cancelling `stop` ends the run as `cancelled`; dropping the
/// future leaves it interrupted, to be driven again.
pub async fn drive(_run: &RunId, _world: &World, _stop: &CancellationToken) -> Driven {
    Driven::Waiting
}
