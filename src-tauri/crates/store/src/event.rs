//! The `event` table: the journal's entries.

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};
use sqlx::{SqliteConnection, SqlitePool};

use crate::error::StoreError;
use crate::payload;

/// An entry as the table holds it, without its run, its key put together again.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub(crate) struct EventRow {
    pub(crate) seq: i64,
    pub(crate) at_ms: i64,
    pub(crate) key: String,
    pub(crate) payload: Vec<u8>,
}

impl EventRow {
    /// What the row says.
    pub(crate) fn record(self, run: &RunId) -> Result<RunEventRecord, StoreError> {
        let event = payload::read(&self.payload)
            .map_err(|why| StoreError::Corrupted(format!("entry {} of run {run}: {why}", self.seq)))?;
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
    pub(crate) payload: &'a [u8],
}

/// A key as the table holds it: an attempt's address and what lies below it, from its slash on; without one what stands
/// before the last colon, and what follows it, if there is one.
pub(crate) fn split(key: &str) -> (&str, Option<&str>) {
    if let Some((_, numbered)) = key.rsplit_once('#') {
        let below = numbered.trim_start_matches(|sign: char| sign.is_ascii_digit());
        if below.starts_with('/') {
            return (&key[..key.len() - below.len()], Some(below));
        }
    }
    match key.rsplit_once(':') {
        Some((address, mark)) => (address, Some(mark)),
        None => (key, None),
    }
}

/// Inserts a row; a taken number or key is an error of the database.
pub(crate) fn write(
    connection: &Connection,
    event: &NewEvent<'_>,
    address: i64,
    mark: i64,
) -> Result<(), rusqlite::Error> {
    connection
        .prepare_cached(
            "INSERT INTO event (run, seq, at_ms, address, mark, kind, payload) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            event.run,
            event.seq,
            event.at_ms,
            address,
            mark,
            event.kind,
            event.payload
        ])?;
    Ok(())
}

// Outer joins, so that nothing but the entries is walked through; an entry without its name is damaged, not missing.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT event.seq, event.at_ms, address.text
                || CASE WHEN mark.text IS NULL THEN '' WHEN substr(mark.text, 1, 1) = '/' THEN mark.text
                ELSE ':' || mark.text END AS key, event.payload
            FROM event LEFT JOIN name AS address ON address.id = event.address
            LEFT JOIN name AS mark ON mark.id = event.mark WHERE event.run = ",
            $rest
        )
    };
}

const READ: &str = select!("(SELECT id FROM run WHERE run_id = ?) AND event.seq >= ? ORDER BY event.seq LIMIT ?");

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
    Ok(sqlx::query_as(select!("? ORDER BY event.seq"))
        .bind(run)
        .fetch_all(connection)
        .await?)
}

/// The first event of a run, as far as it can be read.
pub(crate) fn beginning(connection: &Connection, run: i64) -> Result<Option<RunEvent>, StoreError> {
    let found = connection
        .prepare_cached("SELECT payload FROM event WHERE run = ? AND seq = 1")?
        .query_row([run], bytes);
    readable(found, "the first entry of a run")
}

const AT_KEY: &str = "SELECT payload FROM event WHERE run = ?1
    AND address = (SELECT id FROM name WHERE text = ?2)
    AND mark = CASE WHEN ?3 IS NULL THEN 0 ELSE (SELECT id FROM name WHERE text = ?3) END";

/// The event of a run at a key, as far as it can be read.
pub(crate) fn at_key(connection: &Connection, run: i64, key: &str) -> Result<Option<RunEvent>, StoreError> {
    let (address, mark) = split(key);
    let found = connection
        .prepare_cached(AT_KEY)?
        .query_row(params![run, address, mark], bytes);
    readable(found, "an entry of a run")
}

fn bytes(row: &Row<'_>) -> Result<Vec<u8>, rusqlite::Error> {
    match row.get_ref(0)? {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Ok(bytes.to_vec()),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => Ok(Vec::new()),
    }
}

fn readable(found: Result<Vec<u8>, rusqlite::Error>, which: &str) -> Result<Option<RunEvent>, StoreError> {
    match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        found => payload::read(&found?)
            .map(Some)
            .map_err(|why| StoreError::Corrupted(format!("{which}: {why}"))),
    }
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
        RunEvent::WorkFinished { .. } => 25,
        RunEvent::TopicEmitted { .. } => 26,
        RunEvent::WorkUnblocked { .. } => 27,
        RunEvent::OverlayWritten { .. } => 28,
        RunEvent::PhaseStarted { .. } => 30,
        RunEvent::PhaseFinished { .. } => 31,
        RunEvent::PhaseSkipped { .. } => 32,
        RunEvent::PhaseRouted { .. } => 33,
        RunEvent::AnswerGiven { .. } => 34,
        RunEvent::GuardrailJudged { .. } => 35,
        RunEvent::PlanChanged { .. } => 45,
        RunEvent::StepChanged { .. } => 46,
        RunEvent::VerdictChanged { .. } => 47,
        RunEvent::GuidanceGiven { .. } => 48,
        RunEvent::LimitsRaised { .. } => 49,
        RunEvent::RunPaused => 50,
        RunEvent::RunContinued => 51,
        RunEvent::JudgeAsked { .. } => 52,
        RunEvent::FolderChanged { .. } => 53,
        RunEvent::UndoIntended { .. } => 54,
        RunEvent::UndoFinished { .. } => 55,
        RunEvent::OutsideEffectIntended { .. } => 56,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{append, explain, keyed, open, run_id};

    #[tokio::test]
    async fn a_key_comes_back_from_its_parts() {
        let keys = [
            ("phase/a/1#0/call/0:started", "phase/a/1#0", Some("/call/0:started")),
            (
                "phase/a/1#0/phase/b/2#13/call/0",
                "phase/a/1#0/phase/b/2#13",
                Some("/call/0"),
            ),
            ("phase/a/1#0:started", "phase/a/1#0", Some("started")),
            ("phase/a/1#0", "phase/a/1#0", None),
            ("cycle/1/judge:attempt-1", "cycle/1/judge", Some("attempt-1")),
            ("run:started", "run", Some("started")),
            ("odd#x/y", "odd#x/y", None),
            ("odd#/y", "odd#", Some("/y")),
            ("answer", "answer", None),
        ];
        let (_folder, store) = open().await;
        for (key, address, mark) in keys {
            assert_eq!(split(key), (address, mark));
        }
        let entries = keys.iter().map(|(key, ..)| keyed(key, 1)).collect();
        append(&store, 1, 1, entries).await.unwrap();
        let rows = read(store.readers(), &run_id(1), 1, 100).await.unwrap();
        let read: Vec<&str> = rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(read, keys.map(|(key, ..)| key));
    }

    #[tokio::test]
    async fn reads_a_run_by_its_primary_key() {
        let (_folder, store) = open().await;
        let plan = explain(&store, READ, &["run", "1", "10"]).await;
        assert!(
            plan.contains("SEARCH event USING PRIMARY KEY (run=? AND seq>?)"),
            "{plan}"
        );
        assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{plan}");
        let plan = explain(&store, AT_KEY, &["run", "address", "mark"]).await;
        assert!(
            plan.contains("SEARCH event USING INDEX event_address (run=? AND address=? AND mark=?)"),
            "{plan}"
        );
    }
}
