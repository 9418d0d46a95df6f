//! A picture of the working folder, to tell what a command changed in it (tools page, "Undo").
//!
//! What it costs: each picture walks the folder once; the first reads every file in it once, up to [`PictureLimits`], and
//! a later one only those whose size, times or place on the disk are others. Deliberately not here: taking one, which is
//! the working folder's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::undo::{FileDelta, FileFace};
use crate::value_ref::Artifact;

/// How much of a folder is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PictureLimits {
    /// The most files and folders; what lies beyond is left out.
    pub most_entries: usize,
    /// The most bytes that are read and hashed in all; of files beyond, only size and times are compared.
    pub most_hashed: u64,
    /// The largest file whose bytes are kept.
    pub most_of_one: u64,
    /// The most bytes that are kept in all. They are held in memory until the command has ended.
    pub most_kept: u64,
}

impl Default for PictureLimits {
    fn default() -> Self {
        Self {
            most_entries: 20_000,
            most_hashed: 512 * 1024 * 1024,
            most_of_one: 8 * 1024 * 1024,
            most_kept: 64 * 1024 * 1024,
        }
    }
}

/// Folders that are never looked into: what a version control keeps of its own, and what programs install or cache.
/// Undoing pieces of these would damage them, and each may hold a hundred thousand files.
pub const LEFT_OUT: [&str; 6] = [".git", ".hg", ".svn", "node_modules", ".venv", "__pycache__"];

/// A folder at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// Its files and links by their path in it.
    pub files: BTreeMap<String, Pictured>,
    /// The folders in it.
    pub folders: BTreeSet<String>,
    /// The folders that were not looked into.
    pub left_out: BTreeSet<String>,
    /// Whether there was more than could be looked at.
    pub is_cut: bool,
}

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pictured {
    /// Its size, its times and which file it is, as the system counts them.
    pub stamp: [i64; 6],
    /// What it was; none when it was too much to be read.
    pub face: Option<FileFace>,
    /// Its bytes; none when they were too many to be kept.
    pub bytes: Option<Arc<[u8]>>,
}

/// What differs between two pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The files, sorted by path.
    pub files: Vec<FileDelta>,
    /// The folders that were made, the outermost first.
    pub folders: Vec<String>,
    /// What was not compared, in words.
    pub left_out: Vec<String>,
    /// The bytes of these files before and after, as far as they were kept.
    pub artifacts: Vec<Artifact>,
}

/// What happened to a folder between two pictures of it.
pub fn changes(before: &Picture, after: &Picture) -> Changes {
    let mut found = Changes::default();
    let paths: BTreeSet<&String> = before.files.keys().chain(after.files.keys()).collect();
    for path in paths {
        found.compare(path, before.files.get(path), after.files.get(path));
    }
    found.folders = after.folders.difference(&before.folders).cloned().collect();
    let inside = before.left_out.union(&after.left_out);
    found
        .left_out
        .extend(inside.map(|folder| format!("changes inside \"{folder}\" are not listed")));
    if before.is_cut || after.is_cut {
        let words = "the folder holds more than can be compared; changes in the rest of it are not listed";
        found.left_out.push(words.to_owned());
    }
    found
}

impl Changes {
    fn compare(&mut self, path: &str, before: Option<&Pictured>, after: Option<&Pictured>) {
        let is_same = match (before, after) {
            (Some(before), Some(after)) if before.stamp == after.stamp => true,
            (Some(before), Some(after)) => before.face.is_some() && before.face == after.face,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if is_same {
            return;
        }
        let unread = |side: Option<&Pictured>| side.is_some_and(|side| side.face.is_none());
        if unread(before) || unread(after) {
            let words = format!("\"{path}\" was changed and is too large to be compared and undone");
            return self.left_out.push(words);
        }
        let kept = before.is_none_or(|before| before.bytes.is_some());
        for (kind, side) in [("file-before", before), ("file-after", after)] {
            if let Some(bytes) = side.and_then(|side| side.bytes.as_ref()) {
                self.artifacts.push(Artifact::new(kind, bytes.to_vec()));
            }
        }
        self.files.push(FileDelta {
            path: path.to_owned(),
            before: before.and_then(|before| before.face.clone()),
            after: after.and_then(|after| after.face.clone()),
            kept,
        });
    }
}
