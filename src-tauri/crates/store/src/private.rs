//! What the app remembers is nobody else's business: its files and its own folders are their owner's alone, also in a data
//! folder that was there before and that others may look into.
//!
//! Files of SQLite beside the database take the rights that the database has. Other systems than Unix keep a person's
//! folders from others by themselves.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Makes a folder where there is none; one that is there is the person's, and stays as it is.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// A folder that is only the app's: made where there is none, closed to others where there is one.
///
/// # Errors
/// It cannot be made, or belongs to somebody else.
pub fn own_folder(folder: &Path) -> io::Result<()> {
    make_folder(folder)?;
    close_to_others(folder, 0o700)
}

/// A file that is only the app's, opened for reading and writing, made where there is none.
///
/// # Errors
/// It cannot be opened, or belongs to somebody else.
pub fn own_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    close_to_others(path, 0o600)?;
    Ok(file)
}

/// Takes from others what rights they have; nothing where they have none, or nothing is there.
#[cfg(unix)]
pub(crate) fn close_to_others(path: &Path, mode: u32) -> io::Result<()> {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => {
            std::fs::set_permissions(path, Permissions::from_mode(mode))
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
pub(crate) fn close_to_others(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}
