//! A disk, and what a power cut may leave of it.
//!
//! What was synced is there. Of the writes to a file since its last sync any may be there or not, whole or torn at
//! 512 bytes, whatever their order. Of what was made, renamed or removed since the folder's last sync a beginning is
//! there: file systems keep these in order.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use fastrand::Rng;

use super::calls::Call;

/// What a drive writes at once.
const SECTOR: usize = 512;

/// The disk while the process runs.
#[derive(Debug, Default)]
pub(super) struct Disk {
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    /// What was made, renamed and removed, in order.
    changes: Vec<Change>,
    /// How many of these are on the disk for certain.
    settled: usize,
    promised: u64,
}

#[derive(Debug, Clone)]
enum Change {
    Folder(PathBuf),
    Name(PathBuf, usize),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
}

#[derive(Debug, Default)]
struct File {
    writes: Vec<Write>,
    /// How many of these are on the disk for certain.
    synced: usize,
}

#[derive(Debug)]
enum Write {
    Bytes(u64, Vec<u8>),
    Length(u64),
}

impl Disk {
    /// Takes in what the process did next.
    pub(super) fn apply(&mut self, call: &Call) {
        match call {
            Call::Made(path) => {
                self.file(path);
            }
            Call::Emptied(path) => self.write(path, Write::Length(0)),
            Call::Folder(path) => {
                self.folders.insert(path.clone());
                self.changes.push(Change::Folder(path.clone()));
            }
            Call::Written(path, place, bytes) => self.write(path, Write::Bytes(*place, bytes.clone())),
            Call::Cut(path, length) => self.write(path, Write::Length(*length)),
            Call::Synced(path) => self.sync(path),
            Call::Renamed(from, to) => {
                if let Some(file) = self.names.remove(from) {
                    self.names.insert(to.clone(), file);
                    self.changes.push(Change::Rename(from.clone(), to.clone()));
                }
            }
            Call::Removed(path) => {
                if self.names.remove(path).is_some() {
                    self.changes.push(Change::Remove(path.clone()));
                }
            }
            Call::Promised(seq) => self.promised = self.promised.max(*seq),
        }
    }

    /// The last entry of which the process was told that it is synced.
    pub(super) fn promised(&self) -> u64 {
        self.promised
    }

    fn file(&mut self, path: &Path) -> usize {
        if let Some(&file) = self.names.get(path) {
            return file;
        }
        let file = self.files.len();
        self.files.push(File::default());
        self.names.insert(path.to_owned(), file);
        self.changes.push(Change::Name(path.to_owned(), file));
        file
    }

    fn write(&mut self, path: &Path, write: Write) {
        let file = self.file(path);
        self.files[file].writes.push(write);
    }

    fn sync(&mut self, path: &Path) {
        if let Some(&file) = self.names.get(path) {
            self.files[file].synced = self.files[file].writes.len();
            return;
        }
        let is_in = |change: &Change| match change {
            Change::Folder(changed) | Change::Name(changed, _) | Change::Remove(changed) => {
                changed.parent() == Some(path)
            }
            Change::Rename(_, to) => to.parent() == Some(path),
        };
        if let Some(last) = self.changes.iter().rposition(is_in) {
            self.settled = self.settled.max(last + 1);
        }
    }

    /// Writes down what a power cut now may leave, as chance has it.
    pub(super) fn leave(&self, folder: &Path, random: &mut Rng) {
        let changes = random.usize(self.settled..=self.changes.len());
        // Mostly one way for all, since that is where the mistakes are: nothing, everything, some, or torn.
        let way = random.u8(..4);
        self.write_down(
            folder,
            changes,
            |write, is_synced, random| {
                if is_synced {
                    return Kept::Whole;
                }
                match (way, write) {
                    (0, _) => Kept::Nothing,
                    (1, _) => Kept::Whole,
                    (2, _) | (_, Write::Length(_)) => [Kept::Nothing, Kept::Whole][usize::from(random.bool())],
                    (_, Write::Bytes(..)) => Kept::Torn,
                }
            },
            random,
        );
    }

    /// Writes down what is there when everything arrives.
    pub(super) fn leave_everything(&self, folder: &Path) {
        let all = |_: &Write, _, _: &mut Rng| Kept::Whole;
        self.write_down(folder, self.changes.len(), all, &mut Rng::with_seed(0));
    }

    fn write_down(
        &self,
        folder: &Path,
        changes: usize,
        keep: impl Fn(&Write, bool, &mut Rng) -> Kept,
        random: &mut Rng,
    ) {
        let mut names: BTreeMap<&Path, usize> = BTreeMap::new();
        let mut folders = Vec::new();
        for change in &self.changes[..changes] {
            match change {
                Change::Folder(path) => folders.push(path),
                Change::Name(path, file) => {
                    names.insert(path, *file);
                }
                Change::Rename(from, to) => {
                    if let Some(file) = names.remove(from.as_path()) {
                        names.insert(to, file);
                    }
                }
                Change::Remove(path) => {
                    names.remove(path.as_path());
                }
            }
        }
        for path in folders {
            std::fs::create_dir_all(folder.join(path)).unwrap();
        }
        for (path, file) in names {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, self.files[file].left(&keep, random)).unwrap();
        }
    }
}

/// How much of a write is on the disk.
#[derive(Debug, Clone, Copy)]
enum Kept {
    Nothing,
    Whole,
    /// Each of its sectors or not.
    Torn,
}

impl File {
    fn left(&self, keep: &impl Fn(&Write, bool, &mut Rng) -> Kept, random: &mut Rng) -> Vec<u8> {
        let mut content = Vec::new();
        for (number, write) in self.writes.iter().enumerate() {
            let kept = keep(write, number < self.synced, random);
            match (write, kept) {
                (_, Kept::Nothing) => {}
                (Write::Length(length), _) => content.resize(*length as usize, 0),
                (Write::Bytes(place, bytes), Kept::Whole) => put(&mut content, *place as usize, bytes),
                (Write::Bytes(place, bytes), Kept::Torn) => {
                    let place = *place as usize;
                    let mut from = 0;
                    while from < bytes.len() {
                        // Sectors are counted from the beginning of the file.
                        let end = ((place + from) / SECTOR + 1) * SECTOR - place;
                        let end = end.min(bytes.len());
                        if random.bool() {
                            put(&mut content, place + from, &bytes[from..end]);
                        }
                        from = end;
                    }
                }
            }
        }
        content
    }
}

fn put(content: &mut Vec<u8>, place: usize, bytes: &[u8]) {
    if content.len() < place + bytes.len() {
        content.resize(place + bytes.len(), 0);
    }
    content[place..place + bytes.len()].copy_from_slice(bytes);
}
