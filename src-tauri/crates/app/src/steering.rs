//! What a person does with a run besides starting and answering: pause it, tell it something, give it more room, accept
//! what it made (goal-pipeline page, "Ends").
//!
//! A run that is at work is paused first: only whoever holds its lock writes to it, and limits are read when a drive
//! begins. Words are the exception: they go straight into the journal of the drive.

use std::collections::BTreeSet;
use std::sync::Arc;

use contract::event::RunEventRecord;
use contract::run::{RunHeader, RunReport, RunResult, RunStatus};
use contract::task::Limits;
use contract::{AppError, RunId, run_log};
use engine::GoOn;

use crate::app::App;
use crate::error::{ToAppError, run_ended};
use crate::event_log::Signal;
use crate::world;

/// A wait before the next attempt at a provider.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, ts_rs::TS)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// The account, such as `anthropic`.
    pub account: String,
    /// When it ends, in milliseconds since 1970.
    pub until_ms: i64,
}

/// The accounts whose models a run may ask.
fn accounts_of(header: &RunHeader) -> BTreeSet<&str> {
    let models = crate::new_run::models_named(header).into_iter();
    models.filter_map(|model| Some(model.split_once(':')?.0)).collect()
}

impl App {
    /// Pauses a run: what is at work is finished, nothing else begins. The run says when it stands still.
    pub async fn pause(&self, run: &RunId) -> Result<(), AppError> {
        let summary = self.summary(run).await?;
        let Some(controls) = self.rooms.active.controls(run) else {
            if summary.status.is_end() {
                return Err(run_ended());
            }
            return Err(AppError::new("not_at_work", "nobody works on this run now")
                .hint("It stands still already. Continue it whenever you like."));
        };
        controls.pause();
        Ok(())
    }

    /// Tells the planner of the next cycle something. A run that ended gets one more cycle for it.
    pub async fn guide(&self, run: &RunId, words: &str) -> Result<(), AppError> {
        let words = words.trim();
        if words.is_empty() {
            return Err(AppError::new("no_words", "there are no words to tell the run")
                .hint("Write what the next attempt should do differently."));
        }
        if let Some(controls) = self.rooms.active.controls(run) {
            return controls.guide(words).await.map_err(ToAppError::to_app_error);
        }
        let how = GoOn {
            why: "A person told the run what to do differently.".to_owned(),
            words: Some(words.to_owned()),
            limits: None,
        };
        self.go_on(run, &how).await
    }

    /// The waits between two attempts at the accounts of a run that are going on.
    pub async fn waits(&self, run: &RunId) -> Result<Vec<Wait>, AppError> {
        let header = self.header_of(run).await?;
        let mut waits = Vec::new();
        for account in accounts_of(&header) {
            let until = self.rooms.gates.of(account).waits_until_ms().into_iter().min();
            waits.extend(until.map(|until_ms| Wait {
                account: account.to_owned(),
                until_ms,
            }));
        }
        Ok(waits)
    }

    /// Ends the waits between two attempts at the accounts of a run: *Try now*. The attempt counts like any other.
    pub async fn try_now(&self, run: &RunId) -> Result<(), AppError> {
        let header = self.header_of(run).await?;
        for account in accounts_of(&header) {
            self.rooms.gates.of(account).try_now();
        }
        Ok(())
    }

    /// Changes where a run stops, and lets it go on.
    pub async fn raise(&self, run: &RunId, change: &LimitsChange) -> Result<(), AppError> {
        let header = self.state(run).await?.header.map(|header| header.task.limits);
        let limits = change.over(header.unwrap_or_default());
        crate::new_run::check_limits(&limits)?;
        if limits.max_cost.is_some() {
            crate::new_run::check_prices(&limits, &self.header_of(run).await?)?;
        }
        if let Some(controls) = self.rooms.active.controls(run) {
            controls.pause();
            self.outcome(run).await?;
        }
        let how = GoOn {
            why: "A person gave the run more room.".to_owned(),
            words: None,
            limits: Some(limits),
        };
        self.go_on(run, &how).await
    }

    /// Accepts what a run made, whatever its judge said. A run that is at work or waits is stopped first.
    pub async fn accept(&self, run: &RunId, words: Option<&str>) -> Result<RunResult, AppError> {
        self.refuse_imported(run).await?;
        if !self.summary(run).await?.status.is_end() {
            self.stop(run).await?;
            self.outcome(run).await?;
        }
        let world = world::for_ending(&self.rooms, &self.header_of(run).await?).await;
        let _lock = self.lock(run).await?;
        let accepted = engine::accept(run, &world, words)
            .await
            .map_err(ToAppError::to_app_error)?;
        self.rooms.events.say(Signal::RunsChanged);
        accepted.ok_or_else(|| {
            AppError::new("nothing_to_accept", "this run has passed already")
                .hint("Look at the run again: there is nothing left to accept.")
        })
    }

    /// The seed's `TepaResult`: the result with its log, folded from the history.
    pub async fn report(&self, run: &RunId) -> Result<RunReport, AppError> {
        let events = self.events_of(run).await?;
        let state = self.state(run).await?;
        let recorded = state.header.as_ref().is_some_and(|header| header.recording.is_some());
        let cycles = u32::try_from(state.cycles.len()).unwrap_or(u32::MAX);
        Ok(RunReport {
            status: state.status(),
            cycles,
            tokens_used: state.tokens_used,
            cost: (!recorded).then(|| state.cost.clone()),
            outputs: state
                .result
                .as_ref()
                .map(|result| result.outputs.clone())
                .unwrap_or_default(),
            logs: run_log::entries(&events),
            feedback: state
                .result
                .as_ref()
                .map(|result| result.feedback.clone())
                .unwrap_or_default(),
            stop_reason: state.result.map(|result| result.stop_reason),
        })
    }

    /// Every event of a run.
    pub(crate) async fn events_of(&self, run: &RunId) -> Result<Vec<RunEventRecord>, AppError> {
        const PAGE: u32 = 1_000;
        let mut events = Vec::new();
        loop {
            let from = events.len() as u64 + 1;
            let page = self
                .rooms
                .journal
                .read(run, from, PAGE)
                .await
                .map_err(ToAppError::to_app_error)?;
            let last = page.len() < PAGE as usize;
            events.extend(page);
            if last {
                return Ok(events);
            }
        }
    }

    /// Writes that a run goes on, and drives it.
    async fn go_on(&self, run: &RunId, how: &GoOn) -> Result<(), AppError> {
        let status = self.summary(run).await?.status;
        self.refuse_imported(run).await?;
        if how.words.is_none() {
            self.refuse_undone(run).await?;
        }
        let world = world::of(&self.rooms, &self.header_of(run).await?).await?;
        let Some(lock) = self.lock_unless_active(run).await? else {
            return Err(AppError::new("run_busy", "the run is at work again").hint("Try it once more."));
        };
        if !engine::go_on(run, &world, how)
            .await
            .map_err(ToAppError::to_app_error)?
        {
            return Err(cannot_go_on(status));
        }
        self.drive(run, lock, world, Arc::default());
        Ok(())
    }
}

fn cannot_go_on(status: RunStatus) -> AppError {
    match status {
        RunStatus::Terminated => AppError::new("no_budget", "the run has used up what it may use")
            .hint("Give it more tokens, more money or more time, then tell it what to do."),
        RunStatus::Pass | RunStatus::Fail | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => run_ended(),
    }
}

/// Limits that a person changes; what is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize, ts_rs::TS)]
#[serde(rename_all = "camelCase", default)]
#[ts(optional_fields = nullable)]
pub struct LimitsChange {
    /// The most cycles.
    pub max_cycles: Option<u32>,
    /// The most tokens.
    pub max_tokens: Option<u64>,
    /// The most money, in the currency of the settings.
    pub max_cost: Option<f64>,
    /// Takes the limit of money away.
    #[ts(optional, as = "Option<bool>")]
    pub without_max_cost: bool,
    /// The most minutes at work.
    pub max_minutes: Option<u32>,
    /// Takes the limit of time away.
    #[ts(optional, as = "Option<bool>")]
    pub without_max_minutes: bool,
    /// How long one tool execution may take, in milliseconds.
    pub tool_timeout: Option<u64>,
    /// How many steps may run at once.
    pub max_parallel: Option<u32>,
    /// How often a step without effects is repeated after a passing error.
    pub retry_attempts: Option<u32>,
}

impl LimitsChange {
    /// These limits in the place of others.
    pub fn over(&self, limits: Limits) -> Limits {
        Limits {
            max_cycles: self.max_cycles.unwrap_or(limits.max_cycles),
            max_tokens: self.max_tokens.unwrap_or(limits.max_tokens),
            max_cost: self.max_cost.or(limits.max_cost.filter(|_| !self.without_max_cost)),
            max_minutes: self
                .max_minutes
                .or(limits.max_minutes.filter(|_| !self.without_max_minutes)),
            tool_timeout: self.tool_timeout.unwrap_or(limits.tool_timeout),
            max_parallel: self.max_parallel.unwrap_or(limits.max_parallel),
            retry_attempts: self.retry_attempts.unwrap_or(limits.retry_attempts),
            ..limits
        }
    }
}
