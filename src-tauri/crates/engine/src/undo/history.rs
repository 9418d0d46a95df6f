//! What a run did to each file, and what was undone of it: a fold of its journal.

use std::collections::HashMap;

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::RunId;
use contract::ports::journal::{Journal, JournalError};
use contract::undo::{FileDelta, FileFace, FileRestore, NotRestored};
use indexmap::{IndexMap, IndexSet};

/// How many entries are read at once.
const PAGE: u32 = 500;

/// All that an undo needs to know of a run.
#[derive(Debug, Default)]
pub struct History {
    /// The files that the run changed, in the order of the first change.
    pub files: IndexMap<String, Touched>,
    /// The folders that it made, in the order in which it did.
    pub folders: IndexSet<String>,
    /// An undo that was intended and not finished.
    pub open: Option<Open>,
    /// How many undos there were.
    pub undos: u32,
    /// The journal's last entry.
    pub last_seq: u64,
    /// The change that each tool execution meant to make last.
    meant: HashMap<String, (String, usize)>,
}

/// An undo that was broken off.
#[derive(Debug, Clone)]
pub struct Open {
    /// Its number.
    pub number: u32,
    /// Whether it brings again what was undone.
    pub redo: bool,
    /// The files that it was to change.
    pub files: Vec<FileRestore>,
}

/// What happened to a file.
#[derive(Debug, Clone, Default)]
pub struct Touched {
    /// Its changes, one after the other; after an undo or a redo there is just that one.
    pub changes: Vec<Change>,
    /// Whether these changes are undone.
    pub undone: bool,
}

/// A change of a file.
#[derive(Debug, Clone)]
pub struct Change {
    /// What was there.
    pub before: Option<FileFace>,
    /// What was there afterwards.
    pub after: Option<FileFace>,
    /// Whether it is known to have been made; otherwise only the file can tell.
    pub certain: bool,
    /// Whether the bytes from before are in the history.
    pub kept: bool,
}

impl History {
    /// Reads a run's journal.
    ///
    /// # Errors
    /// Those of the journal.
    pub async fn of(journal: &dyn Journal, run: &RunId) -> Result<Self, JournalError> {
        let mut history = Self::default();
        loop {
            let page = journal.read(run, history.last_seq + 1, PAGE).await?;
            for record in &page {
                history.apply(record);
            }
            if page.len() < PAGE as usize {
                return Ok(history);
            }
        }
    }

    fn apply(&mut self, record: &RunEventRecord) {
        self.last_seq = record.seq;
        let key = record.key.as_str();
        match &record.event {
            RunEvent::EffectIntended {
                path,
                before,
                after,
                folders,
                ..
            } => {
                let change = Change {
                    before: before.clone().map(FileFace::of),
                    after: after.clone().map(FileFace::of),
                    certain: false,
                    kept: true,
                };
                let place = self.change(path, change);
                let leaf = key.rsplit_once(':').map_or(key, |(leaf, _)| leaf);
                self.meant.insert(leaf.to_owned(), (path.clone(), place));
                self.make(folders);
            }
            RunEvent::ToolFinished { error: None, .. } => self.is_certain(key),
            RunEvent::FolderChanged { files, folders, .. } => {
                files.iter().for_each(|file| self.command(file));
                self.make(folders);
            }
            RunEvent::UndoIntended { redo, files } => {
                self.meant.clear();
                self.open = Some(Open {
                    number: self.undos,
                    redo: *redo,
                    files: files.clone(),
                });
                self.undos += 1;
            }
            RunEvent::UndoFinished { left, .. } => {
                if let Some(open) = self.open.take() {
                    self.restored(&open, left);
                }
            }
            // No other entry is about files.
            _ => {}
        }
    }

    fn change(&mut self, path: &str, change: Change) -> usize {
        let touched = self.files.entry(path.to_owned()).or_default();
        if std::mem::take(&mut touched.undone) {
            // What was undone before the run went on stays undone; from here on its new changes count.
            touched.changes.clear();
        }
        touched.changes.push(change);
        touched.changes.len() - 1
    }

    fn is_certain(&mut self, leaf: &str) {
        let Some((path, place)) = self.meant.remove(leaf) else {
            return;
        };
        let change = self
            .files
            .get_mut(&path)
            .and_then(|touched| touched.changes.get_mut(place));
        if let Some(change) = change {
            change.certain = true;
        }
    }

    fn command(&mut self, file: &FileDelta) {
        let change = Change {
            before: file.before.clone(),
            after: file.after.clone(),
            certain: true,
            kept: file.kept,
        };
        self.change(&file.path, change);
    }

    fn make(&mut self, folders: &[String]) {
        self.folders.extend(folders.iter().cloned());
    }

    fn restored(&mut self, open: &Open, left: &[NotRestored]) {
        for file in &open.files {
            if left.iter().any(|left| left.path == file.path) {
                continue;
            }
            let (before, after) = match open.redo {
                false => (&file.to, &file.from),
                true => (&file.from, &file.to),
            };
            let change = Change {
                before: before.clone(),
                after: after.clone(),
                certain: true,
                kept: true,
            };
            let touched = self.files.entry(file.path.clone()).or_default();
            touched.changes = vec![change];
            touched.undone = !open.redo;
        }
    }
}
