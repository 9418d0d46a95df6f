//! The `run` table: a projection of the events, kept in the same transaction. `run_list` asks it.
//!
//! The words mean what they mean in [`contract::run_state`]; a test compares the two folds.

use std::collections::HashMap;

use contract::event::RunEvent;
use contract::ids::RunId;
use contract::run::{RunStatus, RunSummary};
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::error::StoreError;
use crate::names::{from_name, to_name};

/// The columns of [`RunRow`], in its order.
pub(crate) const COLUMNS: &str = "run.id, run.run_id, run.last_seq, run.title, run.folder, run.recorded, run.status, \
    run.stop_reason, run.waiting, run.cycles, run.tokens_used, run.started_at_ms, run.updated_at_ms, run.ended_at_ms";
/// How many rows one statement writes at most.
const ROWS: usize = 64;

/// A run as the table holds it. It has ended exactly when it has a time of end.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub(crate) struct RunRow {
    pub(crate) id: i64,
    pub(crate) run_id: String,
    pub(crate) last_seq: i64,
    title: String,
    folder: String,
    recorded: bool,
    status: String,
    stop_reason: Option<String>,
    waiting: bool,
    cycles: i64,
    tokens_used: i64,
    started_at_ms: i64,
    updated_at_ms: i64,
    ended_at_ms: Option<i64>,
}

impl RunRow {
    /// A run before its first event.
    pub(crate) fn new(run_id: &str) -> Result<Self, StoreError> {
        Ok(Self {
            id: 0,
            run_id: run_id.to_owned(),
            last_seq: 0,
            title: String::new(),
            folder: String::new(),
            recorded: false,
            status: to_name(&RunStatus::Running)?,
            stop_reason: None,
            waiting: false,
            cycles: 0,
            tokens_used: 0,
            started_at_ms: 0,
            updated_at_ms: 0,
            ended_at_ms: None,
        })
    }

    /// Takes the next event in.
    pub(crate) fn apply(&mut self, at_ms: i64, event: &RunEvent) -> Result<(), StoreError> {
        self.last_seq += 1;
        self.updated_at_ms = at_ms;
        match event {
            RunEvent::RunStarted { header } => {
                self.title.clone_from(&header.title);
                self.folder.clone_from(&header.envelope.folder);
                self.recorded = header.recording.is_some();
                self.started_at_ms = at_ms;
            }
            RunEvent::RunReopened { .. } => {
                self.stop_reason = None;
                self.ended_at_ms = None;
            }
            RunEvent::RunFinished { result } => {
                self.status = to_name(&result.status)?;
                self.stop_reason = Some(to_name(&result.stop_reason)?);
                self.ended_at_ms = Some(at_ms);
                self.waiting = false;
            }
            RunEvent::CycleStarted { .. } => self.cycles += 1,
            RunEvent::PersonAsked { .. } => self.waiting = true,
            RunEvent::PersonAnswered { .. } => self.waiting = false,
            RunEvent::ModelAttempted { attempt } => {
                let tokens = attempt.usage.map_or(0, |usage| usage.total());
                self.tokens_used = self.tokens_used.saturating_add_unsigned(tokens);
            }
            RunEvent::AttemptOpened { .. }
            | RunEvent::PlanningStarted { .. }
            | RunEvent::PlanRefused { .. }
            | RunEvent::PlanProposed { .. }
            | RunEvent::PlanApproved { .. }
            | RunEvent::StepStarted { .. }
            | RunEvent::StepFinished { .. }
            | RunEvent::ModelCallStarted { .. }
            | RunEvent::ModelCallFinished { .. }
            | RunEvent::ToolStarted { .. }
            | RunEvent::EffectIntended { .. }
            | RunEvent::ToolFinished { .. }
            | RunEvent::ScratchpadWritten { .. }
            | RunEvent::HookFinished { .. }
            | RunEvent::JudgingStarted { .. }
            | RunEvent::CheckFinished { .. }
            | RunEvent::CycleJudged { .. } => {}
        }
        match (self.ended_at_ms, self.waiting) {
            (Some(_), _) => {}
            (None, true) => self.status = to_name(&RunStatus::Waiting)?,
            (None, false) => self.status = to_name(&RunStatus::Running)?,
        }
        Ok(())
    }

    pub(crate) fn summary(self, driven: bool) -> Result<RunSummary, StoreError> {
        Ok(RunSummary {
            run_id: RunId(self.run_id),
            title: self.title,
            status: from_name(&self.status)?,
            stop_reason: self.stop_reason.as_deref().map(from_name).transpose()?,
            cycles: u32::try_from(self.cycles).unwrap_or(u32::MAX),
            tokens_used: self.tokens_used.unsigned_abs(),
            folder: self.folder,
            recorded: self.recorded,
            started_at_ms: self.started_at_ms,
            updated_at_ms: self.updated_at_ms,
            ended_at_ms: self.ended_at_ms,
            driven,
        })
    }
}

/// The rows of some runs by their ids, inside a transaction.
pub(crate) async fn load<'a>(
    connection: &mut SqliteConnection,
    runs: impl Iterator<Item = &'a RunId>,
) -> Result<HashMap<String, RunRow>, StoreError> {
    let mut query = QueryBuilder::<Sqlite>::new("SELECT ");
    query.push(COLUMNS).push(" FROM run WHERE run_id IN (");
    let mut ids = query.separated(", ");
    for run in runs {
        ids.push_bind(run.as_str());
    }
    query.push(")");
    let rows: Vec<RunRow> = query.build_query_as().fetch_all(connection).await?;
    Ok(rows.into_iter().map(|row| (row.run_id.clone(), row)).collect())
}

/// Writes rows, new ones too, and returns the number of each run.
pub(crate) async fn save(
    connection: &mut SqliteConnection,
    rows: &[&RunRow],
) -> Result<HashMap<String, i64>, StoreError> {
    let mut ids = HashMap::new();
    for rows in rows.chunks(ROWS) {
        let mut query = QueryBuilder::<Sqlite>::new(
            "INSERT INTO run (run_id, last_seq, title, folder, recorded, status, stop_reason, waiting, cycles, \
            tokens_used, started_at_ms, updated_at_ms, ended_at_ms) ",
        );
        query.push_values(rows, |mut values, row| {
            values
                .push_bind(&row.run_id)
                .push_bind(row.last_seq)
                .push_bind(&row.title)
                .push_bind(&row.folder)
                .push_bind(row.recorded)
                .push_bind(&row.status)
                .push_bind(row.stop_reason.as_deref())
                .push_bind(row.waiting)
                .push_bind(row.cycles)
                .push_bind(row.tokens_used)
                .push_bind(row.started_at_ms)
                .push_bind(row.updated_at_ms)
                .push_bind(row.ended_at_ms);
        });
        query.push(
            " ON CONFLICT (run_id) DO UPDATE SET last_seq = excluded.last_seq, title = excluded.title, \
            folder = excluded.folder, recorded = excluded.recorded, status = excluded.status, \
            stop_reason = excluded.stop_reason, waiting = excluded.waiting, cycles = excluded.cycles, \
            tokens_used = excluded.tokens_used, started_at_ms = excluded.started_at_ms, \
            updated_at_ms = excluded.updated_at_ms, ended_at_ms = excluded.ended_at_ms RETURNING run_id, id",
        );
        let saved: Vec<(String, i64)> = query.build_query_as().fetch_all(&mut *connection).await?;
        ids.extend(saved);
    }
    Ok(ids)
}

/// The numbers and ids of all runs, inside a transaction.
pub(crate) async fn all(connection: &mut SqliteConnection) -> Result<Vec<(i64, String)>, StoreError> {
    Ok(sqlx::query_as("SELECT id, run_id FROM run ORDER BY id")
        .fetch_all(connection)
        .await?)
}

#[cfg(test)]
mod tests {
    use contract::event::RunEventRecord;
    use contract::ids::{Key, RunId};
    use contract::ports::journal::NewEntry;
    use contract::run::StopReason;
    use contract::run_state::RunState;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{answered, asked, attempted, cycle, finished, reopened, run_id, started};

    fn entry() -> impl Strategy<Value = NewEntry> {
        prop_oneof![
            Just(started("Title")),
            Just(cycle(1)),
            Just(asked()),
            Just(answered()),
            (0u64..10_000).prop_map(attempted),
            Just(finished(StopReason::Passed, "good")),
            Just(finished(StopReason::Budget, "too much")),
            Just(reopened()),
        ]
    }

    fn summary_of(state: &RunState, run: &RunId) -> RunSummary {
        let header = state.header.as_ref();
        RunSummary {
            run_id: run.clone(),
            title: header.map_or(String::new(), |header| header.title.clone()),
            status: state.status(),
            stop_reason: state.result.as_ref().map(|result| result.stop_reason),
            cycles: state.cycles.len() as u32,
            tokens_used: state.tokens_used,
            folder: header.map_or(String::new(), |header| header.envelope.folder.clone()),
            recorded: header.is_some_and(|header| header.recording.is_some()),
            started_at_ms: state.started_at_ms,
            updated_at_ms: state.updated_at_ms,
            ended_at_ms: state.result.as_ref().map(|_| state.updated_at_ms),
            driven: false,
        }
    }

    proptest! {
        #[test]
        fn says_what_the_state_of_the_run_says(entries in proptest::collection::vec(entry(), 1..30)) {
            let run = run_id(1);
            let mut row = RunRow::new(run.as_str()).unwrap();
            let mut state = RunState::default();
            for (index, entry) in entries.into_iter().enumerate() {
                let at_ms = 1_000 + index as i64;
                row.apply(at_ms, &entry.event).unwrap();
                state.apply(&RunEventRecord {
                    run_id: run.clone(),
                    seq: index as u64 + 1,
                    at_ms,
                    key: Key::new(format!("entry/{index}")),
                    event: entry.event,
                });
                let mut expected = summary_of(&state, &run);
                // The state does not keep the time of its end; events after it do not move it.
                expected.ended_at_ms = expected.ended_at_ms.and(row.ended_at_ms);
                prop_assert_eq!(row.last_seq as u64, state.last_seq);
                prop_assert_eq!(row.ended_at_ms.is_some(), state.result.is_some());
                prop_assert_eq!(row.clone().summary(false).unwrap(), expected);
            }
        }
    }
}
