//! Tasks as text: check, open, save.

use std::path::Path;

use contract::AppError;
use contract::error::Problem;
use contract::rule::HookRule;
use contract::task::Task;
use contract::task_effect::AskedEffect;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::app::App;
use crate::error::{ToAppError, thread_ended};
use crate::{new_run, task_desk, task_files};

/// A task's text to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckTask {
    /// YAML or JSON.
    pub source: String,
    /// The folder that a run of it would work in, when it is known: what was allowed for this task before is said then.
    #[serde(default)]
    #[ts(optional)]
    pub folder: Option<String>,
}

/// What a task's text says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct CheckedTask {
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings. Text that is not YAML at all is one problem with its
    /// line and column.
    pub problems: Vec<Problem>,
    /// The rules that the task asks for, in words; they are off until a person allows them for a run.
    pub hooks: Vec<String>,
    /// What the task would have the app do by itself: commands and webhooks as rules, commands as checks. Each is off until
    /// a person allows exactly it; `allowed` says that they did for this task.
    pub effects: Vec<AskedEffect>,
}

/// A file that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenTask {
    /// Absolute.
    pub path: String,
}

/// A task's file as it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenedTask {
    /// The text of the file, unchanged.
    pub source: String,
    /// Where it is, absolute.
    pub path: String,
    /// The folder that a run of it would work in: the file's own, or the one inside it that the task asks for.
    pub folder: String,
    /// The task, when nothing must be put right.
    pub task: Option<Task>,
    /// Everything that must be put right, and the warnings.
    pub problems: Vec<Problem>,
}

/// A task's text to write to a file that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct SaveTask {
    /// Absolute, ending in `.yaml`, `.yml` or `.json`.
    pub path: String,
    /// The text, written as it is.
    pub source: String,
}

/// Tasks that were saved to a file, newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecentTasks {
    /// The tasks.
    pub tasks: Vec<RecentTask>,
}

/// A task that was saved to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct RecentTask {
    /// What it is called.
    pub title: String,
    /// Where it is, absolute.
    pub path: String,
    /// When it was last saved or opened.
    pub updated_at_ms: i64,
}

/// How many recent tasks are told.
const RECENT: u32 = 20;

/// Says what a task's text says, with every problem.
pub async fn check(app: &App, request: CheckTask) -> Result<CheckedTask, AppError> {
    let CheckTask { source, folder } = request;
    let (_, reading) = blocking(move || task_files::check(&source)).await?;
    let rules = reading.task.as_ref().map(new_run::rules_asked).unwrap_or_default();
    let effects = match &reading.task {
        Some(task) => app.effects_of(task, folder.as_deref()).await?,
        None => Vec::new(),
    };
    Ok(CheckedTask {
        hooks: rules.iter().map(HookRule::words).collect(),
        effects,
        task: reading.task,
        problems: reading.problems,
    })
}

/// Reads a task's file.
pub async fn open(app: &App, request: OpenTask) -> Result<OpenedTask, AppError> {
    let opened = blocking(move || task_desk::open(Path::new(&request.path))).await?;
    let opened = opened.map_err(ToAppError::to_app_error)?;
    if let Some(task) = &opened.task {
        task_desk::remember(app, task.title(), &opened.path, &opened.source).await?;
    }
    Ok(opened)
}

/// Writes a task's text to its file, as a whole or not at all.
pub async fn save(app: &App, request: SaveTask) -> Result<(), AppError> {
    let SaveTask { path, source } = request;
    let text = source.clone();
    let place = path.clone();
    blocking(move || task_desk::write(Path::new(&place), &text)).await??;
    let (_, reading) = task_files::check(&source);
    let title = reading
        .task
        .map_or_else(|| task_desk::name_of(Path::new(&path)), |task| task.title());
    task_desk::remember(app, title, &path, &source).await
}

/// The tasks that were saved or opened last.
pub async fn recent(app: &App, (): ()) -> Result<RecentTasks, AppError> {
    let tasks = app
        .rooms
        .store
        .tasks()
        .recent(RECENT)
        .await
        .map_err(ToAppError::to_app_error)?;
    let in_files = tasks.into_iter().filter_map(|task| {
        Some(RecentTask {
            title: task.title,
            path: task.path?,
            updated_at_ms: task.updated_at_ms,
        })
    });
    Ok(RecentTasks {
        tasks: in_files.collect(),
    })
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, AppError> {
    tokio::task::spawn_blocking(work).await.map_err(thread_ended)
}
