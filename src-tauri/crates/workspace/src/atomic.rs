//! Writing a file as a whole or not at all.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, OpenOptions, Permissions};

/// The temporary files that this process is filling at this moment. Whatever else is called like one, somebody else made,
/// and it is shown.
static OURS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Whether this is the name of a temporary file that this process is filling, or that one left behind which was killed
/// while it did: a run that goes on sees what it saw. Listings leave them out; pictures of what a command changed do not.
pub(crate) fn is_temporary(name: &str) -> bool {
    ours().contains(name) || maker(name).is_some_and(|process| !is_alive(process))
}

/// The process that names its temporary files like this.
fn maker(name: &str) -> Option<u32> {
    let (process, number) = name.strip_prefix(".tepa-")?.strip_suffix(".part")?.split_once('-')?;
    number.parse::<u64>().ok()?;
    process.parse().ok()
}

/// Where processes cannot be looked up so, none but this one is taken to be at work.
fn is_alive(process: u32) -> bool {
    process == std::process::id() || cfg!(target_os = "linux") && Path::new("/proc").join(process.to_string()).exists()
}

fn ours() -> MutexGuard<'static, BTreeSet<String>> {
    OURS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The name of a temporary file, ours for as long as this lives.
struct Temporary(String);

impl Temporary {
    fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!(".tepa-{}-{number}.part", std::process::id());
        ours().insert(name.clone());
        Self(name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        ours().remove(&self.0);
    }
}

/// Puts a new file in the place of whatever has this name in the folder. A link, or another name of
/// the same file elsewhere, keeps what it had: nothing is written through.
pub(crate) fn replace(folder: &Dir, name: &Path, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let fill = |folder: &Dir, temporary: &str| fill(folder, temporary, bytes, mode.clone());
    put(folder, name, fill, || true).map(|_| ())
}

/// Puts what `make` makes under a temporary name in the place of whatever has this name, if it `may` once that is made;
/// false when it may not.
pub(crate) fn put(
    folder: &Dir,
    name: &Path,
    make: impl FnOnce(&Dir, &str) -> io::Result<()>,
    may: impl FnOnce() -> bool,
) -> io::Result<bool> {
    let temporary = Temporary::new();
    let put = make(folder, &temporary.0).and_then(|()| match may() {
        true => folder.rename(&temporary.0, folder, name).map(|()| true),
        false => Ok(false),
    });
    if !matches!(put, Ok(true)) {
        // The first failure is the one to tell.
        let _ = folder.remove_file(&temporary.0);
        return put;
    }
    sync(folder)?;
    Ok(true)
}

/// Makes a folder's own entries survive a power cut.
pub(crate) fn sync(folder: &Dir) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    folder.open(".")?.sync_all()
}

/// Writes a file that is not there yet, and makes its bytes survive a power cut.
pub(crate) fn fill(folder: &Dir, temporary: &str, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let mut file = folder.open_with(temporary, OpenOptions::new().write(true).create_new(true))?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}
