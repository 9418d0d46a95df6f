//! How a data folder becomes a [`Store`]: the folder is made and locked, the database opened, brought
//! up to date and cleared up, and the writer started.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::migrate::Migrator;
use sqlx::sqlite::SqlitePoolOptions;
use sqlx::{ConnectOptions, Connection, SqlitePool};

use crate::artifact;
use crate::connection::{reading, require_safe_sqlite, writing};
use crate::content::ContentFolder;
use crate::error::StoreError;
use crate::folder_lock::FolderLock;
use crate::migration::{self, Format, MIGRATOR};
use crate::private;
use crate::run_lock;
use crate::writer::Writer;

/// The database's name in the data folder.
pub(crate) const DATABASE: &str = "tepa.db";
/// How long an open waits for another process that has the folder alone.
const PATIENCE: Duration = Duration::from_secs(20);
/// How many queries can be answered at once.
const READERS: u32 = 4;

/// Everything the app remembers, in one data folder. Cheap to clone; clones share one writer.
///
/// When the last clone is dropped, what was queued is still written; [`Store::close`] waits for that.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    place: Place,
    content: ContentFolder,
    readers: SqlitePool,
    writer: Writer,
}

/// Where the database is, and the folder for everything that stands beside it.
#[derive(Debug, Clone)]
struct Place {
    folder: PathBuf,
    database: PathBuf,
}

impl Store {
    /// Opens the data folder, making it if there is none. An existing database is never replaced: one
    /// that cannot be read, or is newer than this version, is an error.
    pub async fn open(data_folder: &Path) -> Result<Self, StoreError> {
        Self::open_with(data_folder, &MIGRATOR, PATIENCE).await
    }

    /// Opens a database by its own name, making it if there is none. What else belongs to it (large content, locks)
    /// is in a folder of the same name with `.files` behind it.
    pub async fn open_file(database: &Path) -> Result<Self, StoreError> {
        let mut folder = database.as_os_str().to_owned();
        folder.push(".files");
        let place = Place {
            folder: folder.into(),
            database: database.to_owned(),
        };
        Self::open_at(place, &MIGRATOR, PATIENCE).await
    }

    pub(crate) async fn open_with(
        data_folder: &Path,
        migrator: &Migrator,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let place = Place {
            folder: data_folder.to_owned(),
            database: data_folder.join(DATABASE),
        };
        Self::open_at(place, migrator, patience).await
    }

    async fn open_at(place: Place, migrator: &Migrator, patience: Duration) -> Result<Self, StoreError> {
        require_safe_sqlite().await?;
        make_private_folder(&place.folder)?;
        keep_from_others(&place)?;
        let content = ContentFolder::new(place.folder.join("content"));
        let lock = prepare(&place.folder, &place.database, &content, migrator, patience).await?;
        let connection = writing(&place.database).connect().await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(READERS)
            .test_before_acquire(false)
            .connect_lazy_with(reading(&place.database));
        Ok(Self {
            inner: Arc::new(Inner {
                content,
                readers,
                writer: Writer::start(&place.database, connection, lock)?,
                place,
            }),
        })
    }

    /// Waits until everything queued is written, and closes the database for all clones.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.inner.readers.close().await;
        self.inner.writer.close().await
    }

    /// The data folder; for a database that was opened by its name, the folder beside it.
    pub fn folder(&self) -> &Path {
        &self.inner.place.folder
    }

    /// Bytes on disk: the database, its log, and content in files. All of it is in the database and the files once
    /// the store was closed.
    pub fn bytes_on_disk(&self) -> Result<u64, StoreError> {
        let database = &self.inner.place.database;
        let content = self.inner.content.bytes()?;
        Ok(size(database)? + size(&beside(database, "-wal"))? + content)
    }

    pub(crate) fn database(&self) -> &Path {
        &self.inner.place.database
    }

    pub(crate) fn content(&self) -> &ContentFolder {
        &self.inner.content
    }

    pub(crate) fn readers(&self) -> &SqlitePool {
        &self.inner.readers
    }

    pub(crate) fn writer(&self) -> &Writer {
        &self.inner.writer
    }
}

/// Returns with the folder shared and the database in the current format.
async fn prepare(
    folder: &Path,
    database: &Path,
    content: &ContentFolder,
    migrator: &Migrator,
    patience: Duration,
) -> Result<FolderLock, StoreError> {
    let path = folder.join("store.lock");
    let mut lock = FolderLock::enter(&path, patience).await?;
    if lock.alone {
        bring_up_to_date(folder, database, content, migrator).await?;
        lock = lock.share(&path, patience).await?;
    }
    // Somebody else may have been alone in between.
    let mut connection = writing(database).create_if_missing(false).connect().await?;
    let format = migration::format(&mut connection, migrator).await?;
    connection.close().await?;
    match format {
        Format::Current => Ok(lock),
        Format::Empty | Format::Older(_) => Err(StoreError::InUse),
    }
}

/// What only the one who has the folder alone may do.
async fn bring_up_to_date(
    folder: &Path,
    database: &Path,
    content: &ContentFolder,
    migrator: &Migrator,
) -> Result<(), StoreError> {
    check_file(database)?;
    // SQLite would make it with the rights that every new file has.
    private::own_file(database).map_err(|error| StoreError::io(database, error))?;
    let mut connection = writing(database).connect().await?;
    let format = migration::format(&mut connection, migrator).await?;
    if format != Format::Current {
        migration::migrate(connection, database, format, migrator).await?;
        connection = writing(database).connect().await?;
    }
    artifact::collect_orphans(&mut connection, content).await?;
    connection.close().await?;
    run_lock::clear_up(folder)
}

/// The name of a file that SQLite keeps beside its database.
pub(crate) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The size of a file; nothing for one that is not there.
fn size(path: &Path) -> Result<u64, StoreError> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// Says in the system's words why an existing file cannot be opened; SQLite only says that it cannot.
fn check_file(database: &Path) -> Result<(), StoreError> {
    match std::fs::OpenOptions::new().read(true).write(true).open(database) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::io(database, error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// What the app remembers is nobody else's business.
pub(crate) fn make_private_folder(folder: &Path) -> Result<(), StoreError> {
    private::make_folder(folder).map_err(|error| StoreError::io(folder, error))
}

/// The same for what an earlier version made in a folder that others may look into.
fn keep_from_others(place: &Place) -> Result<(), StoreError> {
    let close = |path: &Path, mode| private::close_to_others(path, mode).map_err(|error| StoreError::io(path, error));
    for name in ["content", "locks", "logs"] {
        close(&place.folder.join(name), 0o700)?;
    }
    if !place.database.is_dir() {
        for suffix in ["", "-wal", "-shm"] {
            close(&beside(&place.database, suffix), 0o600)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use contract::ports::journal::{Durability, Journal};
    use contract::value_ref::Artifact;

    use super::*;
    use crate::content::FILE_LIMIT;
    use crate::testing::{incompressible, run_id, started};

    async fn check_refused(bytes: &[u8]) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(DATABASE), bytes).unwrap();
        let error = Store::open(folder.path()).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupted(_)), "{error:?}");
        assert_eq!(fs::read(folder.path().join(DATABASE)).unwrap(), bytes);
    }

    #[tokio::test]
    async fn refuses_a_file_that_is_no_database_and_leaves_it() {
        check_refused(b"Dear diary, today I wrote a database by hand.").await;
        check_refused(&[0x5a; 20_000]).await;
    }

    #[tokio::test]
    async fn refuses_a_database_that_was_cut_short_and_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.close().await.unwrap();
        let whole = fs::read(folder.path().join(DATABASE)).unwrap();
        check_refused(&whole[..whole.len() / 2]).await;
        check_refused(&whole[..4096]).await;
        check_refused(&whole[..50]).await;
    }

    #[tokio::test]
    async fn says_that_the_folder_is_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        for place in [file.clone(), file.join("below")] {
            let error = Store::open(&place).await.unwrap_err();
            assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
        }
    }

    #[tokio::test]
    async fn says_that_the_database_is_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(DATABASE)).unwrap();
        let error = Store::open(folder.path()).await.unwrap_err();
        assert!(matches!(error, StoreError::Folder { .. }), "{error:?}");
    }

    /// The kernel's own folder refuses everyone, the superuser too.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn says_that_there_is_no_permission() {
        let error = Store::open(Path::new("/sys/tepa")).await.unwrap_err();
        assert!(matches!(error, StoreError::Denied { .. }), "{error:?}");
        assert_eq!(error.to_string(), "there is no permission to use /sys/tepa");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn keeps_the_folder_to_its_owner() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("deep/data");
        Store::open(&place).await.unwrap();
        assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o700);
    }

    /// What of a folder others may look into, by its path there.
    #[cfg(unix)]
    fn open_to_others(folder: &Path) -> Vec<String> {
        use std::os::unix::fs::PermissionsExt;
        let mut open = Vec::new();
        let mut ahead = vec![folder.to_owned()];
        while let Some(place) = ahead.pop() {
            for entry in fs::read_dir(place).unwrap() {
                let entry = entry.unwrap();
                let metadata = entry.metadata().unwrap();
                if metadata.permissions().mode() & 0o077 != 0 {
                    open.push(entry.path().strip_prefix(folder).unwrap().display().to_string());
                } else if metadata.is_dir() {
                    // What lies in a folder that is closed is closed.
                    continue;
                }
                if metadata.is_dir() {
                    ahead.push(entry.path());
                }
            }
        }
        open.sort();
        open
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn keeps_its_files_to_their_owner_in_a_folder_that_others_may_look_into() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let run = run_id(1);
        let store = Store::open(folder.path()).await.unwrap();
        let _lock = store.lock_run(&run).unwrap().unwrap();
        let large = Artifact::new("tool-output", incompressible(FILE_LIMIT + 1));
        store
            .append(&run, 1, vec![started("Private")], vec![large], Durability::Commit)
            .await
            .unwrap();
        assert!(fs::metadata(folder.path().join("tepa.db-wal")).is_ok());
        assert_eq!(open_to_others(folder.path()), Vec::<String>::new());
        store.close().await.unwrap();
        drop(store);
        // What another version made for everybody is closed when it is opened.
        for name in ["tepa.db", "store.lock", "content", "locks"] {
            fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let _store = Store::open(folder.path()).await.unwrap();
        assert_eq!(open_to_others(folder.path()), Vec::<String>::new());
        // The folder itself is the person's.
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o755);
    }

    #[tokio::test]
    async fn a_database_can_be_opened_by_its_own_name() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("one.sqlite"), folder.path().join("two.sqlite"));
        let run = run_id(1);
        for (database, title) in [(&one, "One"), (&two, "Two")] {
            let store = Store::open_file(database).await.unwrap();
            let large = Artifact::new("tool-output", incompressible(FILE_LIMIT + 1));
            let empty = store.bytes_on_disk().unwrap();
            store
                .append(&run, 1, vec![started(title)], vec![large], Durability::Commit)
                .await
                .unwrap();
            store.close().await.unwrap();
            assert!(store.bytes_on_disk().unwrap() > empty + FILE_LIMIT as u64);
        }
        let store = Store::open_file(&one).await.unwrap();
        assert_eq!(store.read(&run, 1, 10).await.unwrap()[0].event, *started("One").event);
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        names.retain(|name| !name.to_string_lossy().contains("sqlite-"));
        names.sort();
        assert_eq!(
            names,
            ["one.sqlite", "one.sqlite.files", "two.sqlite", "two.sqlite.files"]
        );
    }

    #[tokio::test]
    async fn two_stores_share_one_folder() {
        let folder = tempfile::tempdir().unwrap();
        let window = Store::open(folder.path()).await.unwrap();
        let terminal = Store::open(folder.path()).await.unwrap();
        let run = run_id(1);
        window
            .append(&run, 1, vec![started("Shared")], vec![], Durability::Commit)
            .await
            .unwrap();
        assert_eq!(terminal.read(&run, 1, 10).await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn many_can_open_an_empty_folder_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let opening = (0..8).map(|_| Store::open(folder.path()));
        for store in futures::future::join_all(opening).await {
            store.unwrap();
        }
    }

    #[tokio::test]
    async fn says_that_it_was_closed() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.clone().close().await.unwrap();
        let error = store.settings().set("a", &serde_json::json!(1)).await.unwrap_err();
        assert!(matches!(error, StoreError::Closed), "{error:?}");
        let error = store.settings().get("a").await.unwrap_err();
        assert!(matches!(error, StoreError::Closed), "{error:?}");
    }
}
