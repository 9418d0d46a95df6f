//! Writing a file as a whole or not at all.

use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, OpenOptions, Permissions};

/// Temporary files begin and end so; listings leave them out.
const TEMPORARY: (&str, &str) = (".tepa-", ".part");

/// Whether this name is one of our temporary files, left behind when the power went.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with(TEMPORARY.0) && name.ends_with(TEMPORARY.1)
}

/// Puts a new file in the place of whatever has this name in the folder. A link, or another name of
/// the same file elsewhere, keeps what it had: nothing is written through.
pub(crate) fn replace(folder: &Dir, name: &Path, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = format!("{}{}-{number}{}", TEMPORARY.0, std::process::id(), TEMPORARY.1);
    let written = fill(folder, &temporary, bytes, mode).and_then(|()| folder.rename(&temporary, folder, name));
    if written.is_err() {
        // The first failure is the one to tell.
        let _ = folder.remove_file(&temporary);
    }
    written?;
    sync(folder)
}

/// Makes a folder's own entries survive a power cut.
pub(crate) fn sync(folder: &Dir) -> io::Result<()> {
    if cfg!(windows) {
        return Ok(());
    }
    folder.open(".")?.sync_all()
}

fn fill(folder: &Dir, temporary: &str, bytes: &[u8], mode: Option<Permissions>) -> io::Result<()> {
    let mut file = folder.open_with(temporary, OpenOptions::new().write(true).create_new(true))?;
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}
