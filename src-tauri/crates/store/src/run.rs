//! The `run` table: a projection of the events, kept in the same transaction. `run_list` asks it.
//!
//! The words mean what they mean in [`contract::run_state`]; a test compares the two folds.

use contract::event::RunEvent;
use contract::ids::{Key, RunId};
use contract::run::{RunStatus, RunSummary};
use rusqlite::{Connection, params};
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::names::{from_name, to_name};
use crate::run_use::Used;

macro_rules! columns {
    () => {
        "run.id, run.run_id, run.last_seq, run.title, run.folder, run.recorded, run.status, run.stop_reason, \
        run.waiting, run.cycles, run.tokens_used, run.started_at_ms, run.updated_at_ms, run.ended_at_ms, run.cost, \
        run.currency, run.models, run.worked_ms, run.leaves"
    };
}

/// The columns of [`RunRow`], in its order.
pub(crate) const COLUMNS: &str = columns!();
const FIND: &str = concat!("SELECT ", columns!(), " FROM run WHERE run.run_id = ?");
const INSERT: &str = "INSERT INTO run (run_id, last_seq, title, folder, recorded, status, stop_reason, waiting, cycles, \
    tokens_used, started_at_ms, updated_at_ms, ended_at_ms, cost, currency, models, worked_ms, leaves, projection) \
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)";
const UPDATE: &str = "UPDATE run SET last_seq = ?2, title = ?3, folder = ?4, recorded = ?5, status = ?6, \
    stop_reason = ?7, waiting = ?8, cycles = ?9, tokens_used = ?10, started_at_ms = ?11, updated_at_ms = ?12, \
    ended_at_ms = ?13, cost = ?14, currency = ?15, models = ?16, worked_ms = ?17, leaves = ?18 WHERE run_id = ?1";

/// The same when nothing has changed but what every step changes.
const COUNT: &str = "UPDATE run SET last_seq = ?2, tokens_used = ?3, updated_at_ms = ?4, worked_ms = ?5, leaves = ?6 \
    WHERE id = ?1";
/// And when a model was asked.
const PAY: &str = "UPDATE run SET last_seq = ?2, tokens_used = ?3, updated_at_ms = ?4, worked_ms = ?5, leaves = ?6, \
    cost = ?7, currency = ?8, models = ?9 WHERE id = ?1";

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
    /// How many questions wait for a person.
    waiting: i64,
    cycles: i64,
    tokens_used: i64,
    started_at_ms: i64,
    updated_at_ms: i64,
    ended_at_ms: Option<i64>,
    #[sqlx(flatten)]
    pub(crate) used: Used,
    worked_ms: i64,
    /// How many calls of models and tools are at work.
    leaves: i64,
    /// Whether more has changed since it was written than every step changes.
    #[sqlx(skip)]
    has_turned: bool,
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
            status: word(RunStatus::Running).to_owned(),
            stop_reason: None,
            waiting: 0,
            cycles: 0,
            tokens_used: 0,
            started_at_ms: 0,
            updated_at_ms: 0,
            ended_at_ms: None,
            used: Used::default(),
            worked_ms: 0,
            leaves: 0,
            has_turned: true,
        })
    }

    /// What the entry at this key needs to know before it is taken in: the model of a call that began before the row
    /// was read.
    pub(crate) fn prepare(&mut self, connection: &Connection, key: &Key, event: &RunEvent) -> Result<(), StoreError> {
        self.used.prepare(connection, self.id, key, event)
    }

    /// Takes the next event in.
    pub(crate) fn apply(&mut self, at_ms: i64, key: &Key, event: &RunEvent) -> Result<(), StoreError> {
        self.work(at_ms, event);
        self.used.apply(key, event);
        self.last_seq += 1;
        self.updated_at_ms = at_ms;
        self.has_turned |= turns(event);
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
                self.turn_to(result.status);
                self.stop_reason = Some(to_name(&result.stop_reason)?);
                self.ended_at_ms = Some(at_ms);
                self.waiting = 0;
            }
            RunEvent::CycleStarted { .. } => self.cycles += 1,
            RunEvent::PersonAsked { .. } => self.waiting += 1,
            RunEvent::PersonAnswered { .. } => self.waiting = (self.waiting - 1).max(0),
            RunEvent::ModelAttempted { attempt } => {
                let tokens = attempt.usage.map_or(0, |usage| usage.total());
                self.tokens_used = self.tokens_used.saturating_add_unsigned(tokens);
            }
            // Kept in the status itself: until it goes on, nothing else makes it run.
            RunEvent::RunPaused => {
                self.turn_to(RunStatus::Paused);
                return Ok(());
            }
            RunEvent::RunContinued => {}
            RunEvent::GuidanceGiven { .. } | RunEvent::LimitsRaised { .. }
                if self.status == word(RunStatus::Paused) =>
            {
                return Ok(());
            }
            RunEvent::GuidanceGiven { .. }
            | RunEvent::LimitsRaised { .. }
            | RunEvent::PlanChanged { .. }
            | RunEvent::StepChanged { .. }
            | RunEvent::VerdictChanged { .. }
            | RunEvent::JudgeAsked { .. }
            | RunEvent::AttemptOpened { .. }
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
            | RunEvent::FolderChanged { .. }
            | RunEvent::UndoIntended { .. }
            | RunEvent::UndoFinished { .. }
            | RunEvent::OutsideEffectIntended { .. }
            | RunEvent::ToolFinished { .. }
            | RunEvent::ScratchpadWritten { .. }
            | RunEvent::HookFinished { .. }
            | RunEvent::JudgingStarted { .. }
            | RunEvent::CheckFinished { .. }
            | RunEvent::CycleJudged { .. }
            | RunEvent::WorkFinished { .. }
            | RunEvent::TopicEmitted { .. }
            | RunEvent::WorkUnblocked { .. }
            | RunEvent::OverlayWritten { .. }
            | RunEvent::PhaseStarted { .. }
            | RunEvent::PhaseFinished { .. }
            | RunEvent::PhaseSkipped { .. }
            | RunEvent::PhaseRouted { .. }
            | RunEvent::AnswerGiven { .. }
            | RunEvent::GuardrailJudged { .. } => {}
        }
        match (self.ended_at_ms, self.waiting > 0) {
            (Some(_), _) => {}
            (None, true) => self.turn_to(RunStatus::Waiting),
            (None, false) => self.turn_to(RunStatus::Running),
        }
        Ok(())
    }

    /// Counts the time since the last event, if the run was at work in it: while a question waits, other steps may go on.
    fn work(&mut self, at_ms: i64, event: &RunEvent) {
        let is_halted = self.ended_at_ms.is_some() || self.status == word(RunStatus::Paused);
        if self.last_seq > 0 && !is_halted && (self.waiting == 0 || self.leaves > 0) {
            let since = at_ms.saturating_sub(self.updated_at_ms).max(0);
            self.worked_ms = self.worked_ms.saturating_add(since);
        }
        if matches!(event, RunEvent::ModelCallStarted { .. } | RunEvent::ToolStarted { .. }) {
            self.leaves += 1;
        }
        if matches!(
            event,
            RunEvent::ModelCallFinished { .. } | RunEvent::ToolFinished { .. }
        ) {
            self.leaves = (self.leaves - 1).max(0);
        }
        if matches!(event, RunEvent::RunFinished { .. }) {
            self.leaves = 0;
        }
    }

    fn turn_to(&mut self, status: RunStatus) {
        if self.status != word(status) {
            word(status).clone_into(&mut self.status);
            self.has_turned = true;
        }
    }

    pub(crate) fn summary(self, driven: bool) -> Result<RunSummary, StoreError> {
        Ok(RunSummary {
            run_id: RunId(self.run_id),
            title: self.title,
            status: from_name(&self.status)?,
            stop_reason: self.stop_reason.as_deref().map(from_name).transpose()?,
            cycles: u32::try_from(self.cycles).unwrap_or(u32::MAX),
            tokens_used: self.tokens_used.unsigned_abs(),
            cost: (!self.recorded).then(|| self.used.cost()),
            models: self.used.models.0,
            worked_ms: self.worked_ms.unsigned_abs(),
            folder: self.folder,
            recorded: self.recorded,
            started_at_ms: self.started_at_ms,
            updated_at_ms: self.updated_at_ms,
            ended_at_ms: self.ended_at_ms,
            driven,
        })
    }
}

/// Whether an event changes more of the row than every step does, apart from its status.
fn turns(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::RunStarted { .. }
            | RunEvent::RunReopened { .. }
            | RunEvent::RunFinished { .. }
            | RunEvent::CycleStarted { .. }
            | RunEvent::PersonAsked { .. }
            | RunEvent::PersonAnswered { .. }
    )
}

/// The word for a status in its column, as its JSON has it.
fn word(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Running => "running",
        RunStatus::Waiting => "waiting",
        RunStatus::Paused => "paused",
        RunStatus::Pass => "pass",
        RunStatus::Fail => "fail",
        RunStatus::Terminated => "terminated",
    }
}

/// A run's row by its id.
pub(crate) fn find(connection: &Connection, run_id: &str) -> Result<Option<RunRow>, StoreError> {
    let found = connection.prepare_cached(FIND)?.query_row([run_id], |row| {
        Ok(RunRow {
            id: row.get(0)?,
            run_id: row.get(1)?,
            last_seq: row.get(2)?,
            title: row.get(3)?,
            folder: row.get(4)?,
            recorded: row.get(5)?,
            status: row.get(6)?,
            stop_reason: row.get(7)?,
            waiting: row.get(8)?,
            cycles: row.get(9)?,
            tokens_used: row.get(10)?,
            started_at_ms: row.get(11)?,
            updated_at_ms: row.get(12)?,
            ended_at_ms: row.get(13)?,
            used: Used::read(row)?,
            worked_ms: row.get("worked_ms")?,
            leaves: row.get("leaves")?,
            has_turned: false,
        })
    });
    match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => Ok(None),
        found => Ok(Some(found?)),
    }
}

/// Writes a row. One that is new gets its number. False when it should be there and is not: somebody has deleted it.
pub(crate) fn write(connection: &Connection, row: &mut RunRow) -> Result<bool, StoreError> {
    let is_new = row.id == 0;
    let has_paid = std::mem::take(&mut row.used.has_paid);
    if !is_new && !row.has_turned {
        let (id, seq, tokens, at, worked) = (row.id, row.last_seq, row.tokens_used, row.updated_at_ms, row.worked_ms);
        let written = if has_paid {
            let (cost, currency, models) = (row.used.cost, &row.used.currency, row.used.models_text()?);
            let paid = params![id, seq, tokens, at, worked, row.leaves, cost, currency, models];
            connection.prepare_cached(PAY)?.execute(paid)?
        } else {
            let counts = params![id, seq, tokens, at, worked, row.leaves];
            connection.prepare_cached(COUNT)?.execute(counts)?
        };
        return Ok(written == 1);
    }
    let written = connection
        .prepare_cached(if is_new { INSERT } else { UPDATE })?
        .execute(params![
            row.run_id,
            row.last_seq,
            row.title,
            row.folder,
            row.recorded,
            row.status,
            row.stop_reason,
            row.waiting,
            row.cycles,
            row.tokens_used,
            row.started_at_ms,
            row.updated_at_ms,
            row.ended_at_ms,
            row.used.cost,
            row.used.currency,
            row.used.models_text()?,
            row.worked_ms,
            row.leaves
        ])?;
    if is_new {
        row.id = connection.last_insert_rowid();
    }
    row.has_turned = false;
    Ok(written == 1)
}

/// Writes the row of a run that is there, made anew from its events.
pub(crate) async fn save(connection: &mut SqliteConnection, row: &RunRow) -> Result<(), StoreError> {
    sqlx::query(UPDATE)
        .bind(&row.run_id)
        .bind(row.last_seq)
        .bind(&row.title)
        .bind(&row.folder)
        .bind(row.recorded)
        .bind(&row.status)
        .bind(&row.stop_reason)
        .bind(row.waiting)
        .bind(row.cycles)
        .bind(row.tokens_used)
        .bind(row.started_at_ms)
        .bind(row.updated_at_ms)
        .bind(row.ended_at_ms)
        .bind(row.used.cost)
        .bind(&row.used.currency)
        .bind(row.used.models_text()?)
        .bind(row.worked_ms)
        .bind(row.leaves)
        .execute(connection)
        .await?;
    Ok(())
}

/// Says that a row is what today's fold makes of its events.
pub(crate) async fn refreshed(connection: &mut SqliteConnection, id: i64) -> Result<(), StoreError> {
    sqlx::query("UPDATE run SET projection = 1 WHERE id = ?")
        .bind(id)
        .execute(connection)
        .await?;
    Ok(())
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
    use contract::ids::RunId;
    use contract::ports::journal::NewEntry;
    use contract::run::StopReason;
    use contract::run_state::RunState;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{
        answered, answered_by, asked, asks, attempted, cycle, finished, paying, prices, reopened, run_id, started,
    };

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
            Just(paying("Paid", prices())),
            prop_oneof![Just("a:large"), Just("a:small")].prop_map(|model| asks("call", model)),
            (0u64..10_000, proptest::option::of(Just("b:unknown")))
                .prop_map(|(tokens, instead)| answered_by("call", 0, tokens, instead)),
        ]
    }

    fn summary_of(state: &RunState, run: &RunId, row: &RunSummary) -> RunSummary {
        let header = state.header.as_ref();
        RunSummary {
            run_id: run.clone(),
            title: header.map_or(String::new(), |header| header.title.clone()),
            status: state.status(),
            stop_reason: state.result.as_ref().map(|result| result.stop_reason),
            cycles: state.cycles.len() as u32,
            tokens_used: state.tokens_used,
            cost: header
                .is_none_or(|header| header.recording.is_none())
                .then(|| state.cost.clone()),
            models: row.models.clone(),
            worked_ms: row.worked_ms,
            folder: header.map_or(String::new(), |header| header.envelope.folder.clone()),
            recorded: header.is_some_and(|header| header.recording.is_some()),
            started_at_ms: state.started_at_ms,
            updated_at_ms: state.updated_at_ms,
            ended_at_ms: state.result.as_ref().map(|_| state.updated_at_ms),
            driven: false,
        }
    }

    #[test]
    fn a_status_is_the_word_that_its_json_has() {
        use RunStatus::{Fail, Pass, Paused, Running, Terminated, Waiting};
        for status in [Running, Waiting, Paused, Pass, Fail, Terminated] {
            assert_eq!(word(status), to_name(&status).unwrap());
        }
    }

    #[test]
    fn time_counts_while_something_is_at_work_and_not_while_only_a_person_is_waited_for() {
        let mut row = RunRow::new("run").unwrap();
        let mut at = |at_ms, entry: NewEntry| {
            row.apply(at_ms, &entry.key, &entry.event).unwrap();
            row.worked_ms
        };
        assert_eq!(at(1_000, started("Title")), 0);
        assert_eq!(at(1_100, cycle(1)), 100);
        assert_eq!(at(1_200, asked()), 200);
        assert_eq!(at(9_000, answered()), 200, "nobody worked meanwhile");
        assert_eq!(at(9_050, asks("call", "a:large")), 250);
        assert_eq!(at(9_100, asked()), 300);
        assert_eq!(at(9_300, attempted(5)), 500, "a model answers while a question waits");
        assert_eq!(at(9_400, finished(StopReason::Passed, "good")), 600);
        assert_eq!(at(99_000, reopened()), 600, "a run at its end does not work");
        assert_eq!(at(99_010, cycle(2)), 610);
        assert_eq!(at(98_000, cycle(3)), 610, "a clock that is set back takes nothing away");
    }

    proptest! {
        #[test]
        fn says_what_the_state_of_the_run_says(entries in proptest::collection::vec(entry(), 1..30)) {
            let run = run_id(1);
            let mut row = RunRow::new(run.as_str()).unwrap();
            let mut state = RunState::default();
            for (index, entry) in entries.into_iter().enumerate() {
                let at_ms = 1_000 + index as i64;
                row.apply(at_ms, &entry.key, &entry.event).unwrap();
                state.apply(&RunEventRecord {
                    run_id: run.clone(),
                    seq: index as u64 + 1,
                    at_ms,
                    key: entry.key.clone(),
                    event: RunEvent::clone(&entry.event),
                });
                let summary = row.clone().summary(false).unwrap();
                let mut expected = summary_of(&state, &run, &summary);
                // The state does not keep the time of its end; events after it do not move it.
                expected.ended_at_ms = expected.ended_at_ms.and(row.ended_at_ms);
                prop_assert_eq!(row.last_seq as u64, state.last_seq);
                prop_assert_eq!(row.ended_at_ms.is_some(), state.result.is_some());
                prop_assert_eq!(summary, expected);
            }
        }
    }
}
