//! One execution of a workload: its runs, and what was on disk before it.
//!
//! Which batch is the last one is remembered beside the runs. It goes on while a run of it is missing or not at its
//! end; when all are, the next start is a batch of its own.

use std::sync::Arc;

use contract::AppError;
use contract::access::Envelope;
use contract::cost::Prices;
use contract::flow::FlowRun;
use contract::ids::RunId;
use contract::llm::LlmError;
use contract::run::{Roles, RunHeader};
use contract::step::StepError;
use contract::task::Limits;
use engine::Controls;
use engine::flow::reading::{self, Refs};
use futures::FutureExt;
use futures::future::try_join_all;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Store;

use crate::active_runs::{ActiveRuns, Outcome};
use crate::bench::workload::Workload;
use crate::bench::world::Shared;
use crate::error::{ToAppError, flow_invalid, internal, run_busy, task_invalid};
use crate::task_files;

/// A batch, new or gone on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Batch {
    #[serde(skip, default = "any")]
    workload: Workload,
    /// How many steps of workload B are independent.
    width: u32,
    number: u32,
    /// Bytes on disk before its first run.
    pub(super) bytes_before: u64,
}

fn any() -> Workload {
    Workload::A
}

impl Batch {
    /// The last batch of this workload when it is not at its end, otherwise the next one.
    pub(super) async fn open(store: &Store, workload: Workload, width: u32) -> Result<Self, AppError> {
        let name = format!("bench.{}", workload.name());
        let last = store.settings().get(&name).await.map_err(ToAppError::to_app_error)?;
        let last = last.map(serde_json::from_value::<Self>).transpose();
        let last = last.map_err(|error| internal(format!("the setting \"{name}\" is unreadable: {error}")))?;
        let last = last.map(|batch| Self { workload, ..batch });
        if let Some(last) = last
            && last.width == width
            && !last.is_at_its_end(store).await?
        {
            return Ok(last);
        }
        let next = Self {
            workload,
            width,
            number: last.map_or(0, |last| last.number + 1),
            bytes_before: store.bytes_on_disk().map_err(ToAppError::to_app_error)?,
        };
        let value = serde_json::to_value(next).map_err(|error| internal(error.to_string()))?;
        store
            .settings()
            .set(&name, &value)
            .await
            .map_err(ToAppError::to_app_error)?;
        Ok(next)
    }

    /// Takes every run from where it stands to its end, all at once, as the app drives any run.
    ///
    /// # Errors
    /// What cannot be written, another process that drives a run of it, and what a run ended with; a server that does not
    /// answer leaves every run where it stands.
    pub(super) async fn carry_out(&self, store: &Store, model: &str, shared: &Shared) -> Result<(), AppError> {
        let active = ActiveRuns::default();
        let all = (0..self.workload.runs()).map(|run| self.carry_out_one(store, model, run, shared, &active));
        let outcome = tokio::select! {
            outcome = try_join_all(all) => outcome.map(|_| ()),
            error = shared.refused() => Err(unanswered(error)),
        };
        active.leave_all().await;
        outcome
    }

    async fn carry_out_one(
        &self,
        store: &Store,
        model: &str,
        run: u32,
        shared: &Shared,
        active: &ActiveRuns,
    ) -> Result<(), AppError> {
        let id = self.run_id(run);
        let world = shared.of_run(run);
        let lock = store.lock_run(&id).map_err(ToAppError::to_app_error)?;
        let Some(lock) = lock else {
            return Err(run_busy());
        };
        match store.runs().get(&id).await.map_err(ToAppError::to_app_error)? {
            Some(summary) if summary.status.is_end() => return Ok(()),
            Some(_) => {}
            None => {
                let now = world.clock.now_ms();
                let header = self.header(run, model)?;
                engine::start(&*world.journal, &id, header, now)
                    .await
                    .map_err(ToAppError::to_app_error)?;
            }
        }
        let controls = Arc::new(Controls::default());
        let (driven, at) = (Arc::clone(&controls), id.clone());
        let drive = async move { engine::drive_with(&at, &world, &driven).await };
        active.begin(id.clone(), lock, controls, drive.boxed(), |_| {});
        match active.outcome(&id).await {
            Some(Outcome::Finished(result)) => match result.error {
                None => Ok(()),
                Some(error) => Err(failed(run, &error)),
            },
            Some(Outcome::Interrupted(error)) => Err(error),
            Some(Outcome::Waiting | Outcome::Paused) | None => Err(internal("the workload stopped by itself")),
        }
    }

    async fn is_at_its_end(&self, store: &Store) -> Result<bool, AppError> {
        for run in 0..self.workload.runs() {
            let found = store.runs().get(&self.run_id(run)).await;
            let found = found.map_err(ToAppError::to_app_error)?;
            if !found.is_some_and(|summary| summary.status.is_end()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn run_id(&self, run: u32) -> RunId {
        RunId::new(format!("bench-{}-{}-r{run}", self.workload.name(), self.number))
    }

    fn header(&self, run: u32, model: &str) -> Result<RunHeader, AppError> {
        let title = format!("Workload {:?}, run {run}", self.workload);
        let reading =
            task_files::read(&json!({ "goal": title, "context": {}, "expectedOutput": "A reply to every step" }));
        let Some(mut task) = reading.task else {
            return Err(task_invalid(reading.problems));
        };
        let flow = reading::read(&self.workload.flow(self.width, model), None);
        let Some(flow) = flow.flow.filter(|_| flow.problems.is_empty()) else {
            return Err(flow_invalid(flow.problems));
        };
        task.limits = Limits {
            max_tokens: u64::MAX >> 11,
            max_parallel: flow.limits.max_parallel.unwrap_or(task.limits.max_parallel),
            ..task.limits
        };
        Ok(RunHeader {
            envelope: Envelope {
                folder: String::new(),
                write: false,
                max_tokens: task.limits.max_tokens,
                max_cycles: task.limits.max_cycles,
                ..Envelope::default()
            },
            task,
            title,
            roles: Roles::all(model),
            hooks: Vec::new(),
            rules: Vec::new(),
            prices: Prices::default(),
            recording: None,
            app_version: env!("CARGO_PKG_VERSION").to_owned(),
            server_tools: Vec::new(),
            models: Vec::new(),
            flow: Some(Box::new(FlowRun {
                flow,
                refs: Refs::new(),
                input: Value::Null,
                messages: Vec::new(),
            })),
        })
    }
}

fn unanswered(error: Option<LlmError>) -> AppError {
    let why = error.map(|error| format!(": {}", error.message)).unwrap_or_default();
    AppError::new("model_failed", format!("the model server gave no answer{why}"))
        .hint("What was done is kept. Start the same command again to go on.")
}

fn failed(run: u32, error: &StepError) -> AppError {
    AppError::new(&error.code, format!("run r{run} failed: {}", error.message))
        .hint("The next start of the same command begins anew.")
}
