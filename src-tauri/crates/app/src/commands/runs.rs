//! Runs: start, list, follow, answer, stop, continue.

use std::path::Path;

use contract::event::RunEventRecord;
use contract::found::Found;
use contract::person::Answer;
use contract::run::{RunReport, RunResult, RunStatus, RunSummary, StopReason};
use contract::task::Approval;
use contract::{AppError, Key, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{CostRange, RunFilter};
use ts_rs::TS;

use crate::app::App;
use crate::archive::Archived;
use crate::error::ToAppError;
use crate::estimate::Estimate;
use crate::export::{ExportForm, Written};
use crate::new_run::RunOptions;
use crate::plan_edits::CheckedPlan;
use crate::recordings::Recorded;
use crate::steering::{LimitsChange, Wait};
use crate::task_files::{self, Syntax};

/// A task to run, in a folder that a person picked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartRun {
    /// The task's text, YAML or JSON.
    pub source: String,
    /// The working folder, absolute.
    pub folder: String,
    /// What to call the run; the task's own title when absent.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub title: Option<String>,
    /// What is different for this run: limits, models, approval, and whether the task's rules are allowed.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub options: Option<RunOptions>,
}

/// A run that began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct StartedRun {
    /// Its id.
    pub run_id: RunId,
}

/// One run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OneRun {
    /// Which.
    pub run_id: RunId,
}

/// A page of history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ListRuns {
    /// Where the page before ended.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cursor: Option<String>,
    /// The most runs to return; 1 to 200.
    pub limit: u32,
    /// Only runs that stand like this; all when absent or empty.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub status: Option<Vec<RunStatus>>,
    /// Only runs whose title, goal or feedback has every word of this, or a longer word that begins so.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub text: Option<String>,
    /// Only runs that ended for this reason; `status` then counts for nothing.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub ended: Option<StopReason>,
    /// Only runs that asked this model, as `provider:model`.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub model: Option<String>,
    /// Only runs that cost so much or more, in the currency of their prices; what is not known counts as nothing.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cost_from: Option<f64>,
    /// Only runs that cost less than this.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub cost_below: Option<f64>,
}

/// Runs, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunPage {
    /// The runs.
    pub runs: Vec<RunSummary>,
    /// Where the next page starts; none at the end.
    pub next: Option<String>,
    /// Where the wanted words stand in them, where that can be shown; nothing when no words were wanted.
    pub found: Vec<Found>,
}

/// The models that can be asked for in a list of runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AskedModels {
    /// Each that a run of the history asked, as `provider:model`.
    pub models: Vec<String>,
}

/// Part of a run's journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadEvents {
    /// Whose.
    pub run_id: RunId,
    /// The first entry wanted; they count from 1.
    pub from_seq: u64,
    /// The most entries to return; 1 to 1000.
    pub limit: u32,
}

/// Entries of a run's journal, in order and without gaps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    /// The entries; fewer than asked for only at the end.
    pub events: Vec<RunEventRecord>,
}

/// What a model has said so far in a call that is still at work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunningText {
    /// The call's key.
    pub key: Key,
    /// Its words, or the arguments of the tool it calls, so far.
    pub text: String,
    /// Its thoughts so far, where it shows them.
    pub reasoning: String,
}

/// A person's answer to the question that a run waits with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AnswerRun {
    /// Which run.
    pub run_id: RunId,
    /// The question's key, as the run's state has it.
    pub key: Key,
    /// The answer.
    pub answer: Answer,
}

/// Starts a run.
pub async fn start(app: &App, request: StartRun) -> Result<StartedRun, AppError> {
    let value = task_files::parse(&request.source, Syntax::Yaml).map_err(ToAppError::to_app_error)?;
    let options = request.options.unwrap_or_default();
    let mut header = app
        .header_with(&value, &request.folder, request.title, &options)
        .await?;
    // A file asks; only a person grants.
    if options.approval.is_none() {
        header.task.approval = Approval::EveryPlan;
    }
    Ok(StartedRun {
        run_id: app.start(header).await?,
    })
}

/// A page of history.
pub async fn list(app: &App, request: ListRuns) -> Result<RunPage, AppError> {
    let cost = CostRange {
        from: request.cost_from,
        below: request.cost_below,
    };
    let filter = RunFilter {
        status: request.status,
        text: request.text,
        ended: request.ended,
        model: request.model,
        cost: (cost != CostRange::default()).then_some(cost),
    };
    let limit = request.limit.clamp(1, 200);
    let page = app
        .rooms
        .store
        .runs()
        .list(&filter, request.cursor.as_deref(), limit)
        .await;
    let page = page.map_err(ToAppError::to_app_error)?;
    Ok(RunPage {
        runs: page.runs,
        next: page.next,
        found: page.found,
    })
}

/// The models that runs of the history asked.
pub async fn models(app: &App, (): ()) -> Result<AskedModels, AppError> {
    let models = app
        .rooms
        .store
        .runs()
        .models()
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(AskedModels { models })
}

/// One run as a list shows it.
pub async fn get(app: &App, request: OneRun) -> Result<RunSummary, AppError> {
    app.summary(&request.run_id).await
}

/// Part of a run's journal.
pub async fn events(app: &App, request: ReadEvents) -> Result<EventPage, AppError> {
    let (from, limit) = (request.from_seq.max(1), request.limit.clamp(1, 1000));
    let events = app
        .rooms
        .journal
        .read(&request.run_id, from, limit)
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(EventPage { events })
}

/// What the models of a run have said so far in calls that are still at work.
pub async fn deltas(app: &App, request: OneRun) -> Result<Vec<RunningText>, AppError> {
    Ok(app.rooms.events.running_texts(&request.run_id))
}

/// Answers the question that a run waits with.
pub async fn answer(app: &App, request: AnswerRun) -> Result<(), AppError> {
    app.answer(&request.run_id, &request.key, request.answer).await
}

/// Ends a run at the next safe place.
pub async fn stop(app: &App, request: OneRun) -> Result<(), AppError> {
    app.stop(&request.run_id).await
}

/// Takes a run up where it stands.
pub async fn resume(app: &App, request: OneRun) -> Result<(), AppError> {
    app.resume(&request.run_id).await
}

/// Continues a run as a fork, where its history and what it would do now part.
pub async fn fork(app: &App, request: OneRun) -> Result<StartedRun, AppError> {
    let run_id = app.fork(&request.run_id).await?;
    Ok(StartedRun { run_id })
}

/// Words for a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct GuideRun {
    /// Which run.
    pub run_id: RunId,
    /// What its next planner is told.
    pub words: String,
}

/// A run to accept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct AcceptRun {
    /// Which run.
    pub run_id: RunId,
    /// Why, for the record.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub words: Option<String>,
}

/// More room for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RaiseBudget {
    /// Which run.
    pub run_id: RunId,
    /// Where it stops from now on.
    pub limits: LimitsChange,
}

/// Finishes what is at work in a run and begins nothing else, until it is continued.
pub async fn pause(app: &App, request: OneRun) -> Result<(), AppError> {
    app.pause(&request.run_id).await
}

/// Tells the next planner of a run something; a run that ended gets one more cycle.
pub async fn guide(app: &App, request: GuideRun) -> Result<(), AppError> {
    app.guide(&request.run_id, &request.words).await
}

/// Accepts what a run made, whatever its judge said.
pub async fn accept(app: &App, request: AcceptRun) -> Result<RunResult, AppError> {
    app.accept(&request.run_id, request.words.as_deref()).await
}

/// Changes where a run stops, and lets it go on.
pub async fn raise_budget(app: &App, request: RaiseBudget) -> Result<(), AppError> {
    app.raise(&request.run_id, &request.limits).await
}

/// A run to write as a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecordRun {
    /// Which run.
    pub run_id: RunId,
    /// The file to write, absolute.
    pub path: String,
    /// Whether a file that is there may be replaced: a person was asked about it.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub replace: bool,
}

/// Writes a run as a recording, which can be played in the place of models.
pub async fn record(app: &App, request: RecordRun) -> Result<Recorded, AppError> {
    let path = Path::new(&request.path);
    if !path.is_absolute() {
        return Err(AppError::new(
            "invalid_request",
            "the file of a recording is named from the root of the disk",
        )
        .hint("Choose where the recording should go."));
    }
    app.record_over(&request.run_id, path, request.replace).await
}

/// A recording to play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PlayRecording {
    /// Its file, absolute.
    pub path: String,
    /// The working folder, absolute.
    pub folder: String,
}

/// Starts the task of a recording with the recording in the place of its models.
pub async fn play(app: &App, request: PlayRecording) -> Result<StartedRun, AppError> {
    let mut header = app
        .header_of_recording(&request.folder, Path::new(&request.path))
        .await?;
    // A file asks; only a person grants.
    header.task.approval = Approval::EveryPlan;
    Ok(StartedRun {
        run_id: app.start(header).await?,
    })
}

/// A plan that a person is changing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckPlan {
    /// The run that asks about its plan.
    pub run_id: RunId,
    /// The plan as it is now; it may break every rule.
    #[ts(type = "unknown")]
    pub plan: Value,
}

/// Holds a plan that a person is changing against the rules of plans.
pub async fn check_plan(app: &App, request: CheckPlan) -> Result<CheckedPlan, AppError> {
    app.check_plan(&request.run_id, &request.plan).await
}

/// A run to write to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportRun {
    /// Which run; to be written whole it has to be at its end.
    pub run_id: RunId,
    /// The file to write, absolute; it must not be there yet.
    pub path: String,
    /// As what it is written for others; absent, it is written whole.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub form: Option<ExportForm>,
}

/// A file to take a run from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ImportRun {
    /// The file, absolute.
    pub path: String,
}

/// A run that was written to a file or read from one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ExportedRun {
    /// Which run.
    pub run_id: RunId,
    /// What it is called.
    pub title: String,
    /// The file, absolute.
    pub path: String,
}

impl From<Archived> for ExportedRun {
    fn from(archived: Archived) -> Self {
        Self {
            run_id: archived.run_id,
            title: archived.title,
            path: archived.file.display().to_string(),
        }
    }
}

impl From<Written> for ExportedRun {
    fn from(written: Written) -> Self {
        Self {
            run_id: written.run_id,
            title: written.title,
            path: written.file.display().to_string(),
        }
    }
}

/// Writes a run to a file, whole or for others.
pub async fn export(app: &App, request: ExportRun) -> Result<ExportedRun, AppError> {
    let path = absolute(&request.path)?;
    let folder = path.parent().unwrap_or(path);
    match request.form {
        None => Ok(app.export(&request.run_id, Some(path), folder).await?.into()),
        Some(form) => Ok(app.export_as(&request.run_id, form, Some(path), folder).await?.into()),
    }
}

/// Takes a run from a file into the history.
pub async fn import(app: &App, request: ImportRun) -> Result<ExportedRun, AppError> {
    Ok(app.import(absolute(&request.path)?).await?.into())
}

fn absolute(path: &str) -> Result<&Path, AppError> {
    let path = Path::new(path);
    if path.is_absolute() {
        return Ok(path);
    }
    Err(AppError::new("invalid_request", "the file is named from the root of the disk").hint("Choose the file again."))
}

/// Runs to delete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SomeRuns {
    /// Which; at most 200 at once.
    pub run_ids: Vec<RunId>,
}

/// What deleting runs takes with it. The files in people's folders stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct WhatGoes {
    /// How many of the runs are there.
    pub runs: u32,
    /// Entries of their journals.
    pub events: u64,
    /// Recorded values that no other run uses.
    pub values: u64,
    /// How many bytes those have.
    pub bytes: u64,
}

/// What deleting runs would take with it.
pub async fn deletion(app: &App, request: SomeRuns) -> Result<WhatGoes, AppError> {
    app.deletion(&request.run_ids).await
}

/// Deletes runs for good: all of them, or none.
pub async fn delete(app: &App, request: SomeRuns) -> Result<WhatGoes, AppError> {
    app.delete(&request.run_ids).await
}

/// The waits of a run between two attempts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunWaits {
    /// One for each account.
    pub waits: Vec<Wait>,
}

/// The waits of a run between two attempts.
pub async fn waits(app: &App, request: OneRun) -> Result<RunWaits, AppError> {
    let waits = app.waits(&request.run_id).await?;
    Ok(RunWaits { waits })
}

/// Ends them.
pub async fn try_now(app: &App, request: OneRun) -> Result<(), AppError> {
    app.try_now(&request.run_id).await
}

/// What a run will still cost when the plan that it proposes is let run; nothing while it proposes none.
pub async fn estimate(app: &App, request: OneRun) -> Result<Option<Estimate>, AppError> {
    app.estimate(&request.run_id).await
}

/// A run's result with its log and what it cost.
pub async fn report(app: &App, request: OneRun) -> Result<RunReport, AppError> {
    app.report(&request.run_id).await
}

/// A run whose task is to be run again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RunAgain {
    /// Which.
    pub run_id: RunId,
    /// The working folder, absolute; the run's own when absent, which one that was imported has not got here.
    #[serde(default)]
    #[ts(optional = nullable)]
    pub folder: Option<String>,
}

/// Runs the task of a run again.
pub async fn again(app: &App, request: RunAgain) -> Result<StartedRun, AppError> {
    Ok(StartedRun {
        run_id: app.again_in(&request.run_id, request.folder.as_deref()).await?,
    })
}
