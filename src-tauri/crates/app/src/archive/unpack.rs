//! A run from its file. Nothing in the file is believed before it was computed again.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use contract::AppError;
use contract::event::{RunEvent, RunEventRecord};
use contract::hash::{Hash, Hashing};
use contract::value_ref::{Artifact, artifact_kind};
use engine::kernel::final_hash::final_hash;
use serde::Deserialize;
use serde_json::Value;
use zip::ZipArchive;

use super::bounds::{self, MOST_ENTRIES, MOST_LINE, MOST_MANIFEST, Weight};
use super::pack::{Content, artifact_name, named_values};
use super::{Archived, CHECKSUMS, FORMAT, JOURNAL, MANIFEST, Manifest, VERSION};
use crate::error::ToAppError;
use crate::task_files::in_words;

/// Why a file is no run, or a run cannot be a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArchiveError {
    /// There is no such file, or it may not be read.
    #[error("\"{0}\" cannot be read: {1}")]
    Unreadable(String, String),
    /// It is some other file.
    #[error("\"{0}\" is not a run that was exported from Tepa")]
    NoArchive(String),
    /// A later app has written it.
    #[error("the file is of version {0}, and this version of Tepa reads version 1")]
    UnknownVersion(u64),
    /// Something in it is not what it says it is.
    #[error("the file was changed after it was exported, or is damaged: {0}")]
    Changed(String),
    /// More than can be taken in.
    #[error("{0} is larger than can be exported or imported (512 MB)")]
    TooLarge(String),
    /// The history itself is damaged.
    #[error("the run cannot be exported: {0}")]
    Broken(String),
    /// The file cannot be written.
    #[error("\"{0}\" cannot be written: {1}")]
    Unwritable(String, String),
    /// There is a file of this name.
    #[error("there is a file \"{0}\" already")]
    Exists(String),
}

impl ToAppError for ArchiveError {
    fn to_app_error(self) -> AppError {
        let message = self.to_string();
        let (code, hint) = match self {
            Self::Unreadable(..) => ("archive_unreadable", "Check the file's name, and that you may open it."),
            Self::NoArchive(_) => ("archive_invalid", "Choose a .tepa file that was exported from Tepa."),
            Self::UnknownVersion(_) => ("archive_version", "Update Tepa, then import the file again."),
            Self::Changed(_) => (
                "archive_changed",
                "Nothing was imported. Have the run exported once more.",
            ),
            Self::TooLarge(_) => (
                "archive_too_large",
                "Nothing was changed. Look at the run where it was made.",
            ),
            Self::Broken(_) => (
                "store_corrupted",
                "Nothing was written. Other runs may still be exported.",
            ),
            Self::Unwritable(..) => ("archive_unwritable", "Check the folder, and that the disk has room."),
            Self::Exists(_) => ("file_exists", "Choose another name, or move the file away first."),
        };
        AppError::new(code, message).hint(hint)
    }
}

fn changed(what: impl Into<String>) -> ArchiveError {
    ArchiveError::Changed(what.into())
}

/// Why a file cannot be opened: its end says what is in it, and its beginning whether it was one of ours.
fn no_archive(path: &Path, name: &str) -> ArchiveError {
    let mut beginning = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut beginning));
    // The name of the first entry comes after its sizes.
    let is_ours = beginning.starts_with(b"PK\x03\x04")
        && beginning
            .get(30..)
            .is_some_and(|rest| rest.starts_with(MANIFEST.as_bytes()));
    match read.is_ok() && is_ours {
        true => changed("its end is missing"),
        false => ArchiveError::NoArchive(name.to_owned()),
    }
}

/// Reads a file and verifies it. Blocks.
pub(super) fn read(path: &Path) -> Result<(Archived, Content), ArchiveError> {
    let name = path.display().to_string();
    let unreadable = |error: io::Error| ArchiveError::Unreadable(name.clone(), in_words(&error));
    let file = File::open(path).map_err(unreadable)?;
    let most = bounds::most_of(file.metadata().map_err(unreadable)?.len());
    let zip = ZipArchive::new(BufReader::new(file)).map_err(|_| no_archive(path, &name))?;
    let mut entries = Entries::of(zip, &name, most)?;
    let manifest_bytes = entries.take(MANIFEST, MOST_MANIFEST)?;
    let manifest = manifest(&manifest_bytes, &name)?;
    let manifest_hash = Hash::of_bytes(&manifest_bytes);
    drop(manifest_bytes);
    let events = entries.events(&manifest)?;
    let mut artifacts = Vec::with_capacity(manifest.artifacts.len().min(MOST_ENTRIES));
    for listed in &manifest.artifacts {
        let bytes = entries.take(&artifact_name(&listed.hash), most)?;
        let artifact = Artifact::new(artifact_kind(&listed.kind), bytes);
        if artifact.hash != listed.hash {
            return Err(changed(format!("{} is not what it was", listed.hash.as_str())));
        }
        artifacts.push(artifact);
    }
    entries.end(&manifest_hash, &manifest.journal, &artifacts)?;
    complete(&events, &artifacts)?;
    let hash = final_hash(&events).map_err(|error| changed(error.to_string()))?;
    if hash != manifest.final_hash {
        return Err(changed("its events do not come to the result that it names"));
    }
    let archived = Archived {
        run_id: manifest.run_id.clone(),
        title: manifest.title.clone(),
        file: path.to_owned(),
        events: manifest.events,
        artifacts: artifacts.len() as u64,
        final_hash: hash,
    };
    let content = Content {
        run: manifest.run_id,
        title: manifest.title,
        events,
        artifacts,
    };
    Ok((archived, content))
}

/// The things in a zip, each taken once.
struct Entries {
    zip: ZipArchive<BufReader<File>>,
    places: BTreeMap<String, usize>,
    left: u64,
}

impl Entries {
    /// Looks at all names and sizes before anything is unpacked.
    fn of(mut zip: ZipArchive<BufReader<File>>, name: &str, most: u64) -> Result<Self, ArchiveError> {
        if zip.has_duplicate_names() {
            return Err(changed("a name is in it twice"));
        }
        if zip.len() > MOST_ENTRIES {
            return Err(ArchiveError::TooLarge(format!("\"{name}\"")));
        }
        let (mut places, mut size) = (BTreeMap::new(), 0_u64);
        for index in 0..zip.len() {
            let entry = zip.by_index_raw(index).map_err(|error| changed(error.to_string()))?;
            size = size.saturating_add(entry.size());
            let name = entry.name().map_err(|error| changed(error.to_string()))?;
            places.insert(name.into_owned(), index);
        }
        if size > most {
            return Err(ArchiveError::TooLarge(format!("\"{name}\"")));
        }
        Ok(Self {
            zip,
            places,
            left: most,
        })
    }

    fn place(&mut self, name: &str) -> Result<usize, ArchiveError> {
        let place = self.places.remove(name);
        place.ok_or_else(|| changed(format!("\"{name}\" is missing")))
    }

    /// The bytes under a name, never more than `most` and than is left of what may be taken in; a size may be a lie.
    fn take(&mut self, name: &str, most: u64) -> Result<Vec<u8>, ArchiveError> {
        let place = self.place(name)?;
        let entry = self.zip.by_index(place).map_err(|error| changed(error.to_string()))?;
        let mut bytes = Vec::new();
        let most = most.min(self.left);
        entry
            .take(most + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| changed(format!("\"{name}\": {error}")))?;
        let taken = bytes.len() as u64;
        if taken > most {
            return Err(ArchiveError::TooLarge(format!("\"{name}\"")));
        }
        self.left -= taken;
        Ok(bytes)
    }

    /// The events, in order and all of this run, read line by line: their text is never there as a whole.
    fn events(&mut self, manifest: &Manifest) -> Result<Vec<RunEventRecord>, ArchiveError> {
        let place = self.place(JOURNAL)?;
        let entry = self.zip.by_index(place).map_err(|error| changed(error.to_string()))?;
        let too_large = || ArchiveError::TooLarge(format!("\"{JOURNAL}\""));
        let mut text = BufReader::new(entry.take(self.left + 1));
        let (mut hashing, mut weight, mut line) = (Hashing::default(), Weight::default(), Vec::new());
        let (mut events, mut ended): (Vec<RunEventRecord>, bool) = (Vec::new(), false);
        loop {
            line.clear();
            let mut rest = (&mut text).take(MOST_LINE + 1);
            let length = rest.read_until(b'\n', &mut line);
            let length = length.map_err(|error| changed(format!("\"{JOURNAL}\": {error}")))?;
            if length == 0 {
                break;
            }
            self.left = self.left.checked_sub(length as u64).ok_or_else(too_large)?;
            if !weight.takes(&line) {
                return Err(too_large());
            }
            hashing.update(&line);
            let record = event(&line, events.len() as u64 + 1, manifest)?;
            ended = match record.event {
                RunEvent::RunFinished { .. } => true,
                RunEvent::RunReopened { .. } => false,
                _ => ended,
            };
            events.push(record);
        }
        if hashing.hash() != manifest.journal {
            return Err(changed("the journal is not the one that was exported"));
        }
        let begins = matches!(
            events.first().map(|record| &record.event),
            Some(RunEvent::RunStarted { .. })
        );
        if !begins || events.len() as u64 != manifest.events {
            return Err(changed("events are missing"));
        }
        if !ended {
            return Err(changed(
                "the run in it is not at its end, and only such runs are exported",
            ));
        }
        Ok(events)
    }

    /// The checksums are right, and nothing else is in it.
    fn end(mut self, manifest: &Hash, journal: &Hash, artifacts: &[Artifact]) -> Result<(), ArchiveError> {
        let checksums = self.take(CHECKSUMS, MOST_MANIFEST)?;
        let line = |hash: &Hash, name: &str| format!("{}  {name}\n", hash.as_str().trim_start_matches("sha256:"));
        let mut expected = line(manifest, MANIFEST) + &line(journal, JOURNAL);
        for artifact in artifacts {
            expected.push_str(&line(&artifact.hash, &artifact_name(&artifact.hash)));
        }
        if checksums != expected.as_bytes() {
            return Err(changed("its checksums are not right"));
        }
        match self.places.keys().next() {
            None => Ok(()),
            Some(name) => Err(changed(format!("\"{name}\" does not belong in it"))),
        }
    }
}

/// What the file says it is; everything else in it is passed over without being kept.
#[derive(Deserialize)]
struct Head {
    format: Option<Value>,
    version: Option<Value>,
}

fn manifest(bytes: &[u8], name: &str) -> Result<Manifest, ArchiveError> {
    let no_archive = || ArchiveError::NoArchive(name.to_owned());
    let head: Head = serde_json::from_slice(bytes).map_err(|_| no_archive())?;
    if head.format.as_ref().and_then(Value::as_str) != Some(FORMAT) {
        return Err(no_archive());
    }
    match head.version.as_ref().and_then(Value::as_u64) {
        Some(version) if version == u64::from(VERSION) => {}
        Some(version) => return Err(ArchiveError::UnknownVersion(version)),
        None => return Err(no_archive()),
    }
    serde_json::from_slice(bytes).map_err(|error| changed(format!("its manifest: {error}")))
}

/// An event in its place.
fn event(line: &[u8], number: u64, manifest: &Manifest) -> Result<RunEventRecord, ArchiveError> {
    let record: RunEventRecord = serde_json::from_slice(line).map_err(|error| {
        changed(format!(
            "event {number} cannot be read by this version of Tepa: {error}"
        ))
    })?;
    if record.seq != number || record.run_id != manifest.run_id {
        return Err(changed(format!("event {number} does not stand in its place")));
    }
    Ok(record)
}

/// Every value that an event names is there.
fn complete(events: &[RunEventRecord], artifacts: &[Artifact]) -> Result<(), ArchiveError> {
    let there: HashSet<&Hash> = artifacts.iter().map(|artifact| &artifact.hash).collect();
    for record in events {
        if let Some(missing) = named_values(&record.event).iter().find(|hash| !there.contains(hash)) {
            let message = format!("the value {} of event {} is missing", missing.as_str(), record.seq);
            return Err(changed(message));
        }
    }
    Ok(())
}
