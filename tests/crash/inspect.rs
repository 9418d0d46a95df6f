//! What is in a victim's store, and whether it is sound.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use contract::Hash;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::Journal;
use store::{RunFilter, Store};

use crate::place::{Place, Ran};

/// How the work ends when nothing happens to it.
pub(crate) struct Undisturbed {
    /// Which work.
    pub(crate) work: &'static str,
    final_hash: Hash,
    files: BTreeMap<String, Vec<u8>>,
}

impl Undisturbed {
    /// Does the work once, in peace.
    pub(crate) fn of(work: &'static str) -> Self {
        let place = Place::new();
        let ran = place.run(&[work]);
        ran.must_finish().unwrap();
        assert!(
            ran.said.contains(&"finished Passed".to_owned()),
            "{:?}",
            ran.said.last()
        );
        Self {
            work,
            final_hash: engine::final_hash(&events(&place.data()).unwrap()).unwrap(),
            files: place.files(),
        }
    }

    /// Looks at what a victim left, lets it go on, and says what is wrong. `told` is how far it was told that its
    /// journal reaches.
    pub(crate) fn goes_on(&self, place: &Place, told: u64) -> Result<(), String> {
        let before = events(&place.data())?;
        sound(&place.data())?;
        if (before.len() as u64) < told {
            return Err(format!("entries were lost: {} of {told}", before.len()));
        }
        let last = before.last().map(|record| &record.event);
        if !matches!(last, Some(RunEvent::RunFinished { .. })) {
            let ran = place.run(&[self.work]);
            ran.must_finish()?;
            repeated_nothing(&before, &ran)?;
        }
        let after = events(&place.data())?;
        if after.get(..before.len()) != Some(before.as_slice()) {
            return Err("entries have changed".to_owned());
        }
        self.same_end(place, &after)
    }

    /// Whether the journal, the store and the files are what they are in peace.
    pub(crate) fn same_end(&self, place: &Place, events: &[RunEventRecord]) -> Result<(), String> {
        sound(&place.data())?;
        let seqs: Vec<u64> = events.iter().map(|record| record.seq).collect();
        if !seqs.iter().copied().eq(1..=events.len() as u64) {
            return Err(format!("the journal has a gap: {seqs:?}"));
        }
        match engine::final_hash(events) {
            Ok(hash) if hash == self.final_hash => {}
            other => return Err(format!("it came to another end: {other:?}")),
        }
        match place.files() == self.files {
            true => Ok(()),
            false => Err("the files are not the same".to_owned()),
        }
    }
}

/// The journal of the only run there is.
pub(crate) fn events(data: &Path) -> Result<Vec<RunEventRecord>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(data)
            .await
            .map_err(|error| format!("it does not open: {error}"))?;
        let page = store.runs().list(&RunFilter::default(), None, 10).await;
        let runs = page.map_err(|error| error.to_string())?.runs;
        let events = match runs.as_slice() {
            [] => Vec::new(),
            [run] => store
                .read(&run.run_id, 1, 100_000)
                .await
                .map_err(|error| error.to_string())?,
            more => return Err(format!("the work was started {} times", more.len())),
        };
        store.close().await.map_err(|error| error.to_string())?;
        Ok(events)
    })
}

/// What SQLite and the search index say about themselves.
pub(crate) fn sound(data: &Path) -> Result<(), String> {
    sound_to_sqlite(&data.join("tepa.db")).map_err(|error| error.to_string())?
}

fn sound_to_sqlite(database: &Path) -> rusqlite::Result<Result<(), String>> {
    let database = rusqlite::Connection::open(database)?;
    let finding: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    if finding != "ok" {
        return Ok(Err(format!("the database is damaged: {finding}")));
    }
    let mut indexes = database.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'")?;
    let names: Vec<String> = indexes
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names {
        database.execute(&format!("INSERT INTO {name} ({name}) VALUES ('integrity-check')"), [])?;
    }
    Ok(Ok(()))
}

/// Whether a leaf that the journal held as finished was begun again.
fn repeated_nothing(before: &[RunEventRecord], ran: &Ran) -> Result<(), String> {
    let events: HashMap<&str, &RunEvent> = before
        .iter()
        .map(|record| (record.key.as_str(), &record.event))
        .collect();
    for record in before {
        let line = match &record.event {
            RunEvent::ModelCallFinished { .. } => format!("model {}", record.key),
            RunEvent::ToolFinished { .. } => match events.get(record.key.mark("started").as_str()) {
                Some(RunEvent::ToolStarted { tool, args, .. }) => format!("tool {tool} {}", args.hash.as_str()),
                _ => continue,
            },
            _ => continue,
        };
        if ran.log.contains(&line) {
            return Err(format!("a finished leaf was run again: {line}"));
        }
    }
    Ok(())
}
