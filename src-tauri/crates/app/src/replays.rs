//! A run's past, gone through once more: all of it, answered by what was recorded, or some of its model calls, made
//! again (kernel page, "Artifacts, snapshot, replay, recompute, diff").
//!
//! A replay is a run of its own in the history. It asks nobody and changes nothing, and is not continued: what it would
//! do from there on would be real.

use contract::flow::Dialect;
use contract::hash::Hash;
use contract::run::RunStatus;
use contract::step::{StepError, code};
use contract::{AppError, RunId};
pub use engine::kernel::diff::path_text;
pub use engine::kernel::recompute::RecomputeStatus;
use engine::kernel::recompute_run;
pub use engine::kernel::recompute_run::RecomputedCall;
use engine::{Driven, final_hash};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::clock::new_run_id;
use crate::error::{ToAppError, internal};
use crate::event_log::Signal;
use crate::{roles, world};

/// What a replay came to, beside the run that it was answered from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// The new run.
    pub run_id: RunId,
    /// The run that answered.
    pub source: RunId,
    /// How the new run ended.
    pub status: RunStatus,
    /// Why, in words; the place where the two part is named here.
    pub feedback: String,
    /// The address of all that the new run came to.
    pub final_hash: Hash,
    /// The same of the run that answered.
    pub source_hash: Hash,
    /// Whether both are equal.
    pub same: bool,
    /// Whether the run that answered went on after an end. Such a run comes to another address.
    pub reopened: bool,
}

impl App {
    /// Plays a run that is at its end once more, as a new run, with everything that models, tools, checks and people
    /// said taken from it.
    ///
    /// # Errors
    /// The run is not at its end, or the history cannot be read or written.
    pub async fn replay(&self, source: &RunId) -> Result<Replayed, AppError> {
        if !self.summary(source).await?.status.is_end() {
            return Err(
                AppError::new("run_open", "the run is not at its end yet, so it cannot be replayed")
                    .hint("Continue it to its end, or stop it."),
            );
        }
        let mut header = self.header_of(source).await?;
        let world = world::for_replay(&self.rooms, &header);
        header.title.push_str(" (replay)");
        let run = new_run_id();
        let _lock = self.lock(&run).await?;
        self.mark_as_replay(&run).await?;
        let now = self.rooms.clock.now_ms();
        engine::start(&*self.rooms.journal, &run, header, now)
            .await
            .map_err(ToAppError::to_app_error)?;
        let driven = engine::replay(&run, source, &world, &CancellationToken::new()).await;
        self.rooms.events.say(Signal::RunsChanged);
        let (status, feedback) = match driven {
            Driven::Finished(result) => (result.status, result.feedback),
            Driven::Waiting => (RunStatus::Waiting, String::new()),
            Driven::Paused => (RunStatus::Paused, String::new()),
            Driven::Stopped(error) => return Err(error.to_app_error()),
        };
        let (hash, source_hash) = (self.final_hash_of(&run).await?, self.final_hash_of(source).await?);
        Ok(Replayed {
            same: hash == source_hash,
            reopened: self.is_reopened(source).await?,
            run_id: run,
            source: source.clone(),
            status,
            feedback,
            final_hash: hash,
            source_hash,
        })
    }

    /// Makes the recorded model calls of a part of a run again, with the model that answered then or another one.
    /// `what` is the id of a step, `plan`, `judge`, or the address of a call. Nothing is written.
    ///
    /// # Errors
    /// The run has no such part, or a model fails.
    pub async fn recompute(
        &self,
        run: &RunId,
        what: &str,
        model: Option<&str>,
    ) -> Result<Vec<RecomputedCall>, AppError> {
        let mut header = self.header_of(run).await?;
        let providers = self.known_providers().await?;
        let model = model.map(|model| roles::full_name(model, Dialect::Flow, &providers));
        if let Some(model) = &model {
            header.roles.planner.clone_from(model);
        }
        let world = world::for_asking(&self.rooms, &header).await?;
        recompute_run::recompute(&world, run, what, model.as_deref(), &CancellationToken::new())
            .await
            .map_err(not_recomputed)
    }

    async fn final_hash_of(&self, run: &RunId) -> Result<Hash, AppError> {
        final_hash(&self.events_of(run).await?).map_err(|error| internal(error.to_string()))
    }

    async fn is_reopened(&self, run: &RunId) -> Result<bool, AppError> {
        let events = self.events_of(run).await?;
        let reopened = |event| matches!(event, &contract::event::RunEvent::RunReopened { .. });
        Ok(events.iter().any(|record| reopened(&record.event)))
    }
}

fn not_recomputed(error: StepError) -> AppError {
    let hint = match error.code.as_str() {
        code::NOT_FOUND => "Name a step of its plan, \"plan\", \"judge\", or the address of a call.",
        code::INPUT_HASH_MISMATCH | code::MISSING_OUTPUT | code::OUTPUT_CORRUPTED => {
            "This part of the history is damaged; the other parts may be whole."
        }
        _ => "Nothing was changed. Look at the model and its server, then try again.",
    };
    AppError::new("not_recomputed", error.message).hint(hint)
}
