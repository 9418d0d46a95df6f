//! The `event` table: the journal's entries.

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection, SqlitePool};

use crate::error::StoreError;

/// How many rows one statement inserts at most; fewer texts of statements, more of them cached.
const ROWS: usize = 64;

/// An entry as the table holds it, without its run.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) at_ms: i64,
    pub(crate) key: String,
    pub(crate) payload: String,
}

impl EventRow {
    /// What the row says.
    pub(crate) fn record(self, run: &RunId) -> Result<RunEventRecord, StoreError> {
        let event = serde_json::from_str(&self.payload)
            .map_err(|error| StoreError::Corrupted(format!("entry {} of run {run}: {error}", self.seq)))?;
        Ok(RunEventRecord {
            run_id: run.clone(),
            seq: self.seq.unsigned_abs(),
            at_ms: self.at_ms,
            key: Key(self.key),
            event,
        })
    }
}

/// A row to insert.
pub(crate) struct NewEvent<'a> {
    pub(crate) run: i64,
    pub(crate) seq: i64,
    pub(crate) at_ms: i64,
    pub(crate) key: &'a str,
    pub(crate) kind: i64,
    pub(crate) payload: &'a str,
}

/// Inserts rows; a taken number or key is an error of the database.
pub(crate) async fn insert(connection: &mut SqliteConnection, rows: &[NewEvent<'_>]) -> Result<(), sqlx::Error> {
    for rows in rows.chunks(ROWS) {
        let mut query = QueryBuilder::<Sqlite>::new("INSERT INTO event (run, seq, at_ms, key, kind, payload) ");
        query.push_values(rows, |mut values, row| {
            values
                .push_bind(row.run)
                .push_bind(row.seq)
                .push_bind(row.at_ms)
                .push_bind(row.key)
                .push_bind(row.kind)
                .push_bind(row.payload);
        });
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}

const READ: &str = "SELECT seq, at_ms, key, payload FROM event
    WHERE run = (SELECT id FROM run WHERE run_id = ?) AND seq >= ? ORDER BY seq LIMIT ?";

/// The entries of a run from a number on, in order.
pub(crate) async fn read(
    readers: &SqlitePool,
    run: &RunId,
    from: i64,
    limit: u32,
) -> Result<Vec<EventRow>, StoreError> {
    Ok(sqlx::query_as(READ)
        .bind(run.as_str())
        .bind(from)
        .bind(limit)
        .fetch_all(readers)
        .await?)
}

/// All entries of a run, inside a transaction.
pub(crate) async fn all(connection: &mut SqliteConnection, run: i64) -> Result<Vec<EventRow>, StoreError> {
    Ok(
        sqlx::query_as("SELECT seq, at_ms, key, payload FROM event WHERE run = ? ORDER BY seq")
            .bind(run)
            .fetch_all(connection)
            .await?,
    )
}

/// The first entry of a run, inside a transaction.
pub(crate) async fn first(connection: &mut SqliteConnection, run: i64) -> Result<Option<EventRow>, StoreError> {
    Ok(
        sqlx::query_as("SELECT seq, at_ms, key, payload FROM event WHERE run = ? AND seq = 1")
            .bind(run)
            .fetch_optional(connection)
            .await?,
    )
}

/// The number that stands for a kind of event in the table. A number is never used for another kind.
pub(crate) fn kind(event: &RunEvent) -> i64 {
    match event {
        RunEvent::RunStarted { .. } => 1,
        RunEvent::RunReopened { .. } => 2,
        RunEvent::RunFinished { .. } => 3,
        RunEvent::CycleStarted { .. } => 4,
        RunEvent::AttemptOpened { .. } => 5,
        RunEvent::PlanningStarted { .. } => 6,
        RunEvent::PlanRefused { .. } => 7,
        RunEvent::PlanProposed { .. } => 8,
        RunEvent::PersonAsked { .. } => 9,
        RunEvent::PersonAnswered { .. } => 10,
        RunEvent::PlanApproved { .. } => 11,
        RunEvent::StepStarted { .. } => 12,
        RunEvent::StepFinished { .. } => 13,
        RunEvent::ModelCallStarted { .. } => 14,
        RunEvent::ModelAttempted { .. } => 15,
        RunEvent::ModelCallFinished { .. } => 16,
        RunEvent::ToolStarted { .. } => 17,
        RunEvent::EffectIntended { .. } => 18,
        RunEvent::ToolFinished { .. } => 19,
        RunEvent::ScratchpadWritten { .. } => 20,
        RunEvent::HookFinished { .. } => 21,
        RunEvent::JudgingStarted { .. } => 22,
        RunEvent::CheckFinished { .. } => 23,
        RunEvent::CycleJudged { .. } => 24,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{explain, open};

    #[tokio::test]
    async fn reads_a_run_by_its_primary_key() {
        let (_folder, store) = open().await;
        let plan = explain(&store, READ, &["run", "1", "10"]).await;
        assert!(
            plan.contains("SEARCH event USING PRIMARY KEY (run=? AND seq>?)"),
            "{plan}"
        );
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
    }
}
