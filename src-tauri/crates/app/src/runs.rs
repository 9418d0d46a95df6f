//! Runs, as people handle them: start, answer, stop, continue, run again.
//!
//! A run is driven by whoever holds its lock. Every way to drive one goes through [`App::drive`].

use std::path::Path;
use std::sync::Arc;

use contract::access::Envelope;
use contract::ids::{Key, RunId};
use contract::person::{AllowedFor, Answer, Ask};
use contract::run::{RunHeader, RunStatus, RunSummary};
use contract::run_state::RunState;
use contract::{AppError, event::RunEvent};
use engine::{Controls, GoOn, World};
use futures::FutureExt;
use store::{RunFilter, RunLock};

use crate::active_runs::Outcome;
use crate::app::{App, Rooms};
use crate::clock::new_run_id;
use crate::error::{ToAppError, run_busy, run_ended, run_not_found};
use crate::event_log::Signal;
use crate::{sample, world};

/// How many entries of a journal are read at once.
const PAGE: u32 = 500;

impl App {
    /// Starts a run, and drives it until it ends or waits for a person who is not there.
    pub async fn start(&self, header: RunHeader) -> Result<RunId, AppError> {
        let world = world::of(&self.rooms, &header).await?;
        let run = new_run_id();
        let lock = self.lock(&run).await?;
        let now = self.rooms.clock.now_ms();
        engine::start(&*self.rooms.journal, &run, header, now)
            .await
            .map_err(ToAppError::to_app_error)?;
        self.drive(&run, lock, world, Arc::default());
        Ok(run)
    }

    /// Continues a run that was interrupted, waits for a person, or ended because a planner or a judge failed.
    /// Continuing one that is at work changes nothing.
    pub async fn resume(&self, run: &RunId) -> Result<(), AppError> {
        let summary = self.summary(run).await?;
        if self.rooms.active.is_active(run) {
            return Ok(());
        }
        self.refuse_imported(run).await?;
        if summary.status.is_end() {
            self.refuse_undone(run).await?;
        }
        let world = world::of(&self.rooms, &self.header_of(run).await?).await?;
        let Some(lock) = self.lock_unless_active(run).await? else {
            return Ok(());
        };
        if summary.status.is_end() || summary.status == RunStatus::Paused {
            let how = GoOn {
                why: "A person continued the run.".to_owned(),
                ..GoOn::default()
            };
            if !engine::go_on(run, &world, &how)
                .await
                .map_err(ToAppError::to_app_error)?
            {
                return Err(run_ended());
            }
        }
        self.drive(run, lock, world, Arc::default());
        Ok(())
    }

    /// Brings a person's answer to the question that a run waits with, and drives the run if nobody does.
    pub async fn answer(&self, run: &RunId, key: &Key, answer: Answer) -> Result<(), AppError> {
        self.refuse_imported(run).await?;
        let state = self.state(run).await?;
        let Some(waiting) = state.questions().find(|waiting| waiting.key == *key) else {
            return Err(nobody_waits());
        };
        check_answer(&waiting.ask, &answer)?;
        if let Answer::ApproveEdited { plan, .. } = &answer {
            self.check_edited(run, &state, plan).await?;
        }
        self.keep_if_for_task(run, &waiting.ask, &answer).await?;
        let approvals = &self.rooms.approvals;
        if self.rooms.active.is_active(run) {
            return approvals.give(run, key, answer);
        }
        // Looked at before the answer is kept, so that an answer is never left behind where nobody reads it.
        let world = world::of(&self.rooms, &self.header_of(run).await?).await?;
        let lock = self.lock_unless_active(run).await?;
        approvals.give(run, key, answer)?;
        if let Some(lock) = lock {
            self.drive(run, lock, world, Arc::default());
        }
        Ok(())
    }

    /// Ends a run as stopped by a person, whether somebody drives it or not.
    pub async fn stop(&self, run: &RunId) -> Result<(), AppError> {
        self.refuse_imported(run).await?;
        let summary = self.summary(run).await?;
        if self.rooms.active.stop(run) {
            return Ok(());
        }
        if summary.status.is_end() {
            return Err(run_ended());
        }
        let world = world::for_ending(&self.rooms, &self.header_of(run).await?).await;
        let Some(lock) = self.lock_unless_active(run).await? else {
            self.rooms.active.stop(run);
            return Ok(());
        };
        let controls = Controls::default();
        controls.stop.cancel();
        self.drive(run, lock, world, Arc::new(controls));
        Ok(())
    }

    /// How the driving of a run ends; for a run that this process never drove, how it stands.
    pub async fn outcome(&self, run: &RunId) -> Result<Outcome, AppError> {
        if let Some(outcome) = self.rooms.active.outcome(run).await {
            return Ok(outcome);
        }
        let state = self.state(run).await?;
        Ok(match state.result {
            Some(result) => Outcome::Finished(result),
            None if state.paused => Outcome::Paused,
            None => Outcome::Waiting,
        })
    }

    /// Leaves a run where it stands, to be continued later.
    pub async fn leave(&self, run: &RunId) {
        self.rooms.active.leave(run).await;
    }

    /// A run as a list shows it.
    pub async fn summary(&self, run: &RunId) -> Result<RunSummary, AppError> {
        let found = self
            .rooms
            .store
            .runs()
            .get(run)
            .await
            .map_err(ToAppError::to_app_error)?;
        found.ok_or_else(run_not_found)
    }

    /// How a run began.
    pub async fn header_of(&self, run: &RunId) -> Result<RunHeader, AppError> {
        let first = self
            .rooms
            .journal
            .read(run, 1, 1)
            .await
            .map_err(ToAppError::to_app_error)?;
        match first.into_iter().next().map(|record| record.event) {
            Some(RunEvent::RunStarted { header }) => Ok(*header),
            Some(_) | None => Err(run_not_found()),
        }
    }

    /// Everything that its events say about a run.
    pub async fn state(&self, run: &RunId) -> Result<RunState, AppError> {
        let mut state = RunState::default();
        loop {
            let from = state.last_seq + 1;
            let page = self
                .rooms
                .journal
                .read(run, from, PAGE)
                .await
                .map_err(ToAppError::to_app_error)?;
            for record in &page {
                state.apply(record);
            }
            if page.len() < PAGE as usize {
                return if state.header.is_some() {
                    Ok(state)
                } else {
                    Err(run_not_found())
                };
            }
        }
    }

    /// The newest run that began in the same way and is not at its end.
    pub async fn find_unfinished(&self, header: &RunHeader) -> Result<Option<RunSummary>, AppError> {
        self.find_open(|summary, found| summary.folder == header.envelope.folder && same_beginning(found, header))
            .await
    }

    /// The newest run of the sample that is not at its end, in this folder or in any.
    pub async fn find_unfinished_sample(&self, folder: Option<&Path>) -> Result<Option<RunSummary>, AppError> {
        let label = sample::recording()?.label;
        let folder = folder.map(|folder| folder.canonicalize().unwrap_or_else(|_| folder.to_owned()));
        let here = |summary: &RunSummary| {
            folder
                .as_ref()
                .is_none_or(|folder| Path::new(&summary.folder) == folder)
        };
        self.find_open(|summary, found| here(summary) && found.recording.as_deref() == Some(label.as_str()))
            .await
    }

    /// The newest run like this that is not at its end and may go on here.
    async fn find_open(
        &self,
        wanted: impl Fn(&RunSummary, &RunHeader) -> bool,
    ) -> Result<Option<RunSummary>, AppError> {
        let status = Some(vec![RunStatus::Running, RunStatus::Waiting, RunStatus::Paused]);
        let filter = RunFilter {
            status,
            ..RunFilter::default()
        };
        let mut cursor: Option<String> = None;
        loop {
            let page = self.rooms.store.runs().list(&filter, cursor.as_deref(), PAGE).await;
            let page = page.map_err(ToAppError::to_app_error)?;
            for summary in page.runs {
                let run = &summary.run_id;
                if wanted(&summary, &self.header_of(run).await?) && self.mark_of(run).await?.is_none() {
                    return Ok(Some(summary));
                }
            }
            cursor = page.next;
            if cursor.is_none() {
                return Ok(None);
            }
        }
    }

    /// The lock without which nobody writes to a run. Of a run that is only to be looked at there is none.
    pub(crate) async fn lock(&self, run: &RunId) -> Result<RunLock, AppError> {
        self.refuse_imported(run).await?;
        let lock = self.rooms.store.lock_run(run).map_err(ToAppError::to_app_error)?;
        lock.ok_or_else(run_busy)
    }

    /// The run's lock; none when this process came to drive it meanwhile.
    pub(crate) async fn lock_unless_active(&self, run: &RunId) -> Result<Option<RunLock>, AppError> {
        match self.lock(run).await {
            Ok(lock) => Ok(Some(lock)),
            Err(_) if self.rooms.active.is_active(run) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn drive(&self, run: &RunId, lock: RunLock, world: World, controls: Arc<Controls>) {
        let (driven, controlled) = (run.clone(), Arc::clone(&controls));
        let drive = async move { engine::drive_with(&driven, &world, &controlled).await }.boxed();
        let (rooms, ended) = (Arc::clone(&self.rooms), run.clone());
        let tell = move |outcome: &Outcome| rooms.driving_ended(&ended, outcome);
        self.rooms.active.begin(run.clone(), lock, controls, drive, tell);
    }
}

impl Rooms {
    fn driving_ended(&self, run: &RunId, outcome: &Outcome) {
        self.approvals.forget(run);
        self.events.run_left(run);
        // MCP servers are at work as long as a run is.
        if !self.active.any_beside(run) {
            self.servers.end_all();
        }
        match outcome {
            Outcome::Finished(result) => tracing::info!(%run, status = ?result.status, "run ended"),
            Outcome::Waiting => tracing::info!(%run, "run waits for a person"),
            Outcome::Paused => tracing::info!(%run, "run paused"),
            Outcome::Interrupted(error) => {
                tracing::warn!(%run, code = %error.code, %error, "run interrupted");
                self.events.say(Signal::Interrupted {
                    run_id: run.clone(),
                    error: error.clone(),
                });
            }
        }
        self.events.say(Signal::RunsChanged);
    }
}

/// Whether a run began with the same work and the same grants.
fn same_beginning(one: &RunHeader, other: &RunHeader) -> bool {
    one.task == other.task
        && one.roles == other.roles
        && one.recording == other.recording
        && one.rules == other.rules
        && one.hooks == other.hooks
        && one.flow == other.flow
        && granted(one) == granted(other)
}

/// What a person granted when a run began, without its limits and what is kept for its task.
fn granted(header: &RunHeader) -> Envelope {
    Envelope {
        max_tokens: 0,
        max_cycles: 0,
        max_cost: None,
        max_minutes: None,
        kept: Vec::new(),
        ..header.envelope.clone()
    }
}

fn nobody_waits() -> AppError {
    AppError::new("nobody_waits", "the run does not wait for an answer to this question")
        .hint("Look at the run again: it has gone on, or asks something else now.")
}

fn check_answer(ask: &Ask, answer: &Answer) -> Result<(), AppError> {
    let fits = match (ask, answer) {
        (Ask::ApprovePlan { .. } | Ask::RunStep { .. }, Answer::Approve { .. } | Answer::Reject { .. })
        | (Ask::ApprovePlan { .. }, Answer::ApproveEdited { .. }) => true,
        (_, Answer::AllowedMeanwhile) => false,
        (
            Ask::AllowEffect { .. },
            Answer::Allow {
                scope: AllowedFor::Run | AllowedFor::Task,
            }
            | Answer::Reject { .. }
            | Answer::StopRun,
        ) => true,
        (Ask::AllowEffect { .. }, _) => false,
        (Ask::Permission { .. }, Answer::Allow { .. } | Answer::Reject { .. } | Answer::StopRun) => true,
        (Ask::Permission { .. }, _) | (_, Answer::Allow { .. }) => false,
        (
            Ask::RunStep { .. },
            Answer::ApproveEdited { .. }
            | Answer::AskForChanges { .. }
            | Answer::MarkDone
            | Answer::RunAgain
            | Answer::StopRun
            | Answer::Reply { .. },
        ) => false,
        (Ask::ApprovePlan { .. }, Answer::AskForChanges { words }) => {
            if words.trim().is_empty() {
                return Err(
                    AppError::new("no_words", "there are no words about what should be different")
                        .hint("Write what the plan should do differently, or approve it."),
                );
            }
            true
        }
        (Ask::ApprovePlan { .. }, Answer::MarkDone | Answer::RunAgain | Answer::StopRun | Answer::Reply { .. }) => {
            false
        }
        (Ask::Gate { question: None, .. }, Answer::Approve { .. } | Answer::Reject { .. } | Answer::StopRun) => true,
        (Ask::Gate { question: Some(_), .. }, Answer::Reject { .. } | Answer::StopRun) => true,
        (
            Ask::Gate {
                question: Some(schema), ..
            },
            Answer::Reply { value },
        ) => {
            let problems = engine::schema::problems(schema, value);
            if let Some(first) = problems.first() {
                return Err(
                    AppError::new("answer_does_not_fit", format!("the answer does not fit: {first}"))
                        .hint("Answer with what the flow asks for."),
                );
            }
            true
        }
        (
            Ask::Gate { .. },
            Answer::Approve { .. }
            | Answer::ApproveEdited { .. }
            | Answer::AskForChanges { .. }
            | Answer::MarkDone
            | Answer::RunAgain
            | Answer::Reply { .. },
        ) => false,
        (Ask::UncertainEffect { .. }, Answer::MarkDone | Answer::RunAgain | Answer::StopRun) => true,
        (
            Ask::UncertainEffect { .. },
            Answer::Approve { .. }
            | Answer::ApproveEdited { .. }
            | Answer::Reject { .. }
            | Answer::AskForChanges { .. }
            | Answer::Reply { .. },
        ) => false,
    };
    if fits {
        return Ok(());
    }
    Err(AppError::new(
        "wrong_answer",
        "this answer does not belong to the question that the run asks",
    )
    .hint("Look at the run again, and answer what it asks now."))
}
