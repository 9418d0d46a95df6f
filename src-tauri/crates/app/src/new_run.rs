//! How a run begins: a task as it was written, a folder that a person granted, and the models that are there.

use std::path::Path;

use contract::access::Envelope;
use contract::ports::files::Files;
use contract::run::{Roles, RunHeader};
use contract::task::Task;
use contract::{AppError, RunId};
use serde_json::Value;

use crate::app::App;
use crate::error::{ToAppError, task_invalid, thread_ended};
use crate::paths::Places;
use crate::roles::{self, ENDPOINT_PROVIDER};
use crate::{sample, settings, task_files, world};

impl App {
    /// How a run of this task would begin, in a folder that a person granted. `value` is the task as it was written.
    pub async fn header(&self, value: &Value, folder: &str, title: Option<String>) -> Result<RunHeader, AppError> {
        let task = self.read(value).await?;
        let roles = self.roles(&task).await?;
        let title = title
            .map(|title| title.trim().to_owned())
            .filter(|title| !title.is_empty());
        assemble(&self.rooms.places, task, folder, title, roles, None).await
    }

    /// How a run of the sample begins, in a folder that holds its data.
    async fn sample_header(&self, folder: &str) -> Result<RunHeader, AppError> {
        let task = self.read(&sample::task()?).await?;
        let recorded = format!("{}:sample", providers::replay::NAME);
        let roles = Roles {
            planner: recorded.clone(),
            judge: recorded.clone(),
            executor_low: recorded.clone(),
            executor_high: recorded,
        };
        assemble(
            &self.rooms.places,
            task,
            folder,
            None,
            roles,
            Some(sample::recording()?.label),
        )
        .await
    }

    /// How a run of the sample begins in a new folder, made for it.
    pub async fn new_sample(&self) -> Result<RunHeader, AppError> {
        let parent = self.rooms.places.samples.clone();
        let folder = tokio::task::spawn_blocking(move || sample::unpack_anew(&parent))
            .await
            .map_err(thread_ended)??;
        self.sample_header(&folder.display().to_string()).await
    }

    /// How a run of the sample begins in a folder that a person chose. Files that are there stay as they are.
    pub async fn sample_in(&self, folder: &Path) -> Result<RunHeader, AppError> {
        let folder = std::path::absolute(folder).map_err(|_| no_folder())?;
        let place = folder.clone();
        tokio::task::spawn_blocking(move || sample::unpack(&place))
            .await
            .map_err(thread_ended)??;
        self.sample_header(&folder.display().to_string()).await
    }

    /// Runs the task of an earlier run again, in the same folder, with the models that are there now.
    pub async fn again(&self, run: &RunId) -> Result<RunId, AppError> {
        let before = self.header_of(run).await?;
        let folder = &before.envelope.folder;
        let header = if before.flow.is_some() {
            before
        } else if before.recording.is_some() {
            self.sample_header(folder).await?
        } else {
            let roles = self.roles(&before.task).await?;
            assemble(&self.rooms.places, before.task, folder, Some(before.title), roles, None).await?
        };
        self.start(header).await
    }

    async fn read(&self, value: &Value) -> Result<Task, AppError> {
        let reading = task_files::read(value);
        let Some(task) = reading.task else {
            return Err(task_invalid(reading.problems));
        };
        let limits = settings::limits_of(value, &settings::read(&self.rooms.store).await?.limits);
        Ok(Task { limits, ..task })
    }

    pub(crate) async fn roles(&self, task: &Task) -> Result<Roles, AppError> {
        let mut providers: Vec<&str> = self.rooms.providers.iter().map(|provider| provider.name()).collect();
        providers.push(ENDPOINT_PROVIDER);
        let saved = settings::read(&self.rooms.store).await?.endpoint;
        let endpoint = self.rooms.endpoint.as_ref().or(saved.as_ref());
        roles::assign(task.models.as_ref(), endpoint, &providers)
    }
}

pub(crate) async fn assemble(
    places: &Places,
    task: Task,
    folder: &str,
    title: Option<String>,
    roles: Roles,
    recording: Option<String>,
) -> Result<RunHeader, AppError> {
    let folder = folder.trim();
    if !Path::new(folder).is_absolute() {
        return Err(no_folder());
    }
    let folder = world::folder(folder).await.map_err(ToAppError::to_app_error)?;
    if places.are_in(Path::new(folder.root())) {
        return Err(own_data(folder.root()));
    }
    let envelope = Envelope {
        folder: folder.root().to_owned(),
        write: true,
        max_tokens: task.limits.max_tokens,
        max_cycles: task.limits.max_cycles,
    };
    Ok(RunHeader {
        title: title.unwrap_or_else(|| task.title()),
        task,
        envelope,
        roles,
        hooks: Vec::new(),
        recording,
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
        flow: None,
    })
}

/// The folder holds what the app remembers.
pub(crate) fn own_data(folder: &str) -> AppError {
    AppError::new(
        "folder_of_tepa",
        format!("Tepa keeps its own history and settings in \"{folder}\", so a run must not work there"),
    )
    .hint("Choose a folder that holds only what the task is about.")
}

fn no_folder() -> AppError {
    AppError::new("no_folder", "no working folder was chosen")
        .hint("Choose the folder that the run may read and change.")
}
