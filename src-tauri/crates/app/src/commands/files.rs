//! Folders and files: what is in the folder a person picked, and what a run made of it.

use std::path::Path;
use std::sync::Arc;

use contract::ports::files::Files;
use contract::{AppError, Hash, RunId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;
use workspace::Folder;

use crate::app::App;
use crate::error::ToAppError;
use crate::{folder_info, preview, world};

/// A recorded value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ReadArtifact {
    /// Its address.
    pub hash: Hash,
}

/// A recorded value, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactValue {
    /// The value; the bytes of a file as text.
    pub value: Value,
}

/// A file of a run, as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewFile {
    /// Whose folder.
    pub run_id: RunId,
    /// Relative to that folder.
    pub path: String,
}

/// A file of a run, as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct PreviewBefore {
    /// The address of its bytes, from the run's `files`.
    pub hash: Hash,
    /// Its path, which says what kind of file it is.
    pub path: String,
}

/// A file to look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FilePreview {
    /// How to show it.
    pub kind: PreviewKind,
    /// Its text, or the beginning of it; none for what is not text.
    pub text: Option<String>,
    /// What to draw, for an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub image: Option<Image>,
    /// Whether there is more than `text`.
    pub truncated: bool,
    /// Bytes in the whole file.
    pub size: u64,
}

/// An image, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Image {
    /// What it really is, such as `image/png`.
    pub media_type: String,
    /// Its bytes.
    pub base64: String,
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
}

/// How to show a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum PreviewKind {
    /// As text; Markdown when its name ends in `.md`.
    Text,
    /// As a table.
    Csv,
    /// As JSON.
    Json,
    /// As an image.
    Image,
    /// Not at all.
    Binary,
    /// There is no such file.
    Missing,
}

/// A folder that a person picked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct LookAtFolder {
    /// Absolute.
    pub path: String,
}

/// What is in a folder, at a glance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FolderInfo {
    /// Whether it is there and is a folder.
    pub exists: bool,
    /// Its own name, without where it is.
    pub name: String,
    /// How many files of each kind are directly in it, most first.
    pub files: Vec<FileCount>,
    /// How many folders are directly in it.
    pub folders: u32,
    /// Rows of all its CSV files together, without their headings; none when there are none or too many to count.
    pub rows: Option<u64>,
    /// Why it cannot be worked in, in words; none when it can.
    pub problem: Option<String>,
}

/// Files of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct FileCount {
    /// What their names end in, in lower case, without the dot; empty for none.
    pub extension: String,
    /// How many.
    pub count: u32,
}

/// A file that the system handed to the app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct HandedFile {
    /// Absolute.
    pub path: String,
}

/// The file that the system handed to the app since this was last asked.
pub async fn handed(app: &App, (): ()) -> Result<Option<HandedFile>, AppError> {
    Ok(app.take_handed().map(|file| HandedFile {
        path: file.display().to_string(),
    }))
}

/// A recorded value, whole.
pub async fn artifact(app: &App, request: ReadArtifact) -> Result<ArtifactValue, AppError> {
    let bytes = stored(app, &request.hash).await?;
    let value =
        serde_json::from_slice(&bytes).unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).into_owned()));
    Ok(ArtifactValue { value })
}

/// A file of a run, as it is now; only inside the run's folder.
pub async fn preview(app: &App, request: PreviewFile) -> Result<FilePreview, AppError> {
    let folder = app.summary(&request.run_id).await?.folder;
    match world::folder(&folder).await {
        Ok(folder) => {
            let folder = folder.with_documents(Arc::clone(&app.rooms.documents));
            preview::of_file(&folder, &request.path).await
        }
        Err(error) => Err(error.to_app_error()),
    }
}

/// A file of a run, as it was.
pub async fn before(app: &App, request: PreviewBefore) -> Result<FilePreview, AppError> {
    let bytes = stored(app, &request.hash).await?;
    let size = bytes.len() as u64;
    let shown = preview::of_bytes(&request.path, bytes.clone(), size);
    if shown.kind != PreviewKind::Binary {
        return Ok(shown);
    }
    let image = preview::of_image(&*app.rooms.documents, bytes).await;
    Ok(image.unwrap_or(shown))
}

/// What is in a folder, at a glance.
pub async fn folder(app: &App, request: LookAtFolder) -> Result<FolderInfo, AppError> {
    let opened = world::folder(&request.path).await;
    let holds_own_data = |folder: &Folder| app.rooms.places.are_in(Path::new(folder.root()));
    if opened.as_ref().is_ok_and(holds_own_data) {
        return Ok(folder_info::own_data(&request.path));
    }
    Ok(folder_info::of(&request.path, opened).await)
}

async fn stored(app: &App, hash: &Hash) -> Result<Vec<u8>, AppError> {
    let missing = || {
        AppError::new("not_found", "this value is not in the history any more").hint("Its run may have been removed.")
    };
    // What is no address is nothing that could be damaged either.
    let digits = hash.as_str().strip_prefix("sha256:").ok_or_else(missing)?;
    if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return Err(missing());
    }
    let found = app.rooms.journal.artifact(hash).await;
    found.map_err(ToAppError::to_app_error)?.ok_or_else(missing)
}
