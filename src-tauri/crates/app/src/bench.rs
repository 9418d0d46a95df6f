//! Workloads of known shape, each a flow that is driven as every run is: what an engine costs beside its models.
//!
//! A workload is data: a flow whose steps ask a model once each ([`workload`]). A batch is one execution of it
//! ([`batch`]): one run, or as many as the workload has side by side. Started again on the same database, an unfinished
//! batch goes on.
//!
//! Deliberately not here: a server to ask and anything to compare with. Both are outside.

mod batch;
mod memory;
mod strict;
mod workload;
mod world;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use contract::AppError;
use contract::ports::clock::Clock;
use contract::ports::journal::Journal;
use providers::endpoint::Endpoint;
use providers::openai_compatible::OpenAiCompatible;
use serde::Serialize;
use store::Store;

pub use workload::Workload;

use crate::accounts;
use crate::bench::batch::Batch;
use crate::bench::strict::Strict;
use crate::bench::world::Shared;
use crate::clock::SystemClock;
use crate::error::ToAppError;

/// One workload, on one database, against one server.
#[derive(Debug, Clone)]
pub struct Bench {
    /// Which steps there are.
    pub workload: Workload,
    /// How many steps of workload B are independent of each other.
    pub width: u32,
    /// The address of a server that speaks `/v1/chat/completions`.
    pub model_url: String,
    /// The name of the model that is asked for.
    pub model: String,
    /// The database; made when there is none.
    pub database: PathBuf,
    /// Whether every step is synced to the disk, and not only the end of a run.
    pub strict: bool,
}

/// What a workload took. Written as one line of JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The workload's letter.
    pub wl: Workload,
    /// Milliseconds from the first entry to the last one on disk, in this process.
    pub wall_ms: f64,
    /// How many steps the workload has.
    pub steps: u32,
    /// Milliseconds for each step that was done in this process; after a kill, those that were left.
    pub ms_step: f64,
    /// The most memory that the process ever had, in kB; none where the system does not say.
    pub rss_kb: Option<u64>,
    /// Bytes on disk for each step: what the database and its content grew by, after a checkpoint.
    pub db_b_step: u64,
}

/// How measuring ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Measured {
    /// Every step was done.
    Report(Report),
    /// It stopped in the middle; what was done stays done, as far as the error says nothing else.
    Stopped(AppError),
}

impl Bench {
    /// Carries the workload out, or the rest of it when an earlier start did not come to its end.
    ///
    /// # Errors
    /// What cannot be opened: the address of the server, the database.
    pub async fn run(&self) -> Result<Measured, AppError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let server =
            OpenAiCompatible::new(Endpoint::new(&self.model_url, None), Arc::clone(&clock)).map_err(|error| {
                accounts::in_words(error).hint("Give the server's address as --model-url http://localhost:11434.")
            })?;
        let store = Store::open_file(&self.database)
            .await
            .map_err(ToAppError::to_app_error)?;
        let stored: Arc<dyn Journal> = Arc::new(store.clone());
        let journal = match self.strict {
            true => Arc::new(Strict(stored)),
            false => stored,
        };
        let shared = Shared::new(server, journal, clock);
        let outcome = self.run_in(&store, &shared).await;
        let closed = store.close().await.map_err(ToAppError::to_app_error);
        match outcome.and_then(|done| closed.map(|()| done)) {
            Ok((batch, wall_ms)) => self.report(&store, &shared, batch, wall_ms).map(Measured::Report),
            Err(error) => Ok(Measured::Stopped(error)),
        }
    }

    async fn run_in(&self, store: &Store, shared: &Shared) -> Result<(Batch, f64), AppError> {
        let batch = Batch::open(store, self.workload, self.width).await?;
        let started = Instant::now();
        let model = format!("{}:{}", providers::openai_compatible::NAME, self.model);
        batch.carry_out(store, &model, shared).await?;
        Ok((batch, started.elapsed().as_secs_f64() * 1000.0))
    }

    fn report(&self, store: &Store, shared: &Shared, batch: Batch, wall_ms: f64) -> Result<Report, AppError> {
        let steps = self.workload.steps(self.width);
        let bytes = store.bytes_on_disk().map_err(ToAppError::to_app_error)?;
        Ok(Report {
            wl: self.workload,
            wall_ms: rounded(wall_ms),
            steps,
            ms_step: rounded(wall_ms / f64::from(shared.answered().max(1))),
            rss_kb: memory::peak_kb(),
            db_b_step: bytes.saturating_sub(batch.bytes_before) / u64::from(steps),
        })
    }
}

/// Microseconds are as exact as these can be.
fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 1000.0).round() / 1000.0
}
