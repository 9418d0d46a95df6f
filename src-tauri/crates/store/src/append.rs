//! The connection that appends: one transaction for all that is queued, statements that stay prepared, and what would
//! otherwise be asked again with every step (the rows of runs, the numbers of names) kept at hand.
//!
//! It is `rusqlite`, on the writer's own thread: with a library that carries each statement to another thread and its
//! answer back, that carrying was most of what a step cost.

use std::collections::HashMap;
use std::path::Path;

use contract::ports::journal::Durability;
use rusqlite::Connection;

use crate::connection;
use crate::error::StoreError;
use crate::journal::{Append, AppendError};
use crate::run::RunRow;
use crate::{artifact, event, run, run_search, run_use};

/// How many runs and names are kept at hand. More are asked for again, so nothing grows with the history.
const AT_HAND: usize = 4_096;

/// What appends.
pub(crate) struct Appender {
    connection: Connection,
    durability: Durability,
    /// As they are in the database, or will be when the transaction in hand is committed.
    runs: HashMap<String, RunRow>,
    names: HashMap<String, i64>,
}

impl Appender {
    /// Opens the database, which is there and in the current format.
    pub(crate) fn open(database: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            connection: connection::appending(database)?,
            durability: Durability::Commit,
            runs: HashMap::new(),
            names: HashMap::new(),
        })
    }

    /// Closes the database, moving the log into it when nobody else has it open.
    pub(crate) fn close(self) -> Result<(), StoreError> {
        Ok(self.connection.close().map_err(|(_, error)| error)?)
    }

    /// Somebody else may have changed rows.
    pub(crate) fn forget(&mut self) {
        self.runs.clear();
        self.names.clear();
    }

    /// Does all appends in one transaction, or none of them.
    pub(crate) fn commit(&mut self, appends: &[&Append]) -> Result<(), AppendError> {
        let barrier = appends.iter().any(|append| append.durability == Durability::Barrier);
        self.set(match barrier {
            true => Durability::Barrier,
            false => Durability::Commit,
        })?;
        if self.runs.len() + self.names.len() > AT_HAND {
            self.forget();
        }
        // As a writer at once: a transaction that becomes one later can be refused half-way.
        self.execute("BEGIN IMMEDIATE")?;
        let outcome = self.append_all(appends).and_then(|()| Ok(self.execute("COMMIT")?));
        if outcome.is_err() {
            // Fails only when SQLite has rolled back by itself, as it does on a full disk.
            let _ = self.execute("ROLLBACK");
            self.forget();
        }
        outcome
    }

    /// Runs a statement without parameters.
    pub(crate) fn execute(&self, sql: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    /// How the transactions are synced now, in SQLite's own number.
    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    pub(crate) fn synchronous(&self) -> i64 {
        self.connection
            .query_row("PRAGMA synchronous", [], |row| row.get(0))
            .unwrap()
    }

    fn append_all(&mut self, appends: &[&Append]) -> Result<(), AppendError> {
        for append in appends {
            self.admit(append)?;
        }
        // A step's text stands in three of its values: it is looked for once. What is found stays while this transaction
        // lasts, since nobody else can write.
        let mut found = artifact::Found::default();
        for (number, append) in appends.iter().enumerate() {
            let name = append.run.as_str();
            // A run that is appended to more than once is written once, before the first of its entries.
            let is_first = !appends[..number].iter().any(|earlier| earlier.run == append.run);
            let row = self.runs.get_mut(name).ok_or(AppendError::NoRun)?;
            if is_first && !run::write(&self.connection, row)? {
                return Err(AppendError::Conflict);
            }
            let (id, models) = (row.id, row.used.take_new());
            for model in models {
                let model = named(&self.connection, &mut self.names, &model)?;
                run_use::write(&self.connection, model, id)?;
            }
            for entry in append.events(id) {
                let (address, mark) = event::split(entry.key);
                let address = named(&self.connection, &mut self.names, address)?;
                let mark = match mark {
                    Some(mark) => named(&self.connection, &mut self.names, mark)?,
                    None => 0,
                };
                event::write(&self.connection, &entry, address, mark)?;
            }
            for content in &append.artifacts {
                let kind = named(&self.connection, &mut self.names, content.kind)?;
                artifact::write(&self.connection, id, content, kind, &mut found)?;
            }
            let events = append.entries.iter().map(|(entry, _)| &*entry.event);
            run_search::write(&self.connection, id, events)?;
        }
        Ok(())
    }

    /// Checks that the append continues its run, and folds it into the run's row.
    fn admit(&mut self, append: &Append) -> Result<(), AppendError> {
        let name = append.run.as_str();
        let continues = |row: &RunRow| row.last_seq.checked_add(1) == Some(append.first_seq);
        // What is at hand is out of date when another process drove the run in between. Were it out of date and
        // seemed to fit, the number that is taken already would refuse the insert.
        if !self.runs.get(name).is_some_and(continues) {
            let found = run::find(&self.connection, name)?;
            if found.is_none() && append.first_seq == 1 && append.entries.is_empty() {
                return Err(AppendError::NoRun);
            }
            let row = match found {
                Some(row) => row,
                None => RunRow::new(name)?,
            };
            self.runs.insert(name.to_owned(), row);
        }
        let row = self.runs.get_mut(name).filter(|row| continues(row));
        let row = row.ok_or(AppendError::Conflict)?;
        for (entry, _) in &append.entries {
            row.prepare(&self.connection, &entry.key, &entry.event)?;
            row.apply(entry.at_ms, &entry.key, &entry.event)?;
        }
        Ok(())
    }

    /// Chooses how the next transaction is written.
    ///
    /// In WAL mode a commit writes pages to the end of the log. At `NORMAL` it is not synced: it
    /// survives the end of the process, because the system has the bytes, but not a power cut. At
    /// `FULL` the log is synced after the commit, and a sync is of the whole file: every earlier commit
    /// is on disk with it. Those that are no longer in the log were moved into the database by a
    /// checkpoint, which syncs the log before and the database after at either setting. The setting can
    /// only be changed between transactions.
    fn set(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.durability == durability {
            return Ok(());
        }
        self.execute(match durability {
            Durability::Commit => "PRAGMA synchronous = NORMAL",
            Durability::Barrier => "PRAGMA synchronous = FULL",
        })?;
        self.durability = durability;
        Ok(())
    }
}

/// The number of a name, given to it now if it has none.
fn named(connection: &Connection, names: &mut HashMap<String, i64>, text: &str) -> Result<i64, StoreError> {
    if let Some(id) = names.get(text) {
        return Ok(*id);
    }
    let found = connection
        .prepare_cached("SELECT id FROM name WHERE text = ?")?
        .query_row([text], |row| row.get(0));
    let id = match found {
        Err(rusqlite::Error::QueryReturnedNoRows) => {
            connection
                .prepare_cached("INSERT INTO name (text) VALUES (?)")?
                .execute([text])?;
            connection.last_insert_rowid()
        }
        found => found?,
    };
    names.insert(text.to_owned(), id);
    Ok(id)
}
