//! Who drives a run: the holder of the system's lock on `locks/<run>.lock`. The system lets go of it
//! when the process ends, however it ends; so a run that is not at its end and not locked was
//! interrupted.
//!
//! Taking, looking and letting go all happen behind a second lock, the gate, which is held for
//! microseconds. Two things need it: looking means trying the run's lock, and somebody who wants to
//! drive must not be refused because somebody else looks; and the file is removed when it is let go,
//! so nobody may hold a lock on a file that is no longer there.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use contract::ids::RunId;
use sha2::{Digest, Sha256};

use crate::error::StoreError;
use crate::open::Store;
use crate::private;

/// The longest id that is a file name as it is; a UUID has 36 letters.
const NAME_LENGTH: usize = 64;

/// The right to drive a run, until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    /// Taken out when it is dropped.
    file: Option<File>,
    path: PathBuf,
    folder: PathBuf,
}

impl Store {
    /// Takes the right to drive a run; none when somebody else has it, in this process or another.
    pub fn lock_run(&self, run: &RunId) -> Result<Option<RunLock>, StoreError> {
        let folder = folder_of(self.folder());
        private::own_folder(&folder).map_err(|error| StoreError::io(&folder, error))?;
        let path = folder.join(file_name(run));
        let _gate = gate(&folder).map_err(|error| StoreError::io(&folder, error))?;
        match take(&path) {
            Ok(Some(file)) => Ok(Some(RunLock {
                file: Some(file),
                path,
                folder,
            })),
            Ok(None) => Ok(None),
            Err(error) => Err(StoreError::io(&path, error)),
        }
    }

    /// Whether somebody drives a run now. Looking never makes [`Store::lock_run`] fail.
    pub fn is_driven(&self, run: &RunId) -> Result<bool, StoreError> {
        let folder = folder_of(self.folder());
        let path = folder.join(file_name(run));
        // The file is there only while somebody drives, or after a crash: mostly this is all.
        if !path.exists() {
            return Ok(false);
        }
        let _gate = gate(&folder).map_err(|error| StoreError::io(&folder, error))?;
        is_held(&path).map_err(|error| StoreError::io(&path, error))
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // Without the gate the file stays where it is: an unlocked file means the same as none.
        let gate = gate(&self.folder);
        if gate.is_ok() {
            let _ = fs::remove_file(&self.path);
        }
        drop(self.file.take());
    }
}

/// Removes what crashes left behind.
pub(crate) fn clear_up(data_folder: &Path) -> Result<(), StoreError> {
    let folder = folder_of(data_folder);
    let cleared = fs::read_dir(&folder).and_then(|entries| {
        let _gate = gate(&folder)?;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "lock") && !is_held(&path)? {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    });
    match cleared {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io(&folder, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn folder_of(data_folder: &Path) -> PathBuf {
    data_folder.join("locks")
}

/// The id itself where it is a safe and unmistakable name on every system, otherwise its digest.
fn file_name(run: &RunId) -> String {
    let id = run.as_str();
    let is_safe = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !id.is_empty() && id.len() <= NAME_LENGTH && id.bytes().all(is_safe) {
        return format!("{id}.lock");
    }
    format!("_{}.lock", hex::encode(Sha256::digest(id)))
}

fn gate(folder: &Path) -> io::Result<File> {
    let file = private::own_file(&folder.join("gate"))?;
    file.lock()?;
    Ok(file)
}

fn take(path: &Path) -> io::Result<Option<File>> {
    let file = private::own_file(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is_held(path: &Path) -> io::Result<bool> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;

    use super::*;
    use crate::testing::{open, run_id};

    #[tokio::test]
    async fn one_at_a_time_drives_a_run() {
        let (folder, window) = open().await;
        let terminal = Store::open(folder.path()).await.unwrap();
        let (run, other) = (run_id(1), run_id(2));
        let lock = window.lock_run(&run).unwrap().unwrap();
        assert!(window.lock_run(&run).unwrap().is_none());
        assert!(terminal.lock_run(&run).unwrap().is_none());
        assert!(terminal.is_driven(&run).unwrap());
        assert!(!terminal.is_driven(&other).unwrap());
        let _other = terminal.lock_run(&other).unwrap().unwrap();
        drop(lock);
        assert!(!window.is_driven(&run).unwrap());
        terminal.lock_run(&run).unwrap().unwrap();
    }

    #[tokio::test]
    async fn leaves_no_file_behind() {
        let (folder, store) = open().await;
        drop(store.lock_run(&run_id(1)).unwrap().unwrap());
        assert!(!folder.path().join("locks").join(file_name(&run_id(1))).exists());
        fs::write(folder.path().join("locks/crashed.lock"), "").unwrap();
        assert!(!store.is_driven(&RunId::new("crashed")).unwrap());
        store.close().await.unwrap();
        drop(Store::open(folder.path()).await.unwrap());
        let left: Vec<_> = fs::read_dir(folder.path().join("locks"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["gate"]);
    }

    #[tokio::test]
    async fn a_lock_that_is_held_survives_another_start() {
        let (folder, store) = open().await;
        let _lock = store.lock_run(&run_id(1)).unwrap().unwrap();
        store.close().await.unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        assert!(store.is_driven(&run_id(1)).unwrap());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_who_look_never_keep_one_from_driving() {
        let (folder, store) = open().await;
        drop(store.lock_run(&run_id(1)).unwrap());
        let left_by_a_crash = folder.path().join("locks").join(file_name(&run_id(1)));
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        store.is_driven(&run_id(1)).unwrap();
                    }
                });
            }
            let taken = (0..300).filter(|_| {
                // A file that nobody holds is what those who look have to try.
                fs::write(&left_by_a_crash, "").unwrap();
                store.lock_run(&run_id(1)).unwrap().is_some()
            });
            let taken = taken.count();
            done.store(true, Ordering::Relaxed);
            assert_eq!(taken, 300);
        });
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_who_want_to_drive_take_turns() {
        let (_folder, store) = open().await;
        let (driving, turns) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(lock) = store.lock_run(&run_id(1)).unwrap() else {
                            continue;
                        };
                        assert_eq!(driving.fetch_add(1, Ordering::SeqCst), 0);
                        turns.fetch_add(1, Ordering::SeqCst);
                        driving.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(turns.load(Ordering::SeqCst) > 0);
    }

    #[test]
    fn an_id_never_leaves_the_folder_nor_meets_another() {
        let names = [
            "../x",
            "..",
            "",
            "a/b",
            "A",
            "a",
            "_a",
            "a.b",
            "nul\u{0}",
            &"a".repeat(300),
        ]
        .map(|id| file_name(&RunId::new(id)));
        for (index, name) in names.iter().enumerate() {
            assert!(!name.contains(['/', '\\', '\u{0}']) && !name.starts_with('.'), "{name}");
            assert!(!names[..index].contains(name), "{name}");
        }
        assert_eq!(file_name(&RunId::new("0193-ab")), "0193-ab.lock");
    }
}
