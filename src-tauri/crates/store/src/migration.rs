//! Bringing the database's format up to date, with a copy to go back to.
//!
//! Whoever calls [`migrate`] holds the folder alone: nobody else may have the database open while it is
//! changed, or while the copy is put back.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use sqlx::migrate::Migrator;
use sqlx::{Connection, SqliteConnection};

use crate::error::StoreError;
use crate::open::beside;
use crate::private;

/// The formats that this version knows, oldest first.
pub(crate) static MIGRATOR: Migrator = sqlx::migrate!("./migrations");

/// How the database's format compares with the one this version knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// The same.
    Current,
    /// There is nothing in it yet.
    Empty,
    /// Older: this is its newest migration.
    Older(i64),
}

/// Looks at the database without changing it. A newer format is an error.
pub(crate) async fn format(connection: &mut SqliteConnection, migrator: &Migrator) -> Result<Format, StoreError> {
    let tables: Vec<String> = sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'table'")
        .fetch_all(&mut *connection)
        .await?;
    if tables.is_empty() {
        return Ok(Format::Empty);
    }
    if !tables.iter().any(|table| table == "_sqlx_migrations") {
        return Err(StoreError::Corrupted(
            "tepa.db is the database of another program".to_owned(),
        ));
    }
    let applied: Vec<i64> = sqlx::query_scalar("SELECT version FROM _sqlx_migrations ORDER BY version")
        .fetch_all(connection)
        .await?;
    let known: Vec<i64> = migrator.iter().map(|migration| migration.version).collect();
    if let Some(found) = applied.iter().rev().find(|version| !known.contains(version)) {
        return Err(StoreError::Newer {
            found: *found,
            known: known.last().copied().unwrap_or_default(),
        });
    }
    let current = known.iter().all(|version| applied.contains(version));
    Ok(match applied.last() {
        _ if current => Format::Current,
        Some(newest) => Format::Older(*newest),
        None => Format::Empty,
    })
}

/// Applies what is missing. When that fails the database is as it was before.
pub(crate) async fn migrate(
    mut connection: SqliteConnection,
    database: &Path,
    from: Format,
    migrator: &Migrator,
) -> Result<(), StoreError> {
    let backup = match from {
        Format::Current => return Ok(()),
        Format::Empty => None,
        Format::Older(version) => Some(back_up(&mut connection, database, version).await?),
    };
    let outcome = apply(&mut connection, migrator).await;
    let closed = connection.close().await;
    let Err(reason) = outcome else {
        return Ok(closed?);
    };
    let restored = match &backup {
        Some(backup) => restore(backup, database).is_ok(),
        None => false,
    };
    tracing::error!(reason, restored, "the history could not be brought up to date");
    Err(StoreError::Migration {
        reason,
        restored,
        backup,
    })
}

async fn apply(connection: &mut SqliteConnection, migrator: &Migrator) -> Result<(), String> {
    migrator
        .run(&mut *connection)
        .await
        .map_err(|error| error.to_string())?;
    let findings: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
        .fetch_all(connection)
        .await
        .map_err(|error| error.to_string())?;
    if findings == ["ok"] {
        return Ok(());
    }
    Err(format!("the check afterwards found: {}", findings.join("; ")))
}

/// A whole, synced copy under `backups`, named after the format it has.
async fn back_up(connection: &mut SqliteConnection, database: &Path, version: i64) -> Result<PathBuf, StoreError> {
    let folder = database.with_file_name("backups");
    let unfinished = folder.join("unfinished.db");
    let name = database.file_stem().unwrap_or_default().to_string_lossy();
    let backup = folder.join(format!("{name}-{version}.db"));
    private::make_folder(&folder).map_err(|error| StoreError::io(&folder, error))?;
    remove(&unfinished).map_err(|error| StoreError::io(&unfinished, error))?;
    // SQLite fills a file that is empty, and leaves it to its owner.
    private::own_file(&unfinished).map_err(|error| StoreError::io(&unfinished, error))?;
    let Some(target) = unfinished.to_str() else {
        return Err(StoreError::Folder {
            path: folder,
            source: io::Error::new(io::ErrorKind::InvalidInput, "its name is not Unicode"),
        });
    };
    sqlx::query("VACUUM INTO ?").bind(target).execute(connection).await?;
    sync(&unfinished)
        .and_then(|()| fs::rename(&unfinished, &backup))
        .and_then(|()| sync_folder(&folder))
        .map_err(|error| StoreError::io(&backup, error))?;
    Ok(backup)
}

/// Puts the copy where the database was. The log of the failed attempt must go first, or it would be
/// applied to the copy.
fn restore(backup: &Path, database: &Path) -> io::Result<()> {
    let copy = database.with_extension("restoring");
    fs::copy(backup, &copy)?;
    sync(&copy)?;
    for suffix in ["-wal", "-shm"] {
        remove(&beside(database, suffix))?;
    }
    fs::rename(&copy, database)?;
    database.parent().map_or(Ok(()), sync_folder)
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

pub(crate) fn sync(path: &Path) -> io::Result<()> {
    File::options().write(true).open(path)?.sync_all()
}

/// A new name is on disk only when its folder is; Windows does this by itself.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod rehearsal;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sqlx::migrate::{Migration, MigrationType};
    use sqlx::{ConnectOptions, SqlSafeStr};

    use super::*;
    use crate::connection::writing;
    use crate::open::{DATABASE, Store};

    fn and(more: &[(i64, &'static str)]) -> Migrator {
        let mut all: Vec<Migration> = MIGRATOR.iter().cloned().collect();
        for (version, sql) in more {
            all.push(Migration::new(
                *version,
                "later".into(),
                MigrationType::Simple,
                sql.into_sql_str(),
                false,
            ));
        }
        Migrator::with_migrations(all)
    }

    async fn settings_of(folder: &Path) -> Vec<String> {
        let mut connection = writing(&folder.join(DATABASE)).connect().await.unwrap();
        sqlx::query_scalar("SELECT key FROM setting")
            .fetch_all(&mut connection)
            .await
            .unwrap()
    }

    async fn with_a_setting() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).await.unwrap();
        store.settings().set("theme", &serde_json::json!("dark")).await.unwrap();
        store.close().await.unwrap();
        folder
    }

    #[tokio::test]
    async fn keeps_a_copy_from_before_a_migration() {
        let folder = with_a_setting().await;
        let newer = and(&[(20990101000000, "CREATE TABLE later (id INTEGER) STRICT")]);
        let store = Store::open_with(folder.path(), &newer, Duration::ZERO).await.unwrap();
        store.close().await.unwrap();
        let copies: Vec<_> = fs::read_dir(folder.path().join("backups"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        let before = MIGRATOR.iter().last().unwrap().version;
        assert_eq!(copies, [format!("tepa-{before}.db")]);
        assert_eq!(settings_of(folder.path()).await, ["theme"]);
    }

    #[tokio::test]
    async fn puts_the_copy_back_when_a_migration_fails() {
        let folder = with_a_setting().await;
        let broken = and(&[
            (20990101000000, "DELETE FROM setting"),
            (20990101000001, "CREATE TABLE run (id INTEGER) STRICT"),
        ]);
        let error = Store::open_with(folder.path(), &broken, Duration::ZERO)
            .await
            .unwrap_err();
        assert!(
            matches!(&error, StoreError::Migration { restored: true, .. }),
            "{error}"
        );
        assert_eq!(settings_of(folder.path()).await, ["theme"]);
        Store::open(folder.path()).await.unwrap();
    }

    #[tokio::test]
    async fn refuses_a_newer_format_and_changes_nothing() {
        let folder = with_a_setting().await;
        let newer = and(&[(20990101000000, "CREATE TABLE later (id INTEGER) STRICT")]);
        Store::open_with(folder.path(), &newer, Duration::ZERO)
            .await
            .unwrap()
            .close()
            .await
            .unwrap();
        let before = fs::read(folder.path().join(DATABASE)).unwrap();
        let error = Store::open(folder.path()).await.unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::Newer {
                    found: 20990101000000,
                    ..
                }
            ),
            "{error}"
        );
        assert_eq!(fs::read(folder.path().join(DATABASE)).unwrap(), before);
    }

    #[tokio::test]
    async fn does_not_migrate_under_a_window_that_is_open() {
        let folder = with_a_setting().await;
        let open = Store::open(folder.path()).await.unwrap();
        let newer = and(&[(20990101000000, "CREATE TABLE later (id INTEGER) STRICT")]);
        let error = Store::open_with(folder.path(), &newer, Duration::ZERO)
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::InUse), "{error}");
        open.close().await.unwrap();
        Store::open_with(folder.path(), &newer, Duration::ZERO).await.unwrap();
    }

    #[tokio::test]
    async fn does_not_touch_the_database_of_another_program() {
        let folder = tempfile::tempdir().unwrap();
        let mut connection = writing(&folder.path().join(DATABASE)).connect().await.unwrap();
        sqlx::query("CREATE TABLE songs (id INTEGER)")
            .execute(&mut connection)
            .await
            .unwrap();
        connection.close().await.unwrap();
        let error = Store::open(folder.path()).await.unwrap_err();
        assert!(matches!(error, StoreError::Corrupted(_)), "{error}");
    }
}
