//! Workloads of known shape, through the real kernel into the real store: what an engine costs beside its models.
//!
//! Every step is one model call, a leaf of the journal like any other; what a workload adds is only which calls there
//! are and what each is told ([`workload`]). A batch is one execution of a workload ([`batch`]): one run, or as many
//! as the workload has side by side. Started again on the same database, an unfinished batch goes on.
//!
//! Deliberately not here: a server to ask and anything to compare with. Both are outside.

mod batch;
mod memory;
mod strict;
mod walk;
mod workload;
mod world;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use contract::AppError;
use contract::ports::clock::Clock;
use contract::ports::journal::Journal;
use providers::openai_compatible::OpenAiCompatible;
use serde::Serialize;
use store::Store;

pub use workload::Workload;

use crate::bench::batch::Batch;
use crate::bench::strict::Strict;
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
    /// Milliseconds for each of them.
    pub ms_step: f64,
    /// The most memory that the process ever had, in kB; none where the system does not say.
    pub rss_kb: Option<u64>,
    /// Bytes on disk for each step: what the database and its content grew by, after a checkpoint.
    pub db_b_step: u64,
}

impl Bench {
    /// Carries the workload out, or the rest of it when an earlier start did not come to its end.
    ///
    /// # Errors
    /// What cannot be opened, written or asked. What was done stays done: the next start goes on from there.
    pub async fn run(&self) -> Result<Report, AppError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let server = Arc::new(crate::model_server::open(&self.model_url, None, &clock)?);
        let store = Store::open_file(&self.database)
            .await
            .map_err(ToAppError::to_app_error)?;
        let outcome = self.run_in(&store, server, clock).await;
        let closed = store.close().await.map_err(ToAppError::to_app_error);
        let (batch, wall_ms) = outcome?;
        closed?;
        let steps = self.workload.steps(self.width);
        let bytes = store.bytes_on_disk().map_err(ToAppError::to_app_error)?;
        Ok(Report {
            wl: self.workload,
            wall_ms: rounded(wall_ms),
            steps,
            ms_step: rounded(wall_ms / f64::from(steps)),
            rss_kb: memory::peak_kb(),
            db_b_step: bytes.saturating_sub(batch.bytes_before) / u64::from(steps),
        })
    }

    async fn run_in(
        &self,
        store: &Store,
        server: Arc<OpenAiCompatible>,
        clock: Arc<dyn Clock>,
    ) -> Result<(Batch, f64), AppError> {
        let batch = Batch::open(store, self.workload, self.width).await?;
        let stored: Arc<dyn Journal> = Arc::new(store.clone());
        let journal = match self.strict {
            true => Arc::new(Strict(stored)),
            false => stored,
        };
        let started = Instant::now();
        let model = format!("{}:{}", providers::openai_compatible::NAME, self.model);
        batch
            .carry_out(store, &model, |run| world::of_run(&journal, &server, &clock, run))
            .await?;
        Ok((batch, started.elapsed().as_secs_f64() * 1000.0))
    }
}

/// Microseconds are as exact as these can be.
fn rounded(milliseconds: f64) -> f64 {
    (milliseconds * 1000.0).round() / 1000.0
}
