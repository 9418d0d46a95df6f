//! The working folder: everything that tools and checks do with files goes through this handle.
//!
//! The handle is opened once. After that no path is resolved by the system from its root: names are
//! looked up below the handle, so that neither `..`, nor a link, nor a race leads out of the folder.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use cap_fs_ext::OpenOptionsSyncExt;
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use contract::Hash;
use contract::access::{Granted, key_stores};
use contract::picture::{Picture, PictureLimits};
use contract::ports::documents::{Documents, NoDocuments};
use contract::ports::files::{DirEntry, FileKind, Files, FilesError};
use sha2::{Digest, Sha256};

use crate::reach::Reach;
use crate::{atomic, path, text};

/// A working folder that was opened. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Folder {
    inner: Arc<Inner>,
    documents: Reader,
}

/// What reads the documents in it.
#[derive(Clone)]
struct Reader(Arc<dyn Documents>);

impl std::fmt::Debug for Reader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Documents")
    }
}

#[derive(Debug)]
struct Inner {
    dir: Arc<Dir>,
    /// To show; the folder's real path.
    root: String,
    /// The folder's real path and the one that it was opened by.
    roots: Vec<PathBuf>,
    /// What is never reached, in it or beside it, whatever is granted.
    never: Vec<PathBuf>,
}

impl Folder {
    /// Opens a folder for everything below it.
    ///
    /// # Errors
    /// `FolderMissing`, `WrongKind` when it is a file, `Denied` when it may not be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, FilesError> {
        let given = path.as_ref();
        let shown = given.display().to_string();
        let words = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => FilesError::FolderMissing(shown.clone()),
            io::ErrorKind::NotADirectory => not_a(&shown, "folder"),
            _ => in_words(&shown, &error),
        };
        let real = std::fs::canonicalize(given).map_err(words)?;
        if !real.is_dir() {
            return Err(not_a(&shown, "folder"));
        }
        let dir = Dir::open_ambient_dir(&real, ambient_authority()).map_err(words)?;
        dir.entries().map_err(words)?;
        let absolute = std::path::absolute(given).map_err(words)?;
        // Something else may stand under its name by now; what counts is what was opened.
        let real = path_of(&dir).unwrap_or(real);
        Ok(Self {
            inner: Arc::new(Inner {
                dir: Arc::new(dir),
                root: real.display().to_string(),
                roots: vec![real, absolute],
                never: Vec::new(),
            }),
            documents: Reader(Arc::new(NoDocuments)),
        })
    }

    /// The same folder, whose documents this reads.
    #[must_use]
    pub fn with_documents(self, documents: Arc<dyn Documents>) -> Self {
        Self {
            documents: Reader(documents),
            ..self
        }
    }

    /// The same folder, which never reaches these places, in it or beside it, whatever is granted. Folders of keys are
    /// among them in any case.
    #[must_use]
    pub fn keeping_out(self, places: Vec<PathBuf>) -> Self {
        let real = |place: &PathBuf| std::fs::canonicalize(place).ok();
        let both = places.iter().filter_map(real).collect::<Vec<_>>();
        let inner = Inner {
            dir: Arc::clone(&self.inner.dir),
            root: self.inner.root.clone(),
            roots: self.inner.roots.clone(),
            never: places.into_iter().chain(both).collect(),
        };
        Self {
            inner: Arc::new(inner),
            ..self
        }
    }

    /// Files are slow and block; the runtime's other work goes on meanwhile.
    async fn blocking<T: Send + 'static>(
        &self,
        path: &str,
        work: impl FnOnce(&Inner, &str) -> Result<T, FilesError> + Send + 'static,
    ) -> Result<T, FilesError> {
        let relative = self.relative(path)?;
        let inner = Arc::clone(&self.inner);
        let done = tokio::task::spawn_blocking(move || match inner.is_kept_out(&relative) {
            true => Err(FilesError::Denied(relative)),
            false => work(&inner, &relative),
        })
        .await;
        done.unwrap_or_else(|_| {
            Err(FilesError::Io {
                path: path.to_owned(),
                message: "reading or writing it ended unexpectedly".to_owned(),
            })
        })
    }
}

#[async_trait]
impl Files for Folder {
    fn root(&self) -> &str {
        &self.inner.root
    }

    fn reaching(&self, granted: &Granted) -> Option<Arc<dyn Files>> {
        Reach::of(self, granted, &self.inner.never).map(|reach| Arc::new(reach) as _)
    }

    fn relative(&self, path: &str) -> Result<String, FilesError> {
        path::relative(&self.inner.roots, path)
    }

    async fn stat(&self, path: &str) -> Result<Option<(FileKind, u64)>, FilesError> {
        self.blocking(path, Inner::stat).await
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FilesError> {
        self.blocking(path, move |inner, path| inner.read(path, limit)).await
    }

    async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, FilesError> {
        self.blocking(path, move |inner, path| {
            let mut file = inner.open(path)?;
            let failed = |error| inner.failed(path, &error);
            file.seek(SeekFrom::Start(offset)).map_err(failed)?;
            let mut bytes = Vec::new();
            file.take(length).read_to_end(&mut bytes).map_err(failed)?;
            Ok(bytes)
        })
        .await
    }

    fn text(&self, bytes: &[u8]) -> Option<String> {
        text::guess(bytes).ok()
    }

    fn documents(&self) -> Arc<dyn Documents> {
        Arc::clone(&self.documents.0)
    }

    async fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        self.blocking(path, Inner::list).await
    }

    async fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let bytes = bytes.to_vec();
        self.blocking(path, move |inner, path| inner.write(path, &bytes)).await
    }

    async fn hash(&self, path: &str) -> Result<Option<Hash>, FilesError> {
        self.blocking(path, Inner::hash).await
    }

    async fn picture(&self, limits: PictureLimits, earlier: Option<&Picture>) -> Result<Picture, FilesError> {
        let earlier = earlier.cloned();
        self.blocking("", move |inner, _| inner.picture(limits, earlier.as_ref()))
            .await
    }
}

impl Inner {
    /// Whether a path of the folder leads to what is never reached: by its names, or by a link on the way.
    fn is_kept_out(&self, path: &str) -> bool {
        let Some(root) = self.roots.first() else {
            return true;
        };
        let place = root.join(path);
        if self.keeps_out(&place) {
            return true;
        }
        let real = place.ancestors().find_map(|place| place.canonicalize().ok());
        real.is_some_and(|real| self.keeps_out(&real))
    }

    /// Whether this very place, whose path leads over no link, is never reached.
    fn keeps_out(&self, place: &Path) -> bool {
        let Some(root) = self.roots.first() else {
            return true;
        };
        let inside = place.strip_prefix(root).unwrap_or(place);
        // A folder that lies inside of such a place was refused or chosen when the run began.
        let mut never = self.never.iter().filter(|kept| !root.starts_with(kept));
        key_stores::leads_into_one(inside) || never.any(|kept| place.starts_with(kept))
    }

    /// Lets through what was opened, unless it is never reached: between the look at its path and the opening a command
    /// may have exchanged a folder on the way for a link.
    fn reached<T: Handle>(&self, path: &str, opened: T) -> Result<T, FilesError> {
        match path_of(&opened) {
            Some(place) if self.keeps_out(&place) => Err(FilesError::Denied(path.to_owned())),
            Some(_) | None => Ok(opened),
        }
    }

    fn stat(&self, path: &str) -> Result<Option<(FileKind, u64)>, FilesError> {
        let followed = match self.dir.metadata(here(path)) {
            Ok(metadata) => return Ok(Some(kind(&metadata))),
            Err(error) => error,
        };
        match self.dir.symlink_metadata(here(path)) {
            // A link that leads out of the folder, or nowhere.
            Ok(link) if link.is_symlink() => Ok(Some((FileKind::Other, 0))),
            _ => match self.failed(path, &followed) {
                FilesError::NotFound(_) => Ok(None),
                other => Err(other),
            },
        }
    }

    /// Opens a file and nothing else; a device or a pipe is not waited for.
    fn open(&self, path: &str) -> Result<File, FilesError> {
        let failed = |error| self.failed(path, &error);
        let metadata = self.dir.metadata(here(path)).map_err(failed)?;
        if !metadata.is_file() {
            return Err(not_a(path, "file"));
        }
        let file = self
            .dir
            .open_with(here(path), OpenOptions::new().read(true).nonblock(true))
            .map_err(failed)?;
        // What was looked at may have been exchanged for something else before it was opened.
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(not_a(path, "file"));
        }
        self.reached(path, file)
    }

    fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FilesError> {
        let file = self.open(path)?;
        let failed = |error| self.failed(path, &error);
        let size = file.metadata().map_err(failed)?.len();
        let too_large = |size| FilesError::TooLarge {
            path: path.to_owned(),
            size,
            limit,
        };
        if size > limit {
            return Err(too_large(size));
        }
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        // A file that is still growing.
        if bytes.len() as u64 > limit {
            return Err(too_large(bytes.len() as u64));
        }
        Ok(bytes)
    }

    fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        let failed = |error| self.failed(path, &error);
        if !self.dir.metadata(here(path)).map_err(failed)?.is_dir() {
            return Err(not_a(path, "folder"));
        }
        let opened = self.reached(path, self.dir.open_dir(here(path)).map_err(failed)?)?;
        let mut entries = Vec::new();
        for entry in opened.entries().map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let found = match name.to_str() {
                Some(name) if atomic::is_temporary(name) => continue,
                Some(name) => self.stat(&join(path, name)).unwrap_or(Some((FileKind::Other, 0))),
                None => Some((FileKind::Other, 0)),
            };
            // Nothing: it went away while we looked.
            let Some((kind, size)) = found else { continue };
            entries.push(DirEntry {
                name: name.to_string_lossy().into_owned(),
                kind,
                size,
            });
        }
        entries.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(entries)
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let failed = |error| self.failed(path, &error);
        let Some(name) = Path::new(path).file_name() else {
            return Err(not_a(path, "file"));
        };
        let parent = self.reached(path, self.parent(path).map_err(failed)?)?;
        let mode = match parent.symlink_metadata(name) {
            Ok(there) if there.is_file() && there.permissions().readonly() => {
                return Err(FilesError::Denied(path.to_owned()));
            }
            Ok(there) if there.is_file() => Some(there.permissions()),
            Ok(there) if there.is_symlink() => None,
            Ok(_) => return Err(not_a(path, "file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(failed(error)),
        };
        atomic::replace(&parent, Path::new(name), bytes, mode).map_err(failed)
    }

    /// The folder of a file, made and made to last where it is missing.
    fn parent(&self, path: &str) -> io::Result<Dir> {
        let parent = Path::new(path).parent().map(Path::to_path_buf).unwrap_or_default();
        if parent.as_os_str().is_empty() {
            return self.dir.try_clone();
        }
        if !self.dir.try_exists(&parent)? {
            self.dir.create_dir_all(&parent)?;
            for ancestor in parent.ancestors().skip(1) {
                atomic::sync(&self.dir.open_dir(here_path(ancestor))?)?;
            }
        }
        self.dir.open_dir(&parent)
    }

    fn hash(&self, path: &str) -> Result<Option<Hash>, FilesError> {
        match self.stat(path)? {
            Some((FileKind::File, _)) => {}
            Some((FileKind::Folder | FileKind::Other, _)) | None => return Ok(None),
        }
        let mut file = self.open(path)?;
        let mut digest = Sha256::new();
        let mut piece = vec![0; 64 * 1024];
        loop {
            let read = file.read(&mut piece).map_err(|error| self.failed(path, &error))?;
            if read == 0 {
                return Ok(Some(Hash(format!("sha256:{}", hex::encode(digest.finalize())))));
            }
            digest.update(&piece[..read]);
        }
    }

    /// A failure in words; a folder that went away is told from a file that is not there.
    fn failed(&self, path: &str, error: &io::Error) -> FilesError {
        if error.kind() == io::ErrorKind::NotFound && self.is_gone() {
            return FilesError::FolderMissing(self.root.clone());
        }
        in_words(path, error)
    }

    fn is_gone(&self) -> bool {
        #[cfg(unix)]
        if let Ok(metadata) = self.dir.dir_metadata() {
            use cap_std::fs::MetadataExt;
            return metadata.nlink() == 0;
        }
        !self.roots.iter().any(|root| root.is_dir())
    }
}

/// Something that was opened.
#[cfg(unix)]
use std::os::fd::AsRawFd as Handle;
#[cfg(not(unix))]
trait Handle {}
#[cfg(not(unix))]
impl<T> Handle for T {}

/// Where something that was opened lies by now, as the system says it; none where it does not.
#[cfg(target_os = "linux")]
fn path_of(opened: &impl Handle) -> Option<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok()
}

#[cfg(not(target_os = "linux"))]
fn path_of(_opened: &impl Handle) -> Option<PathBuf> {
    None
}

fn here(path: &str) -> &Path {
    here_path(Path::new(path))
}

fn here_path(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

fn kind(metadata: &Metadata) -> (FileKind, u64) {
    if metadata.is_dir() {
        (FileKind::Folder, 0)
    } else if metadata.is_file() {
        (FileKind::File, metadata.len())
    } else {
        (FileKind::Other, 0)
    }
}

fn not_a(path: &str, expected: &'static str) -> FilesError {
    FilesError::WrongKind {
        path: path.to_owned(),
        expected,
    }
}

fn in_words(path: &str, error: &io::Error) -> FilesError {
    let path = path.to_owned();
    match error.kind() {
        io::ErrorKind::NotFound => FilesError::NotFound(path),
        // The handle's own refusal to leave the folder has no number of the system's.
        io::ErrorKind::PermissionDenied if error.raw_os_error().is_none() => FilesError::Outside(path),
        io::ErrorKind::PermissionDenied => FilesError::Denied(path),
        io::ErrorKind::IsADirectory => FilesError::WrongKind { path, expected: "file" },
        io::ErrorKind::NotADirectory => FilesError::Io {
            path,
            message: "one of its folders is really a file".to_owned(),
        },
        io::ErrorKind::StorageFull => FilesError::Io {
            path,
            message: "the disk is full".to_owned(),
        },
        _ => {
            let said = error.to_string();
            let message = said.split(" (os error").next().unwrap_or(&said).to_lowercase();
            FilesError::Io { path, message }
        }
    }
}

mod exchange;
mod pictures;

#[cfg(test)]
mod tests;
