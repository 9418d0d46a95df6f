//! The working folder with what is granted beside it: other files and folders, under their absolute paths.
//!
//! Each is opened by a handle of its own ([`Folder`]), so that nothing beside a grant is reached through it. The app's own
//! data and the places where keys are kept are never reached, whatever was granted (tools page, "Permissions").

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use contract::Hash;
use contract::access::{Granted, key_stores, lexical};
use contract::picture::{Picture, PictureLimits};
use contract::ports::documents::Documents;
use contract::ports::files::{DirEntry, FileKind, Files, FilesError};

use crate::Folder;

/// The working folder and what is granted beside it.
pub(crate) struct Reach {
    home: Folder,
    /// Absolute, without `.` or `..`; each with whether it may be changed.
    beside: Vec<(PathBuf, bool)>,
    never: Vec<PathBuf>,
}

impl Reach {
    /// None when nothing is granted beside the folder.
    pub(crate) fn of(home: &Folder, granted: &Granted, never: &[PathBuf]) -> Option<Self> {
        let other = |path: &&String| path.as_str() != granted.folder && Path::new(path.as_str()).is_absolute();
        let place = |write: bool| move |path: &String| (lexical(Path::new(path)), write);
        let read = granted.read.iter().filter(other).map(place(false));
        let write = granted.write.iter().filter(other).map(place(true));
        let beside: Vec<(PathBuf, bool)> = read.chain(write).collect();
        (!beside.is_empty()).then(|| Self {
            home: home.clone(),
            beside,
            never: never.to_vec(),
        })
    }

    /// The granted place that a path lies in; none for a path of the working folder.
    fn place(&self, path: &str, write: bool) -> Result<Option<(PathBuf, PathBuf)>, FilesError> {
        let refused = match self.home.relative(path) {
            Ok(_) => return Ok(None),
            Err(error) => error,
        };
        let place = lexical(Path::new(path));
        if !matches!(refused, FilesError::Outside(_)) || !place.is_absolute() {
            return Err(refused);
        }
        let mut grants = self.beside.iter().filter(|(_, may_write)| *may_write || !write);
        match grants.find(|(root, _)| place.starts_with(root)) {
            Some((root, _)) => Ok(Some((root.clone(), place))),
            None => Err(refused),
        }
    }

    /// The handle that a path is reached by, and its path there.
    async fn open(&self, path: &str, write: bool) -> Result<(Folder, String), FilesError> {
        let Some((root, place)) = self.place(path, write)? else {
            return Ok((self.home.clone(), path.to_owned()));
        };
        let (never, shown) = (self.never.clone(), path.to_owned());
        let opened = tokio::task::spawn_blocking(move || open(&root, &place, &never, &shown)).await;
        opened.unwrap_or_else(|_| {
            Err(FilesError::Io {
                path: path.to_owned(),
                message: "opening its folder ended unexpectedly".to_owned(),
            })
        })
    }
}

fn open(root: &Path, place: &Path, never: &[PathBuf], shown: &str) -> Result<(Folder, String), FilesError> {
    // A granted folder is opened itself, a granted file through its folder.
    let folder = match root.is_dir() {
        true => root,
        false => root.parent().filter(|_| place == root).unwrap_or(root),
    };
    let real = std::fs::canonicalize(place).unwrap_or_else(|_| place.to_path_buf());
    if is_kept_out(place, never) || is_kept_out(&real, never) {
        return Err(FilesError::Denied(shown.to_owned()));
    }
    // Looked at again where the folder was opened: what stands under its name may have been exchanged meanwhile.
    let opened = Folder::open(folder)?.keeping_out(never.to_vec());
    if is_kept_out(Path::new(opened.root()), never) {
        return Err(FilesError::Denied(shown.to_owned()));
    }
    let rest = place.strip_prefix(folder).unwrap_or(place);
    let rest = rest.to_str().ok_or_else(|| FilesError::Outside(shown.to_owned()))?;
    Ok((opened, rest.to_owned()))
}

/// Whether a place is one of those, or leads into a folder of keys.
pub(crate) fn is_kept_out(place: &Path, never: &[PathBuf]) -> bool {
    never.iter().any(|kept| place.starts_with(kept)) || key_stores::leads_into_one(place)
}

#[async_trait]
impl Files for Reach {
    fn root(&self) -> &str {
        self.home.root()
    }

    fn relative(&self, path: &str) -> Result<String, FilesError> {
        match self.place(path, false)? {
            None => self.home.relative(path),
            Some((_, place)) => Ok(place.to_string_lossy().into_owned()),
        }
    }

    async fn stat(&self, path: &str) -> Result<Option<(FileKind, u64)>, FilesError> {
        let (folder, path) = self.open(path, false).await?;
        folder.stat(&path).await
    }

    async fn read(&self, path: &str, limit: u64) -> Result<Vec<u8>, FilesError> {
        let (folder, path) = self.open(path, false).await?;
        folder.read(&path, limit).await
    }

    async fn read_range(&self, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, FilesError> {
        let (folder, path) = self.open(path, false).await?;
        folder.read_range(&path, offset, length).await
    }

    fn text(&self, bytes: &[u8]) -> Option<String> {
        self.home.text(bytes)
    }

    fn documents(&self) -> Arc<dyn Documents> {
        self.home.documents()
    }

    async fn list(&self, path: &str) -> Result<Vec<DirEntry>, FilesError> {
        let (folder, path) = self.open(path, false).await?;
        folder.list(&path).await
    }

    async fn write(&self, path: &str, bytes: &[u8]) -> Result<(), FilesError> {
        let (folder, path) = self.open(path, true).await?;
        folder.write(&path, bytes).await
    }

    async fn hash(&self, path: &str) -> Result<Option<Hash>, FilesError> {
        let (folder, path) = self.open(path, false).await?;
        folder.hash(&path).await
    }

    async fn picture(&self, limits: PictureLimits, earlier: Option<&Picture>) -> Result<Picture, FilesError> {
        self.home.picture(limits, earlier).await
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    struct Place {
        around: tempfile::TempDir,
        home: Folder,
    }

    fn place() -> Place {
        let around = tempfile::tempdir().unwrap();
        let root = around.path();
        for folder in ["home", "rates/deep", "other", ".ssh", "data"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "rates/may.csv",
            "rates/deep/a.csv",
            "other/secret",
            ".ssh/id",
            "data/store",
        ] {
            fs::write(root.join(file), file).unwrap();
        }
        let home = Folder::open(root.join("home"))
            .unwrap()
            .keeping_out(vec![root.join("data")]);
        Place { around, home }
    }

    impl Place {
        fn at(&self, path: &str) -> String {
            self.around.path().join(path).display().to_string()
        }

        fn reaching(&self, read: &[&str], write: &[&str]) -> Arc<dyn Files> {
            let paths = |paths: &[&str]| paths.iter().map(|path| self.at(path)).collect();
            let granted = Granted {
                folder: self.home.root().to_owned(),
                read: paths(read),
                write: paths(write),
                ..Granted::default()
            };
            self.home.reaching(&granted).unwrap()
        }
    }

    #[tokio::test]
    async fn what_is_granted_beside_the_folder_is_read_and_nothing_beside_that() {
        let place = place();
        let files = place.reaching(&["rates"], &[]);
        let read = async |path: &str| files.read(&place.at(path), 100).await;
        assert_eq!(read("rates/may.csv").await.unwrap(), b"rates/may.csv");
        assert_eq!(files.list(&place.at("rates")).await.unwrap().len(), 2);
        for path in ["other/secret", "rates/../other/secret", "rates2"] {
            assert!(matches!(read(path).await, Err(FilesError::Outside(_))), "{path}");
        }
        let written = files.write(&place.at("rates/may.csv"), b"x").await;
        assert!(matches!(written, Err(FilesError::Outside(_))), "{written:?}");
        assert!(place.home.reaching(&Granted::default()).is_none());
    }

    #[tokio::test]
    async fn a_granted_file_is_written_and_its_neighbours_are_not() {
        let place = place();
        let files = place.reaching(&[], &["rates/new.csv"]);
        files.write(&place.at("rates/new.csv"), b"x").await.unwrap();
        assert_eq!(fs::read(place.at("rates/new.csv")).unwrap(), b"x");
        assert!(files.write(&place.at("rates/may.csv"), b"x").await.is_err());
        assert!(files.write("report.md", b"x").await.is_ok());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn a_link_does_not_lead_out_of_what_is_granted() {
        let place = place();
        std::os::unix::fs::symlink(place.at("other"), place.at("rates/out")).unwrap();
        let files = place.reaching(&["rates"], &["rates"]);
        assert!(files.read(&place.at("rates/out/secret"), 100).await.is_err());
        assert!(files.write(&place.at("rates/out/new"), b"x").await.is_err());
    }

    #[tokio::test]
    async fn keys_and_the_apps_own_data_are_never_reached() {
        let place = place();
        let files = place.reaching(&["", ".ssh/id"], &[""]);
        for path in [".ssh/id", "data/store", "other/../data/store"] {
            let read = files.read(&place.at(path), 100).await;
            assert!(matches!(read, Err(FilesError::Denied(_))), "{path}: {read:?}");
        }
        assert!(files.read(&place.at("other/secret"), 100).await.is_ok());
    }
}
