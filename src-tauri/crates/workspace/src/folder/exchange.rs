//! The folder as an undo handles it: a name is looked at without following it, and what is there is exchanged only while
//! it is still what was looked at.
//!
//! Between the last look and the renaming lie two calls of the system: whoever writes to the file in just that moment
//! loses what they wrote to the exchange. No system call that every supported system has would close that gap.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::Path;

use async_trait::async_trait;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions};
use contract::Hash;
use contract::hash::Hashing;
use contract::ports::files::FilesError;
use contract::ports::undo::{Found, Kept, UndoFiles};
use contract::undo::FileFace;

use super::{Folder, Inner, here_path, not_a};
use crate::atomic;

#[async_trait]
impl UndoFiles for Folder {
    async fn look(&self, path: &str) -> Result<Found, FilesError> {
        self.blocking(path, |inner, path| {
            let Some((parent, name)) = inner.place(path)? else {
                return Ok(Found::Nothing);
            };
            inner.found(path, &parent, name).map(|seen| seen.found)
        })
        .await
    }

    async fn keep(&self, path: &str, limit: u64) -> Result<Option<Kept>, FilesError> {
        self.blocking(path, move |inner, path| inner.keep(path, limit)).await
    }

    async fn exchange(&self, path: &str, expected: Option<&FileFace>, new: Option<&Kept>) -> Result<bool, FilesError> {
        let (expected, new) = (expected.cloned(), new.cloned());
        self.blocking(path, move |inner, path| {
            inner.exchange(path, expected.as_ref(), new.as_ref())
        })
        .await
    }

    async fn remove_empty_folder(&self, path: &str) -> Result<bool, FilesError> {
        self.blocking(path, |inner, path| inner.remove_empty_folder(path)).await
    }
}

/// What is under a name, and how to tell whether it still is.
struct Seen {
    found: Found,
    metadata: Option<Metadata>,
}

impl Inner {
    /// The folder of a name, as it is, and the name in it; none when there is no such folder.
    fn place<'path>(&self, path: &'path str) -> Result<Option<(Dir, &'path OsStr)>, FilesError> {
        let path = Path::new(path);
        let Some(name) = path.file_name() else {
            return Err(not_a(&path.display().to_string(), "file"));
        };
        let parent = here_path(path.parent().unwrap_or(Path::new("")));
        match self.dir.open_dir(parent) {
            Ok(parent) => Ok(Some((parent, name))),
            Err(error) => match self.failed(&path.display().to_string(), &error) {
                FilesError::NotFound(_) => Ok(None),
                other => Err(other),
            },
        }
    }

    fn found(&self, path: &str, parent: &Dir, name: &OsStr) -> Result<Seen, FilesError> {
        let failed = |error| self.failed(path, &error);
        let metadata = match parent.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_gone() => {
                return Ok(Seen {
                    found: Found::Nothing,
                    metadata: None,
                });
            }
            Err(error) => return Err(failed(error)),
        };
        let found = if metadata.is_symlink() {
            let target = parent.read_link_contents(name).map_err(failed)?;
            Found::Here(face(Hash::of_bytes(target.as_os_str().as_encoded_bytes()), &metadata))
        } else if metadata.is_file() {
            let mut file = open(parent, name).map_err(failed)?;
            Found::Here(face(hash(&mut file).map_err(failed)?, &metadata))
        } else {
            Found::Other
        };
        Ok(Seen {
            found,
            metadata: Some(metadata),
        })
    }

    fn keep(&self, path: &str, limit: u64) -> Result<Option<Kept>, FilesError> {
        let failed = |error| self.failed(path, &error);
        let Some((parent, name)) = self.place(path)? else {
            return Ok(None);
        };
        let metadata = match parent.symlink_metadata(name) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.is_gone() => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        let bytes = if metadata.is_symlink() {
            let target = parent.read_link_contents(name).map_err(failed)?;
            target.as_os_str().as_encoded_bytes().to_vec()
        } else if metadata.is_file() {
            let mut bytes = Vec::new();
            let file = open(&parent, name).map_err(failed)?;
            file.take(limit.saturating_add(1))
                .read_to_end(&mut bytes)
                .map_err(failed)?;
            bytes
        } else {
            return Err(not_a(path, "file"));
        };
        if bytes.len() as u64 > limit {
            return Err(FilesError::TooLarge {
                path: path.to_owned(),
                size: metadata.len().max(bytes.len() as u64),
                limit,
            });
        }
        let face = face(Hash::of_bytes(&bytes), &metadata);
        Ok(Some(Kept { face, bytes }))
    }

    fn exchange(&self, path: &str, expected: Option<&FileFace>, new: Option<&Kept>) -> Result<bool, FilesError> {
        let failed = |error| self.failed(path, &error);
        let (parent, name) = match (self.place(path)?, new) {
            (Some(place), _) => place,
            (None, _) if expected.is_some() => return Ok(false),
            (None, None) => return Ok(true),
            (None, Some(_)) => {
                let parent = self.parent(path).map_err(failed)?;
                let name = Path::new(path).file_name().ok_or_else(|| not_a(path, "file"))?;
                (parent, name)
            }
        };
        let seen = self.found(path, &parent, name)?;
        let there = match &seen.found {
            Found::Nothing => None,
            Found::Here(face) => Some(face),
            Found::Other => return Err(not_a(path, "file")),
        };
        if there.map(|face| (&face.hash, face.link)) != expected.map(|face| (&face.hash, face.link)) {
            return Ok(false);
        }
        let metadata = seen.metadata.as_ref();
        let is_file = metadata.is_some_and(Metadata::is_file);
        if is_file && metadata.is_some_and(|metadata| metadata.permissions().readonly()) {
            return Err(FilesError::Denied(path.to_owned()));
        }
        let Some(new) = new else {
            if there.is_none() {
                return Ok(true);
            }
            if !is_still(&parent, name, metadata) {
                return Ok(false);
            }
            let removed = parent.remove_file(name).and_then(|()| atomic::sync(&parent));
            return removed.map(|()| true).map_err(failed);
        };
        let old_mode = metadata.filter(|_| is_file).map(Metadata::permissions);
        let mode = new.face.mode.and_then(permissions).or(old_mode);
        let put = |parent: &Dir, temporary: &str| match new.face.link {
            true => link(parent, &new.bytes, temporary),
            false => atomic::fill(parent, temporary, &new.bytes, mode.clone()),
        };
        atomic::put(&parent, Path::new(name), put, || is_still(&parent, name, metadata)).map_err(failed)
    }

    fn remove_empty_folder(&self, path: &str) -> Result<bool, FilesError> {
        let Some((parent, name)) = self.place(path)? else {
            return Ok(false);
        };
        let is_folder = parent.symlink_metadata(name).is_ok_and(|metadata| metadata.is_dir());
        if !is_folder || parent.remove_dir(name).is_err() {
            return Ok(false);
        }
        atomic::sync(&parent).map_err(|error| self.failed(path, &error))?;
        Ok(true)
    }
}

/// Opens a file that is no link; a pipe is not waited for.
pub(super) fn open(parent: &Dir, name: impl AsRef<Path>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(FollowSymlinks::No);
    let file = parent.open_with(name, &options)?;
    // What was looked at may have been exchanged for something else before it was opened.
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// The address of all bytes of a file.
pub(super) fn hash(file: &mut File) -> io::Result<Hash> {
    let mut hashing = Hashing::default();
    let mut piece = vec![0; 64 * 1024];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hashing.hash()),
            read => hashing.update(&piece[..read]),
        }
    }
}

/// What something with these bytes and this metadata is.
pub(super) fn face(hash: Hash, metadata: &Metadata) -> FileFace {
    FileFace {
        hash,
        mode: mode(metadata),
        link: metadata.is_symlink(),
    }
}

/// Whether a name still means what was looked at.
fn is_still(parent: &Dir, name: &OsStr, seen: Option<&Metadata>) -> bool {
    match (parent.symlink_metadata(name), seen) {
        (Ok(now), Some(seen)) => stamp(&now) == stamp(seen),
        (Err(error), None) => error.kind() == io::ErrorKind::NotFound,
        (Ok(_), None) | (Err(_), Some(_)) => false,
    }
}

/// What changes when a file is written to or exchanged: its size, its times, and which file it is.
#[cfg(unix)]
pub(super) fn stamp(metadata: &Metadata) -> [i64; 6] {
    use cap_std::fs::MetadataExt;
    [
        metadata.size().cast_signed(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
        metadata.ino().cast_signed(),
    ]
}

/// What changes when a file is written to or exchanged, as far as this system says.
#[cfg(not(unix))]
pub(super) fn stamp(metadata: &Metadata) -> [i64; 6] {
    let modified = metadata.modified().ok().map(cap_std::time::SystemTime::into_std);
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let nanoseconds = since.map_or(0, |since| since.as_nanos() as i64);
    [metadata.len().cast_signed(), nanoseconds, 0, 0, 0, 0]
}

#[cfg(unix)]
fn mode(metadata: &Metadata) -> Option<u32> {
    use cap_std::fs::PermissionsExt;
    (!metadata.is_symlink()).then(|| metadata.permissions().mode() & 0o7777)
}

#[cfg(not(unix))]
fn mode(_metadata: &Metadata) -> Option<u32> {
    None
}

#[cfg(unix)]
fn permissions(mode: u32) -> Option<Permissions> {
    use cap_std::fs::PermissionsExt;
    Some(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn permissions(_mode: u32) -> Option<Permissions> {
    None
}

#[cfg(unix)]
fn link(parent: &Dir, target: &[u8], name: &str) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    parent.symlink_contents(OsStr::from_bytes(target), name)
}

#[cfg(not(unix))]
fn link(_parent: &Dir, _target: &[u8], _name: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests;
