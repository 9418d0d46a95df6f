//! A copy of everything that the app remembers, made while it is in use: the database as one file, and the content that
//! is too large for it. Opened as a data folder, the copy is the app as it was.
//!
//! It is made under another name and gets its own when it is whole and on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection};

use crate::connection::writing;
use crate::error::StoreError;
use crate::migration::{sync, sync_folder};
use crate::open::{DATABASE, Store, make_private_folder};

/// The folder of large content, in the data folder and in its copy.
const CONTENT: &str = "content";

impl Store {
    /// Makes a copy as a new folder of this name, and says how many bytes it has.
    ///
    /// # Errors
    /// There is something of that name, or it cannot be written; nothing stays of it then.
    pub async fn back_up(&self, folder: &Path) -> Result<u64, StoreError> {
        if folder.exists() {
            let taken = io::Error::new(io::ErrorKind::AlreadyExists, "something of this name is there already");
            return Err(StoreError::io(folder, taken));
        }
        let unfinished = unfinished(folder);
        make_private_folder(&unfinished)?;
        let made = self.copy_into(&unfinished).await;
        let moved = made.and_then(|bytes| {
            fs::rename(&unfinished, folder)
                .and_then(|()| folder.parent().map_or(Ok(()), sync_folder))
                .map_err(|error| StoreError::io(folder, error))?;
            Ok(bytes)
        });
        if moved.is_err() {
            // The reason why there is no copy matters more than that a part of it stays.
            let _ = fs::remove_dir_all(&unfinished);
        }
        moved
    }

    async fn copy_into(&self, folder: &Path) -> Result<u64, StoreError> {
        let database = folder.join(DATABASE);
        let Some(target) = database.to_str() else {
            let error = io::Error::new(io::ErrorKind::InvalidInput, "its name is not Unicode");
            return Err(StoreError::io(folder, error));
        };
        // On a connection of its own: the writer goes on meanwhile.
        let mut connection = writing(self.database()).create_if_missing(false).connect().await?;
        let copied = sqlx::query("VACUUM INTO ?").bind(target).execute(&mut connection).await;
        connection.close().await?;
        copied?;
        // Content is never changed, and on disk before its row: what the copied rows name is all there now.
        let (from, to) = (self.folder().join(CONTENT), folder.join(CONTENT));
        let copying = tokio::task::spawn_blocking(move || -> io::Result<u64> {
            sync(&database)?;
            Ok(fs::metadata(&database)?.len() + copy_all(&from, &to)?)
        });
        let bytes = copying.await.map_err(|error| StoreError::Storage(error.to_string()))?;
        bytes.map_err(|error| StoreError::io(folder, error))
    }
}

fn unfinished(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".unfinished");
    name.into()
}

fn copy_all(from: &Path, to: &Path) -> io::Result<u64> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    fs::create_dir_all(to)?;
    let mut bytes = 0;
    for entry in entries {
        let entry = entry?;
        let (kind, to) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            bytes += copy_all(&entry.path(), &to)?;
        } else if kind.is_file() {
            bytes += fs::copy(entry.path(), &to)?;
            sync(&to)?;
        }
    }
    sync_folder(to)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use contract::ports::journal::{Durability, Journal};
    use contract::value_ref::Artifact;

    use super::*;
    use crate::content::FILE_LIMIT;
    use crate::testing::{append, cycle, incompressible, open, run_id, started};

    #[tokio::test]
    async fn a_copy_opened_as_a_data_folder_is_the_same_and_the_app_goes_on() {
        let (_folder, store) = open().await;
        let place = tempfile::tempdir().unwrap();
        let large = Artifact::new("tool-output", incompressible(FILE_LIMIT + 1));
        let run = run_id(1);
        let begun = store.append(&run, 1, vec![started("One")], vec![large.clone()], Durability::Commit);
        begun.await.unwrap();
        let copy = place.path().join("copy");
        let bytes = store.back_up(&copy).await.unwrap();
        assert!(bytes > FILE_LIMIT as u64, "{bytes}");
        append(&store, 1, 2, vec![cycle(1)]).await.unwrap();
        let copied = Store::open(&copy).await.unwrap();
        assert_eq!(copied.read(&run, 1, 10).await.unwrap().len(), 1);
        assert_eq!(
            copied.artifact(&large.hash).await.unwrap().as_deref(),
            Some(large.bytes.as_slice())
        );
        assert_eq!(
            fs::read_dir(place.path()).unwrap().count(),
            1,
            "nothing unfinished is left"
        );
    }

    #[tokio::test]
    async fn nothing_is_written_over() {
        let (_folder, store) = open().await;
        let place = tempfile::tempdir().unwrap();
        let error = store.back_up(place.path()).await.unwrap_err();
        assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
