//! Recordings: any run written as one, and a task run again with one in the place of its models (models page, "Providers":
//! Replay).
//!
//! A recording that is played is kept in the data folder under the address of its bytes, so that the run can be continued
//! wherever its file went meanwhile; the run's roles name it by that address. The sample's is part of the app.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use contract::event::{Purpose, RunEvent};
use contract::llm::{LlmRequest, LlmResponse};
use contract::run::{Roles, RunHeader};
use contract::{AppError, Hash, Key, RunId, ValueRef, dates};
use engine::flow::reading::Refs;
use providers::recording::{RecordedCall, Recording, VERSION, request_hash};
use serde::Serialize;
use serde_json::Value;
use ts_rs::TS;
use workspace::save::save;

use crate::app::{App, Rooms};
use crate::error::{ToAppError, internal, thread_ended};
use crate::new_flow::FlowInput;
use crate::new_run::RunOptions;
use crate::sample;

/// Where recordings that are played are kept, in the data folder.
const FOLDER: &str = "recordings";
/// The name of the sample's recording after the colon of a role.
pub(crate) const SAMPLE: &str = "sample";
/// The largest recording that is read.
const LARGEST: u64 = 256 << 20;
/// How many events are read at once.
const PAGE: u32 = 500;

/// A recording that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Recorded {
    /// Where it is.
    pub file: String,
    /// How many answers it has.
    pub calls: u64,
}

/// A question of a run that has no answer yet.
struct Open {
    purpose: Purpose,
    request: LlmRequest,
}

impl App {
    /// Everything that the models of a run answered, as a recording.
    pub async fn recording_of(&self, run: &RunId) -> Result<Recording, AppError> {
        let header = self.header_of(run).await?;
        let (mut open, mut calls) = (BTreeMap::new(), Vec::new());
        let mut last_seq = 0;
        loop {
            let page = self.rooms.journal.read(run, last_seq + 1, PAGE).await;
            let page = page.map_err(ToAppError::to_app_error)?;
            for record in &page {
                last_seq = record.seq;
                match &record.event {
                    RunEvent::ModelCallStarted { purpose, request, .. } => {
                        let leaf = record.key.as_str();
                        let leaf = Key::new(leaf.strip_suffix(":started").unwrap_or(leaf));
                        let request: LlmRequest = self.value(request).await?;
                        let purpose = *purpose;
                        open.insert(leaf, Open { purpose, request });
                    }
                    RunEvent::ModelCallFinished {
                        response: Some(response),
                        duration_ms,
                        ..
                    } => {
                        let response: LlmResponse = self.value(&response.value).await?;
                        let asked: Option<Open> = open.remove(&record.key);
                        calls.push(recorded(record.key.clone(), asked, response, *duration_ms));
                    }
                    _ => {}
                }
            }
            if page.len() < PAGE as usize {
                break;
            }
        }
        if calls.is_empty() {
            return Err(
                AppError::new("nothing_recorded", "no model answered anything in this run")
                    .hint("Choose a run whose models answered."),
            );
        }
        let mut models: Vec<&str> = calls.iter().map(|call| call.response.model.as_str()).collect();
        models.sort_unstable();
        models.dedup();
        let source = format!(
            "{}, recorded on {}",
            models.join(", "),
            dates::day(self.rooms.clock.now_ms())
        );
        let task = header.flow.is_none().then(|| serde_json::to_value(&header.task));
        Ok(Recording {
            version: VERSION,
            label: header.title,
            source: Some(source),
            task: task.and_then(Result::ok),
            calls,
        })
    }

    /// Writes a run as a recording into a file that is not there yet.
    pub async fn record(&self, run: &RunId, file: &Path) -> Result<Recorded, AppError> {
        self.record_over(run, file, false).await
    }

    /// The same; a file that is there is replaced where a person agreed to that, and stays whole until the new one is.
    pub(crate) async fn record_over(&self, run: &RunId, file: &Path, replace: bool) -> Result<Recorded, AppError> {
        let recording = self.recording_of(run).await?;
        let calls = recording.calls.len() as u64;
        let mut text = serde_json::to_string_pretty(&recording).map_err(|error| internal(error.to_string()))?;
        text.push('\n');
        let (place, shown) = (file.to_owned(), file.display().to_string());
        tokio::task::spawn_blocking(move || {
            if replace {
                return save(&place, text.as_bytes());
            }
            let mut file = File::create_new(&place)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .await
        .map_err(thread_ended)?
        .map_err(|error| unwritable(&shown, &error))?;
        Ok(Recorded { file: shown, calls })
    }

    /// How a run of this task begins whose models are played from a recording's file.
    pub async fn header_played(
        &self,
        value: &Value,
        folder: &str,
        options: &RunOptions,
        file: &Path,
    ) -> Result<RunHeader, AppError> {
        let (text, recording) = open(file).await?;
        self.header_of_played(value, folder, options, text, recording).await
    }

    /// How a run of this flow begins whose models are played from a recording's file.
    pub async fn flow_header_played(
        &self,
        value: &Value,
        refs: &Refs,
        given: FlowInput,
        folder: &str,
        options: &RunOptions,
        file: &Path,
    ) -> Result<RunHeader, AppError> {
        let (text, recording) = open(file).await?;
        let played = self.played(text, recording).await?;
        self.flow_header_by(value, refs, given, folder, None, options, Some(played))
            .await
    }

    /// How a run begins that plays a recording's own task.
    pub async fn header_of_recording(&self, folder: &str, file: &Path) -> Result<RunHeader, AppError> {
        let (text, recording) = open(file).await?;
        let Some(task) = recording.task.clone() else {
            let message = "this recording does not say which task it was made with";
            return Err(AppError::new("recording_without_task", message)
                .hint("Play it in the terminal, together with the task's file: `tepa run TASK --recording FILE`."));
        };
        let options = RunOptions::default();
        self.header_of_played(&task, folder, &options, text, recording).await
    }

    async fn header_of_played(
        &self,
        value: &Value,
        folder: &str,
        options: &RunOptions,
        text: String,
        recording: Recording,
    ) -> Result<RunHeader, AppError> {
        let played = self.played(text, recording).await?;
        self.header_by(value, folder, None, options, Some(played)).await
    }

    /// Keeps a recording, and says who plays it.
    async fn played(&self, text: String, recording: Recording) -> Result<(Roles, String), AppError> {
        let name = name_of(text.as_bytes());
        keep(&self.rooms, &name, text).await?;
        let model = format!("{}:{name}", providers::replay::NAME);
        Ok((Roles::all(model), recording.label))
    }

    pub(crate) async fn value<T: serde::de::DeserializeOwned>(&self, named: &ValueRef) -> Result<T, AppError> {
        if let Some(value) = &named.inline {
            return serde_json::from_value(value.clone()).map_err(|error| internal(error.to_string()));
        }
        let bytes = self.rooms.journal.artifact(&named.hash).await;
        let bytes = bytes.map_err(ToAppError::to_app_error)?;
        let bytes = bytes.ok_or_else(|| internal(format!("the value {} is missing", named.hash.as_str())))?;
        serde_json::from_slice(&bytes).map_err(|error| internal(error.to_string()))
    }
}

/// A recording's file, with its text.
async fn open(file: &Path) -> Result<(String, Recording), AppError> {
    let (place, shown) = (file.to_owned(), file.display().to_string());
    let text = tokio::task::spawn_blocking(move || read(&place))
        .await
        .map_err(thread_ended)?
        .map_err(|error| unreadable(&format!("\"{shown}\" cannot be read: {error}")))?;
    let recording = Recording::from_json(&text).map_err(|error| unreadable(&error.to_string()))?;
    Ok((text, recording))
}

/// The recording that a run is played from.
pub(crate) async fn of(rooms: &Rooms, header: &RunHeader, label: &str) -> Result<Recording, AppError> {
    let name = header.roles.planner.split_once(':').map_or("", |(_, name)| name);
    let shipped = sample::recording()?;
    if name == SAMPLE || label == shipped.label {
        return match shipped.label == label {
            true => Ok(shipped),
            false => Err(missing(label, "Start the sample anew.")),
        };
    }
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(missing(label, "Start the run anew with the recording's file."));
    }
    let path = path(rooms, name);
    let text = tokio::task::spawn_blocking(move || read(&path))
        .await
        .map_err(thread_ended)?;
    let text = text.map_err(|_| missing(label, "Start the run anew with the recording's file."))?;
    if name_of(text.as_bytes()) != name {
        return Err(missing(
            label,
            "Its copy was changed: start the run anew with the recording's file.",
        ));
    }
    Recording::from_json(&text).map_err(|error| unreadable(&error.to_string()))
}

fn recorded(key: Key, asked: Option<Open>, response: LlmResponse, duration_ms: u64) -> RecordedCall {
    let purpose = asked.as_ref().and_then(|open| serde_json::to_value(open.purpose).ok());
    RecordedCall {
        key,
        request_hash: asked.and_then(|open| request_hash(&open.request).ok()),
        purpose: purpose.and_then(|purpose| purpose.as_str().map(str::to_owned)),
        duration_ms: Some(duration_ms),
        response,
        deltas: None,
    }
}

/// The address of a recording's bytes, as a name.
fn name_of(bytes: &[u8]) -> String {
    let address = Hash::of_bytes(bytes);
    address.as_str().trim_start_matches("sha256:").to_owned()
}

fn path(rooms: &Rooms, name: &str) -> PathBuf {
    rooms.places.data.join(FOLDER).join(format!("{name}.json"))
}

async fn keep(rooms: &Rooms, name: &str, text: String) -> Result<(), AppError> {
    let path = path(rooms, name);
    let shown = path.display().to_string();
    let kept = tokio::task::spawn_blocking(move || {
        if path.is_file() {
            return Ok(());
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        // Under another name first, so that half a copy never has the name of a whole one.
        let half = path.with_extension("part");
        std::fs::write(&half, text)?;
        std::fs::rename(half, path)
    });
    kept.await
        .map_err(thread_ended)?
        .map_err(|error| unwritable(&shown, &error))
}

fn read(path: &Path) -> io::Result<String> {
    let file = File::open(path)?;
    if file.metadata()?.len() > LARGEST {
        return Err(io::Error::other("it is larger than any recording"));
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

fn missing(label: &str, hint: &str) -> AppError {
    AppError::new("recording_missing", format!("the recording \"{label}\" is not here")).hint(hint)
}

fn unreadable(why: &str) -> AppError {
    AppError::new("recording_unreadable", why)
        .hint("Choose a file that was saved as a recording of a run, or save the run again.")
}

fn unwritable(path: &str, error: &io::Error) -> AppError {
    let message = match error.kind() {
        io::ErrorKind::AlreadyExists => format!("\"{path}\" is there already, and is not overwritten"),
        _ => format!("\"{path}\" cannot be written: {error}"),
    };
    AppError::new("recording_unwritable", message).hint("Choose another name, or another folder.")
}
