//! How a connection to the database is set up, and which SQLite is good enough.

use std::path::Path;
use std::time::Duration;

use rusqlite::OpenFlags;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use crate::error::StoreError;

/// Older ones have a race when the write-ahead log is reset that can damage the database.
const OLDEST_SQLITE: &str = "3.51.3";
/// How long a statement waits for another process to finish its transaction.
const BUSY: Duration = Duration::from_secs(10);

/// A connection that may write. `synchronous` is the writer's business from here on.
pub(crate) fn writing(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        // On macOS an ordinary sync stops at the drive's cache; elsewhere these do nothing.
        .pragma("fullfsync", "ON")
        .pragma("checkpoint_fullfsync", "ON")
        .pragma("journal_size_limit", "67108864")
        .disable_statement_logging()
}

/// The connection that appends, to a database that is there.
///
/// It checks no foreign keys: it adds rows only, to a run whose row it has just written in the same transaction, and
/// names content whose row it has just found or made there.
pub(crate) fn appending(database: &Path) -> Result<rusqlite::Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = rusqlite::Connection::open_with_flags(database, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.execute_batch(
        "PRAGMA synchronous = NORMAL;
        PRAGMA foreign_keys = OFF;
        PRAGMA fullfsync = ON;
        PRAGMA checkpoint_fullfsync = ON;
        PRAGMA cache_size = -1024;
        PRAGMA wal_autocheckpoint = 2000;
        PRAGMA journal_size_limit = 67108864;",
    )?;
    Ok(connection)
}

/// A connection that only reads.
pub(crate) fn reading(database: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(database)
        .create_if_missing(false)
        .busy_timeout(BUSY)
        .pragma("query_only", "ON")
        .disable_statement_logging()
}

/// Refuses to work on top of an SQLite that can damage databases.
pub(crate) async fn require_safe_sqlite() -> Result<(), StoreError> {
    let mut connection: SqliteConnection = SqliteConnectOptions::new().in_memory(true).connect().await?;
    let found: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(&mut connection)
        .await?;
    if is_safe(&found) {
        return Ok(());
    }
    Err(StoreError::OldSqlite {
        found,
        needed: OLDEST_SQLITE,
    })
}

fn is_safe(version: &str) -> bool {
    numbers(version) >= numbers(OLDEST_SQLITE)
}

fn numbers(version: &str) -> Vec<u32> {
    version.split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_a_safe_sqlite_from_an_older_one() {
        assert!(is_safe("3.51.3") && is_safe("3.52.0") && is_safe("3.100.0") && is_safe("4.0"));
        assert!(!is_safe("3.51.2") && !is_safe("3.9.9") && !is_safe("3.51") && !is_safe(""));
    }

    #[tokio::test]
    async fn the_sqlite_that_is_built_in_is_safe() {
        require_safe_sqlite().await.unwrap();
    }
}
