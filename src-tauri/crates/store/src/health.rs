//! What can be said of the database as a whole: its format, whether it is in order, how much is in it.

use std::collections::BTreeMap;

use sqlx::AssertSqlSafe;

use crate::error::StoreError;
use crate::migration::MIGRATOR;
use crate::open::Store;

/// The tables whose rows are counted.
const TABLES: [&str; 8] = [
    "run",
    "event",
    "artifact",
    "artifact_ref",
    "task",
    "task_version",
    "draft",
    "task_grant",
];

/// How the history is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The newest migration that it has.
    pub format: i64,
    /// Whether SQLite finds it in order.
    pub is_whole: bool,
    /// How many things SQLite finds wrong; it stops at a hundred.
    pub findings: usize,
    /// Bytes on disk.
    pub bytes: u64,
    /// How many rows its tables have.
    pub rows: BTreeMap<&'static str, i64>,
}

/// The version of SQLite that is built in.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}

/// The newest format that this version knows, which is that of every open store.
pub fn format() -> i64 {
    MIGRATOR
        .iter()
        .map(|migration| migration.version)
        .max()
        .unwrap_or_default()
}

impl Store {
    /// Looks the whole database through; that takes a while for a large one.
    ///
    /// # Errors
    /// It cannot be read at all.
    pub async fn health(&self) -> Result<Health, StoreError> {
        let findings: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check(100)")
            .fetch_all(self.readers())
            .await?;
        let is_whole = findings == ["ok"];
        let mut rows = BTreeMap::new();
        for table in TABLES {
            let count: i64 = sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {table}")))
                .fetch_one(self.readers())
                .await?;
            rows.insert(table, count);
        }
        Ok(Health {
            format: format(),
            is_whole,
            findings: if is_whole { 0 } else { findings.len() },
            bytes: self.bytes_on_disk()?,
            rows,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{append, execute, open, started};

    #[tokio::test]
    async fn a_history_in_order_says_so() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("One")]).await.unwrap();
        let health = store.health().await.unwrap();
        assert!(
            health.is_whole && health.findings == 0 && health.bytes > 0,
            "{health:?}"
        );
        assert_eq!(
            (health.rows["run"], health.rows["event"], health.rows["task"]),
            (1, 1, 0)
        );
        let newest: i64 = sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations")
            .fetch_one(store.readers())
            .await
            .unwrap();
        assert_eq!(health.format, newest);
    }

    #[tokio::test]
    async fn a_history_with_something_wrong_says_how_much() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("One")]).await.unwrap();
        execute(&store, "DROP INDEX run_status").await;
        execute(
            &store,
            "CREATE UNIQUE INDEX one_only ON run (recorded) WHERE title = 'x'",
        )
        .await;
        execute(&store, "PRAGMA writable_schema = ON").await;
        // Now the index lacks a row that it should have.
        execute(
            &store,
            "UPDATE sqlite_schema SET sql = 'CREATE UNIQUE INDEX one_only ON run (recorded)' WHERE name = 'one_only'",
        )
        .await;
        execute(&store, "PRAGMA writable_schema = RESET").await;
        let health = store.health().await.unwrap();
        assert!(!health.is_whole && health.findings > 0, "{health:?}");
    }
}
