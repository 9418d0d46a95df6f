//! A run into its file.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::RunId;
use contract::value_ref::{Artifact, artifact_kind};
use contract::{AppError, Hash};
use engine::kernel::final_hash::final_hash;
use serde_json::Value;
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

use super::bounds::{self, MOST_BYTES};
use super::{ArchiveError, Archived, CHECKSUMS, FORMAT, JOURNAL, Listed, MANIFEST, Manifest, VERSION};
use crate::app::App;
use crate::error::{ToAppError, internal};

/// How many events are read at once.
const PAGE: u32 = 1_000;
/// The longest part of a title that stands in a file's name, in characters.
const NAME: usize = 40;

/// All of a run.
pub(crate) struct Content {
    pub(super) run: RunId,
    pub(super) title: String,
    pub(crate) events: Vec<RunEventRecord>,
    pub(crate) artifacts: Vec<Artifact>,
}

impl App {
    /// All of a run, from the history.
    pub(crate) async fn content_of(&self, run: &RunId) -> Result<Content, AppError> {
        let summary = self.summary(run).await?;
        let mut events = Vec::new();
        loop {
            let page = self.rooms.journal.read(run, events.len() as u64 + 1, PAGE).await;
            let page = page.map_err(ToAppError::to_app_error)?;
            let last = page.len() < PAGE as usize;
            events.extend(page);
            if last {
                break;
            }
        }
        let used = self.rooms.store.artifacts_of(run).await;
        let used = used.map_err(ToAppError::to_app_error)?;
        let own: HashMap<Hash, String> = used.into_iter().map(|used| (used.hash, used.kind)).collect();
        // What a replay took over from another run belongs to that run, and is named here all the same.
        let named = events.iter().flat_map(|record| named_values(&record.event));
        let named: HashSet<Hash> = named.filter(|hash| !own.contains_key(hash)).collect();
        let all = own
            .into_iter()
            .chain(named.into_iter().map(|hash| (hash, String::new())));
        let mut artifacts = Vec::new();
        let mut bytes = 0_usize;
        for (hash, kind) in all {
            let content = self
                .rooms
                .journal
                .artifact(&hash)
                .await
                .map_err(ToAppError::to_app_error)?;
            let Some(content) = content else {
                return Err(internal(format!("the value {} is missing", hash.as_str())));
            };
            bytes = bytes.saturating_add(content.len());
            if bytes as u64 > MOST_BYTES {
                return Err(ArchiveError::TooLarge("the run".to_owned()).to_app_error());
            }
            artifacts.push(Artifact::new(artifact_kind(&kind), content));
        }
        artifacts.sort_by(|one, other| one.hash.cmp(&other.hash));
        Ok(Content {
            run: run.clone(),
            title: summary.title,
            events,
            artifacts,
        })
    }
}

/// The addresses of the values that an event names and does not hold itself.
pub(super) fn named_values(event: &RunEvent) -> Vec<Hash> {
    let mut found = Vec::new();
    collect(&serde_json::to_value(event).unwrap_or_default(), &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<Hash>) {
    match value {
        Value::Object(fields) => {
            let elsewhere =
                fields.len() == 4 && fields.contains_key("excerpt") && fields.get("inline").is_some_and(Value::is_null);
            let hash = fields.get("hash").and_then(Value::as_str).filter(|_| elsewhere);
            found.extend(hash.map(|hash| Hash(hash.to_owned())));
            fields.values().for_each(|value| collect(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What a run's file is called when nobody says: its title, and the end of its id.
pub(crate) fn file_name(title: &str, run: &RunId, extension: &str) -> String {
    let kept = |sign: char| if sign.is_alphanumeric() { sign } else { '-' };
    let title: String = title.chars().take(NAME).map(kept).collect();
    let words: Vec<&str> = title.split('-').filter(|word| !word.is_empty()).collect();
    let id: String = run
        .as_str()
        .chars()
        .rev()
        .take(6)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    format!("{}-{id}.{extension}", words.join("-"))
}

/// Writes the file, which must not be there yet. Blocks.
pub(super) fn write(content: Content, path: &Path, now_ms: i64) -> Result<Archived, ArchiveError> {
    let journal = lines(&content.events)?;
    let final_hash = final_hash(&content.events).map_err(|error| ArchiveError::Broken(error.to_string()))?;
    let manifest = Manifest {
        format: FORMAT.to_owned(),
        version: VERSION,
        run_id: content.run.clone(),
        title: content.title.clone(),
        app_version: env!("CARGO_PKG_VERSION").to_owned(),
        exported_at_ms: now_ms,
        events: content.events.len() as u64,
        journal: Hash::of_bytes(&journal),
        final_hash: final_hash.clone(),
        artifacts: content
            .artifacts
            .iter()
            .map(|artifact| Listed {
                hash: artifact.hash.clone(),
                kind: artifact.kind.to_owned(),
                bytes: artifact.bytes.len() as u64,
            })
            .collect(),
    };
    let artifacts = &content.artifacts;
    new_file(path, |file, in_words| {
        packed(file, &manifest, &journal, artifacts, in_words)
    })?;
    Ok(Archived {
        run_id: content.run,
        title: content.title,
        file: path.to_owned(),
        events: content.events.len() as u64,
        artifacts: content.artifacts.len() as u64,
        final_hash,
    })
}

/// Writes these bytes to a file, which must not be there yet. Blocks.
pub(crate) fn write_new(path: &Path, bytes: &[u8]) -> Result<(), ArchiveError> {
    new_file(path, |mut file, in_words| {
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        written.map_err(in_words)
    })
}

/// Makes the file, which must not be there yet, and fills it; when that fails it is gone again.
fn new_file(
    path: &Path,
    fill: impl FnOnce(File, &dyn Fn(io::Error) -> ArchiveError) -> Result<(), ArchiveError>,
) -> Result<(), ArchiveError> {
    let in_words = |error: io::Error| ArchiveError::Unwritable(path.display().to_string(), error.to_string());
    let file = File::create_new(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Exists(path.display().to_string()),
        _ => in_words(error),
    })?;
    fill(file, &in_words).inspect_err(|_| {
        // Half a file is no run; what matters is the reason why it is half.
        let _ = std::fs::remove_file(path);
    })
}

/// The events, a line each; what could not be read back is not written.
fn lines(events: &[RunEventRecord]) -> Result<Vec<u8>, ArchiveError> {
    let (mut journal, mut weight) = (Vec::new(), bounds::Weight::default());
    for event in events {
        let start = journal.len();
        serde_json::to_writer(&mut journal, event).map_err(|error| ArchiveError::Broken(error.to_string()))?;
        journal.push(b'\n');
        if !weight.takes(&journal[start..]) {
            return Err(ArchiveError::TooLarge("the run".to_owned()));
        }
    }
    Ok(journal)
}

/// Writes everything; what shrinks so much that it would be taken for a bomb stands there unpacked.
fn packed(
    mut file: File,
    manifest: &Manifest,
    journal: &[u8],
    artifacts: &[Artifact],
    in_words: impl Fn(io::Error) -> ArchiveError,
) -> Result<(), ArchiveError> {
    let manifest = serde_json::to_vec_pretty(manifest).map_err(|error| in_words(error.into()))?;
    let whole: u64 = artifacts.iter().map(|artifact| artifact.bytes.len() as u64).sum();
    let whole = whole + (manifest.len() + journal.len()) as u64;
    if manifest.len() as u64 > bounds::MOST_MANIFEST || whole > MOST_BYTES {
        return Err(ArchiveError::TooLarge("the run".to_owned()));
    }
    let things = (manifest.as_slice(), journal, artifacts);
    write_all(&mut file, things, CompressionMethod::Deflated).map_err(&in_words)?;
    let length = file.metadata().map_err(&in_words)?.len();
    // The checksums are a tenth of the manifest at most, and the slack is far more.
    if whole > bounds::most_of(length) {
        file.set_len(0).and_then(|()| file.rewind()).map_err(&in_words)?;
        write_all(&mut file, things, CompressionMethod::Stored).map_err(&in_words)?;
    }
    file.sync_all().map_err(in_words)
}

fn write_all(
    file: &mut File,
    (manifest, journal, artifacts): (&[u8], &[u8], &[Artifact]),
    method: CompressionMethod,
) -> io::Result<()> {
    let mut zip = ZipWriter::new(BufWriter::new(file));
    let options = SimpleFileOptions::default().compression_method(method);
    let mut checksums = String::new();
    let mut put = |name: &str, bytes: &[u8]| -> io::Result<()> {
        let digest = Hash::of_bytes(bytes);
        let _ = writeln!(checksums, "{}  {name}", digest.as_str().trim_start_matches("sha256:"));
        zip.start_file(name, options)?;
        zip.write_all(bytes)
    };
    put(MANIFEST, manifest)?;
    put(JOURNAL, journal)?;
    for artifact in artifacts {
        put(&artifact_name(&artifact.hash), &artifact.bytes)?;
    }
    zip.start_file(CHECKSUMS, options)?;
    zip.write_all(checksums.as_bytes())?;
    zip.finish()?.flush()
}

/// Where an artifact is in the file.
pub(super) fn artifact_name(hash: &Hash) -> String {
    format!("artifacts/{}", hash.as_str().trim_start_matches("sha256:"))
}
