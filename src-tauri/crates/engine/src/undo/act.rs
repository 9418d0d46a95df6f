//! Undoing and bringing again: intend, act, record, as effects are done (kernel page, "Effects").
//!
//! The bytes that are overwritten go into the history with the intention, committed with a full sync before anything is
//! touched; a file is exchanged only while it is what was looked at. An undo that was broken off is found by its
//! intention without an end, and finished before anything else is undone. Many or large files are taken in portions, each
//! with an intention and an end of its own.

use std::collections::{HashMap, HashSet};

use contract::Hash;
use contract::event::RunEvent;
use contract::ids::Key;
use contract::ports::files::FilesError;
use contract::ports::journal::{Durability, NewEntry};
use contract::ports::undo::{Found, Kept};
use contract::undo::{ChosenFile, FileFace, FileRestore, NotRestored, UndoChoice, UndoResult, UndoStanding};
use contract::value_ref::Artifact;
use indexmap::IndexSet;

use super::history::{History, Open};
use super::preview::{Looked, look, put_together, stamp};
use super::{MOST_BYTES, Place, UndoError};
use crate::kernel::keys;

/// The most files of one portion, and the most bytes that it overwrites; a single file may have more.
const PORTION: (usize, u64) = (64, 32 * 1024 * 1024);

/// Why a file stays that was changed after it was looked at.
const CHANGED: &str = "somebody changed it just now";

/// What a person wants undone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wish {
    /// Whether what was undone is brought again.
    pub redo: bool,
    /// Which files; all when empty.
    pub files: Vec<ChosenFile>,
    /// What to do with files that were edited or removed since and have no choice of their own.
    pub edited: Option<UndoChoice>,
    /// What was seen when this was chosen; none when nothing was.
    pub stamp: Option<Hash>,
}

/// A file that will be touched.
struct Chosen {
    path: String,
    /// What was there when it was looked at.
    now: Option<FileFace>,
    to: Option<FileFace>,
    merge: Option<Vec<u8>>,
}

/// Undoes what a run changed in files, or brings it again. An earlier undo that was broken off is finished first.
///
/// # Errors
/// Nothing was touched, except with an error of the journal: then what was intended is finished the next time.
pub async fn undo(place: Place<'_>, wish: &Wish) -> Result<UndoResult, UndoError> {
    finish(place).await?;
    let mut history = History::of(place.journal, place.run).await?;
    let looked = look(place, &history, wish.redo).await?;
    if wish.stamp.as_ref().is_some_and(|seen| *seen != stamp(&looked)) {
        return Err(UndoError::ChangedMeanwhile);
    }
    let mut result = UndoResult {
        redo: wish.redo,
        ..UndoResult::default()
    };
    let mut chosen = choose(place, wish, looked, &mut result).await?.into_iter().peekable();
    if chosen.peek().is_none() && result.kept.is_empty() && result.left.is_empty() {
        return Err(UndoError::Nothing(wish.redo));
    }
    while chosen.peek().is_some() {
        portion(place, &mut history, &mut chosen, &mut result).await?;
    }
    Ok(result)
}

/// Finishes an undo that was broken off; none when there is none.
///
/// # Errors
/// Those of the journal and of the folder as a whole.
pub async fn finish(place: Place<'_>) -> Result<Option<UndoResult>, UndoError> {
    let mut history = History::of(place.journal, place.run).await?;
    let Some(open) = history.open.take() else {
        return Ok(None);
    };
    let mut result = UndoResult {
        redo: open.redo,
        ..UndoResult::default()
    };
    act_and_record(place, &mut history, &open, &mut result).await?;
    Ok(Some(result))
}

/// The files that will be touched. Nothing is when one of them needs a choice that nobody made.
async fn choose(
    place: Place<'_>,
    wish: &Wish,
    looked: Vec<Looked>,
    result: &mut UndoResult,
) -> Result<Vec<Chosen>, UndoError> {
    let wanted: HashMap<&str, Option<UndoChoice>> = wish
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.choice))
        .collect();
    let known: HashSet<&str> = looked.iter().map(|one| one.path.as_str()).collect();
    if let Some(unknown) = wish.files.iter().find(|file| !known.contains(file.path.as_str())) {
        return Err(UndoError::NotOfRun(unknown.path.clone()));
    }
    let (mut chosen, mut undecided, mut overlapping) = (Vec::new(), Vec::new(), Vec::new());
    for one in looked {
        let named = wanted.get(one.path.as_str());
        if named.is_none() && !wish.files.is_empty() {
            continue;
        }
        match one.standing.standing {
            UndoStanding::Restores | UndoStanding::Deletes => chosen.push(whole(one)),
            UndoStanding::Done => {}
            UndoStanding::Unchanged => result.kept.push(one.path),
            UndoStanding::NotKept => result.left.push(not(one.path, "what it held was too large to be kept")),
            UndoStanding::Blocked => {
                result
                    .left
                    .push(not(one.path, "it is no file now, or may not be opened"));
            }
            UndoStanding::Edited | UndoStanding::Missing => match named.copied().flatten().or(wish.edited) {
                None => undecided.push(one.path),
                Some(UndoChoice::Keep) => result.kept.push(one.path),
                Some(UndoChoice::Restore) => chosen.push(whole(one)),
                Some(UndoChoice::Merge) => match put_together(place, &one).await? {
                    Ok(bytes) => chosen.push(merged(one, bytes)),
                    Err(_) => overlapping.push(one.path),
                },
            },
        }
    }
    if !undecided.is_empty() {
        return Err(UndoError::Edited(undecided));
    }
    if !overlapping.is_empty() {
        return Err(UndoError::Overlapping(overlapping));
    }
    Ok(chosen)
}

fn whole(one: Looked) -> Chosen {
    Chosen {
        path: one.path,
        now: one.now,
        to: one.standing.to,
        merge: None,
    }
}

fn merged(one: Looked, bytes: Vec<u8>) -> Chosen {
    Chosen {
        path: one.path,
        now: one.now,
        to: Some(FileFace::of(Hash::of_bytes(&bytes))),
        merge: Some(bytes),
    }
}

fn not(path: String, why: impl Into<String>) -> NotRestored {
    NotRestored { path, why: why.into() }
}

/// Intends, does and records as many of the files as are done together.
async fn portion(
    place: Place<'_>,
    history: &mut History,
    chosen: &mut std::iter::Peekable<std::vec::IntoIter<Chosen>>,
    result: &mut UndoResult,
) -> Result<(), UndoError> {
    let (mut files, mut artifacts, mut bytes) = (Vec::new(), Vec::new(), 0);
    while files.len() < PORTION.0 && bytes <= PORTION.1 {
        let Some(one) = chosen.next() else { break };
        let there = match place.files.keep(&one.path, MOST_BYTES).await {
            Ok(there) => there,
            Err(gone @ FilesError::FolderMissing(_)) => return Err(gone.into()),
            Err(error) => {
                result.left.push(not(one.path, error.to_string()));
                continue;
            }
        };
        if there.as_ref().map(|there| &there.face) != one.now.as_ref() {
            result.left.push(not(one.path, CHANGED));
            continue;
        }
        let from = there.map(|there| {
            bytes += there.bytes.len() as u64;
            artifacts.push(Artifact::new("file-before", there.bytes));
            there.face
        });
        let is_merged = one.merge.is_some();
        artifacts.extend(one.merge.map(|bytes| Artifact::new("file-after", bytes)));
        files.push(FileRestore {
            path: one.path,
            from,
            to: one.to,
            merged: is_merged,
        });
    }
    if files.is_empty() {
        return Ok(());
    }
    let open = Open {
        number: history.undos,
        redo: result.redo,
        files,
    };
    let event = RunEvent::UndoIntended {
        redo: open.redo,
        files: open.files.clone(),
    };
    history.undos += 1;
    // The barrier of the effect protocol: this, and what will be overwritten, is on the disk before anything happens.
    let key = keys::undo(open.number).mark("intended");
    append(place, history, key, event, artifacts).await?;
    act_and_record(place, history, &open, result).await
}

/// Does what was intended and is not done yet, and records how that went.
async fn act_and_record(
    place: Place<'_>,
    history: &mut History,
    open: &Open,
    result: &mut UndoResult,
) -> Result<(), UndoError> {
    let mut left = Vec::new();
    for file in &open.files {
        match exchange(place, file).await? {
            Ok(()) => done(file, result),
            Err(why) => left.push(not(file.path.clone(), why)),
        }
    }
    let folders = match open.redo {
        false => remove_folders(place, &history.folders, &open.files).await,
        true => Vec::new(),
    };
    result.left.extend(left.iter().cloned());
    result.folders.extend(folders.iter().cloned());
    let event = RunEvent::UndoFinished { left, folders };
    append(place, history, keys::undo(open.number), event, Vec::new()).await
}

fn done(file: &FileRestore, result: &mut UndoResult) {
    let list = match (&file.to, file.merged) {
        (_, true) => &mut result.merged,
        (Some(_), false) => &mut result.restored,
        (None, false) => &mut result.deleted,
    };
    list.push(file.path.clone());
}

/// Exchanges a file, unless that is done already; why it stays as it is otherwise.
async fn exchange(place: Place<'_>, file: &FileRestore) -> Result<Result<(), String>, UndoError> {
    let found = match place.files.look(&file.path).await {
        Ok(found) => found,
        Err(gone @ FilesError::FolderMissing(_)) => return Err(gone.into()),
        Err(error) => return Ok(Err(error.to_string())),
    };
    if is_there(&found, file.to.as_ref()) {
        return Ok(Ok(()));
    }
    let new = match &file.to {
        None => None,
        Some(face) => match place.journal.artifact(&face.hash).await? {
            Some(bytes) => Some(Kept {
                face: face.clone(),
                bytes,
            }),
            None => return Ok(Err("what it held is not in the history any more".to_owned())),
        },
    };
    Ok(
        match place.files.exchange(&file.path, file.from.as_ref(), new.as_ref()).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(CHANGED.to_owned()),
            Err(gone @ FilesError::FolderMissing(_)) => return Err(gone.into()),
            Err(error) => Err(error.to_string()),
        },
    )
}

/// Whether what is there is what was to come, permissions included where they are known.
fn is_there(found: &Found, to: Option<&FileFace>) -> bool {
    match (found, to) {
        (Found::Nothing, None) => true,
        (Found::Here(here), Some(to)) => {
            let same_mode = to.mode.is_none() || here.mode.is_none() || to.mode == here.mode;
            here.hash == to.hash && here.link == to.link && same_mode
        }
        (Found::Nothing, Some(_)) | (Found::Here(_), None) | (Found::Other, _) => false,
    }
}

/// Removes the folders that the run made around files that went, the innermost first, where nothing is left in them.
async fn remove_folders(place: Place<'_>, made: &IndexSet<String>, files: &[FileRestore]) -> Vec<String> {
    let mut around: Vec<&String> = made
        .iter()
        .filter(|folder| {
            let inside = |path: &str| {
                path.strip_prefix(folder.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            };
            files.iter().any(|file| file.to.is_none() && inside(&file.path))
        })
        .collect();
    around.sort_by_key(|folder| std::cmp::Reverse(folder.matches('/').count()));
    let mut removed = Vec::new();
    for folder in around {
        // One that stays, for whatever reason, does no harm.
        if place.files.remove_empty_folder(folder).await == Ok(true) {
            removed.push(folder.clone());
        }
    }
    removed
}

async fn append(
    place: Place<'_>,
    history: &mut History,
    key: Key,
    event: RunEvent,
    artifacts: Vec<Artifact>,
) -> Result<(), UndoError> {
    let entry = NewEntry::new(key, place.clock.now_ms(), event);
    let seq = history.last_seq + 1;
    place
        .journal
        .append(place.run, seq, vec![entry], artifacts, Durability::Barrier)
        .await?;
    history.last_seq = seq;
    Ok(())
}
