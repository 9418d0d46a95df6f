//! The journal port over the tables: entries, their artifacts and the projections in one transaction.

use std::sync::Arc;

use async_trait::async_trait;
use contract::event::RunEventRecord;
use contract::hash::Hash;
use contract::ids::RunId;
use contract::ports::journal::{Durability, Journal, JournalError, NewEntry};
use contract::value_ref::Artifact;

use crate::artifact::{self, PackedArtifact};
use crate::content::ContentFolder;
use crate::error::StoreError;
use crate::event::{self, NewEvent};
use crate::open::Store;
use crate::payload;

/// Artifacts of more bytes than this in all are packed on a thread that may block.
const INLINE_PACKING: usize = 64 * 1024;

/// An append, ready for its transaction.
pub(crate) struct Append {
    pub(crate) durability: Durability,
    pub(crate) run: RunId,
    pub(crate) first_seq: i64,
    /// Each with the bytes of its row.
    pub(crate) entries: Vec<(NewEntry, Arc<[u8]>)>,
    pub(crate) artifacts: Vec<PackedArtifact>,
}

/// Why an append was refused.
#[derive(Debug)]
pub(crate) enum AppendError {
    /// The run has grown meanwhile, or a key is taken.
    Conflict,
    /// Artifacts alone do not make a run.
    NoRun,
    /// The store could not do it.
    Store(StoreError),
}

impl From<StoreError> for AppendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
        match error.sqlite_error().map(|refused| refused.extended_code) {
            Some(SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE) => Self::Conflict,
            Some(_) | None => Self::Store(error.into()),
        }
    }
}

#[async_trait]
impl Journal for Store {
    async fn append(
        &self,
        run: &RunId,
        first_seq: u64,
        entries: Vec<NewEntry>,
        artifacts: Vec<Artifact>,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let append = Append {
            durability,
            run: run.clone(),
            first_seq: i64::try_from(first_seq).unwrap_or(i64::MAX),
            entries: entries.into_iter().map(with_payload).collect::<Result<_, _>>()?,
            artifacts: pack(artifacts, self.content()).await?,
        };
        self.writer().append(append).await.map_err(|error| match error {
            AppendError::Conflict => JournalError::Conflict,
            AppendError::NoRun => JournalError::NotFound(run.clone()),
            AppendError::Store(error) => error.into(),
        })
    }

    async fn read(&self, run: &RunId, from_seq: u64, limit: u32) -> Result<Vec<RunEventRecord>, JournalError> {
        let from = i64::try_from(from_seq.max(1)).unwrap_or(i64::MAX);
        let rows = event::read(self.readers(), run, from, limit).await?;
        if rows.is_empty() && self.runs().get(run).await?.is_none() {
            return Err(JournalError::NotFound(run.clone()));
        }
        let mut records = Vec::with_capacity(rows.len());
        for (row, expected) in rows.into_iter().zip(from..) {
            if row.seq != expected {
                return Err(JournalError::Corrupted(format!(
                    "entry {expected} of run {run} is missing"
                )));
            }
            records.push(row.record(run)?);
        }
        Ok(records)
    }

    async fn artifact(&self, hash: &Hash) -> Result<Option<Vec<u8>>, JournalError> {
        Ok(artifact::read(self.readers(), self.content(), hash).await?)
    }
}

fn with_payload(entry: NewEntry) -> Result<(NewEntry, Arc<[u8]>), StoreError> {
    match payload::write(&entry) {
        Ok(payload) => Ok((entry, payload)),
        Err(why) => Err(StoreError::Storage(format!("an entry cannot be written down: {why}"))),
    }
}

async fn pack(artifacts: Vec<Artifact>, folder: &ContentFolder) -> Result<Vec<PackedArtifact>, StoreError> {
    let pack = |artifacts: Vec<Artifact>, folder: &ContentFolder| {
        let packed = artifacts
            .into_iter()
            .map(|artifact| PackedArtifact::new(artifact, folder));
        packed.collect()
    };
    let bytes: usize = artifacts.iter().map(|artifact| artifact.bytes.len()).sum();
    if bytes <= INLINE_PACKING {
        return pack(artifacts, folder);
    }
    let folder = folder.clone();
    let packing = tokio::task::spawn_blocking(move || pack(artifacts, &folder));
    packing.await.map_err(|error| StoreError::Storage(error.to_string()))?
}

impl Append {
    /// The rows of its entries, for the run of this number.
    pub(crate) fn events(&self, run: i64) -> impl Iterator<Item = NewEvent<'_>> {
        let numbered = self.entries.iter().zip(self.first_seq..);
        numbered.map(move |((entry, payload), seq)| NewEvent {
            run,
            seq,
            at_ms: entry.at_ms,
            key: entry.key.as_str(),
            kind: event::kind(&entry.event),
            payload,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use contract::event::{NamedValue, RunEvent};
    use contract::ids::Key;
    use contract::value_ref::ValueRef;
    use serde_json::json;

    use super::*;
    use crate::append::Appender;
    use crate::testing::{append, count, cycle, execute, keyed, open, run_id, started};

    #[tokio::test]
    async fn reads_what_was_appended_in_order_and_in_parts() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("One"), cycle(1)]).await.unwrap();
        append(&store, 1, 3, vec![cycle(2), cycle(3)]).await.unwrap();
        let all = store.read(&run_id(1), 1, 100).await.unwrap();
        assert_eq!(all.iter().map(|record| record.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(all[0].event, *started("One").event);
        assert_eq!(all[3].event, *cycle(3).event);
        assert_eq!(store.read(&run_id(1), 2, 2).await.unwrap(), all[1..3]);
        assert_eq!(store.read(&run_id(1), 0, 100).await.unwrap(), all);
        assert_eq!(store.read(&run_id(1), 5, 100).await.unwrap(), []);
    }

    #[tokio::test]
    async fn knows_no_run_that_was_never_begun() {
        let (_folder, store) = open().await;
        let missing = JournalError::NotFound(run_id(1));
        assert_eq!(store.read(&run_id(1), 1, 10).await, Err(missing.clone()));
        assert_eq!(append(&store, 1, 1, vec![]).await, Err(missing));
        assert_eq!(count(&store, "run").await, 0);
    }

    #[tokio::test]
    async fn refuses_a_gap_a_repetition_and_a_taken_key() {
        let (_folder, store) = open().await;
        assert_eq!(append(&store, 1, 2, vec![cycle(1)]).await, Err(JournalError::Conflict));
        append(&store, 1, 1, vec![started("One")]).await.unwrap();
        for first_seq in [0, 1, 3, u64::MAX] {
            let result = append(&store, 1, first_seq, vec![cycle(1)]).await;
            assert_eq!(result, Err(JournalError::Conflict), "{first_seq}");
        }
        append(&store, 1, 2, vec![keyed("a", 1)]).await.unwrap();
        assert_eq!(
            append(&store, 1, 3, vec![keyed("a", 2)]).await,
            Err(JournalError::Conflict)
        );
        assert_eq!(
            append(&store, 1, 3, vec![keyed("b", 2), keyed("b", 3)]).await,
            Err(JournalError::Conflict)
        );
        append(&store, 2, 1, vec![keyed("a", 1)]).await.unwrap();
        assert_eq!(store.read(&run_id(1), 1, 10).await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn of_two_writers_of_one_run_one_conflicts() {
        let (folder, window) = open().await;
        let terminal = Store::open(folder.path()).await.unwrap();
        append(&window, 1, 1, vec![started("One")]).await.unwrap();
        let (left, right) = tokio::join!(
            append(&window, 1, 2, vec![keyed("left", 1)]),
            append(&terminal, 1, 2, vec![keyed("right", 1)]),
        );
        let refused = [&left, &right]
            .iter()
            .filter(|result| **result == &Err(JournalError::Conflict))
            .count();
        assert_eq!(refused, 1, "{left:?} {right:?}");
        assert_eq!(window.read(&run_id(1), 1, 10).await.unwrap().len(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn fifty_runs_append_at_once() {
        let (_folder, store) = open().await;
        let runs = (0..50).map(|run| {
            let store = store.clone();
            tokio::spawn(async move {
                append(&store, run, 1, vec![started("Many")]).await.unwrap();
                for seq in 2..=20 {
                    append(&store, run, seq, vec![cycle(seq as u32)]).await.unwrap();
                }
            })
        });
        for run in futures::future::join_all(runs).await {
            run.unwrap();
        }
        assert_eq!(count(&store, "event").await, 1000);
        for run in 0..50 {
            assert_eq!(store.read(&run_id(run), 1, 100).await.unwrap().len(), 20);
        }
    }

    #[tokio::test]
    async fn a_conflict_in_a_shared_transaction_harms_nobody_else() {
        let (_folder, store) = open().await;
        append(&store, 0, 1, vec![started("First")]).await.unwrap();
        // On one thread nothing is written before all of these are queued.
        let appends = (0..30).map(|run| {
            let store = store.clone();
            async move { append(&store, run, 1, vec![started("Batch")]).await }
        });
        let results = futures::future::join_all(appends).await;
        assert_eq!(results[0], Err(JournalError::Conflict));
        assert!(results[1..].iter().all(Result::is_ok), "{results:?}");
        assert_eq!(count(&store, "event").await, 30);
    }

    #[tokio::test]
    async fn keeps_everything_acknowledged_when_it_is_dropped_without_a_close() {
        let folder = tempfile::tempdir().unwrap();
        for seq in 1..=5 {
            let store = Store::open(folder.path()).await.unwrap();
            append(&store, 1, seq, vec![cycle(seq as u32)]).await.unwrap();
        }
        let store = Store::open(folder.path()).await.unwrap();
        assert_eq!(store.read(&run_id(1), 1, 10).await.unwrap().len(), 5);
    }

    #[test]
    fn keeps_everything_acknowledged_when_the_runtime_is_torn_down() {
        let folder = tempfile::tempdir().unwrap();
        for seq in 1..=3 {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .unwrap();
            let store = runtime.block_on(Store::open(folder.path())).unwrap();
            runtime.block_on(append(&store, 1, seq, vec![cycle(1)])).unwrap();
            std::mem::forget(store);
            runtime.shutdown_timeout(Duration::ZERO);
        }
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let store = runtime.block_on(Store::open(folder.path())).unwrap();
        let records = runtime.block_on(store.read(&run_id(1), 1, 10)).unwrap();
        assert_eq!(records.len(), 3);
    }

    #[tokio::test]
    async fn an_append_that_nobody_waits_for_is_whole_or_absent() {
        let (_folder, store) = open().await;
        let mut appending = Box::pin(append(&store, 1, 1, vec![started("Dropped"), cycle(1)]));
        // Looked after once: it is asked for. Whether it is done by then does not matter.
        let _ = futures::poll!(appending.as_mut());
        drop(appending);
        store.settings().set("after", &json!(true)).await.unwrap();
        assert_eq!(store.read(&run_id(1), 1, 10).await.unwrap().len(), 2);
    }

    #[tokio::test]
    async fn a_barrier_is_synced_and_an_ordinary_commit_is_not() {
        let (_folder, store) = open().await;
        for (durability, expected) in [
            (Durability::Commit, 1),
            (Durability::Barrier, 2),
            (Durability::Commit, 1),
        ] {
            let synchronous: i64 = store
                .writer()
                .write(durability, |connection| {
                    Box::pin(async move { Ok(sqlx::query_scalar("PRAGMA synchronous").fetch_one(connection).await?) })
                })
                .await
                .unwrap();
            assert_eq!(synchronous, expected, "{durability:?}");
        }
    }

    #[tokio::test]
    async fn an_append_is_synced_exactly_when_one_in_its_transaction_is_a_barrier() {
        let (_folder, store) = open().await;
        let synchronous = || store.writer().look(Appender::synchronous);
        append(&store, 1, 1, vec![started("One")]).await.unwrap();
        assert_eq!(synchronous().await, 1);
        let (run, entries) = (run_id(1), vec![cycle(1)]);
        let barrier = store.append(&run, 2, entries, vec![], Durability::Barrier);
        let (one, two) = tokio::join!(barrier, append(&store, 2, 1, vec![started("Two")]));
        one.unwrap();
        two.unwrap();
        append(&store, 2, 2, vec![cycle(1)]).await.unwrap();
        assert_eq!(synchronous().await, 1);
        store
            .append(&run, 3, vec![cycle(2)], vec![], Durability::Barrier)
            .await
            .unwrap();
        assert_eq!(synchronous().await, 2);
    }

    #[tokio::test]
    async fn goes_on_with_a_run_that_another_process_has_driven_in_between() {
        let (folder, window) = open().await;
        let terminal = Store::open(folder.path()).await.unwrap();
        append(&window, 1, 1, vec![started("Shared"), cycle(1)]).await.unwrap();
        append(&terminal, 1, 3, vec![cycle(2), cycle(3)]).await.unwrap();
        assert_eq!(append(&window, 1, 3, vec![cycle(2)]).await, Err(JournalError::Conflict));
        append(&window, 1, 5, vec![cycle(4)]).await.unwrap();
        let summary = terminal.runs().get(&run_id(1)).await.unwrap().unwrap();
        assert_eq!(
            (summary.cycles, terminal.read(&run_id(1), 1, 10).await.unwrap().len()),
            (4, 5)
        );
    }

    #[tokio::test]
    async fn a_refused_append_leaves_nothing_at_hand_that_is_not_in_the_database() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![keyed("first/address", 1)]).await.unwrap();
        let twice = vec![keyed("new/address", 2), keyed("new/address", 3)];
        assert_eq!(append(&store, 1, 2, twice).await, Err(JournalError::Conflict));
        append(
            &store,
            1,
            2,
            vec![keyed("new/address", 2), keyed("new/address:mark", 3)],
        )
        .await
        .unwrap();
        let keys = store
            .read(&run_id(1), 1, 10)
            .await
            .unwrap()
            .into_iter()
            .map(|record| record.key.0);
        assert_eq!(
            keys.collect::<Vec<_>>(),
            ["first/address", "new/address", "new/address:mark"]
        );
    }

    #[tokio::test]
    async fn a_full_disk_refuses_an_append_and_takes_it_when_there_is_room() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("Full")]).await.unwrap();
        let large = || vec![Artifact::new("tool-output", crate::testing::incompressible(100_000))];
        let limit = async |pages: &'static str| {
            store
                .writer()
                .look(move |appender| appender.execute(pages))
                .await
                .unwrap();
        };
        limit("PRAGMA max_page_count = 1").await;
        let refused = store
            .append(&run_id(1), 2, vec![cycle(1)], large(), Durability::Commit)
            .await
            .unwrap_err();
        assert_eq!(refused, JournalError::Storage(StoreError::DiskFull.to_string()));
        assert_eq!(store.read(&run_id(1), 1, 10).await.unwrap().len(), 1);
        limit("PRAGMA max_page_count = 1073741823").await;
        store
            .append(&run_id(1), 2, vec![cycle(1)], large(), Durability::Commit)
            .await
            .unwrap();
    }

    #[tokio::test]
    async fn numbers_and_texts_come_back_exactly() {
        let (_folder, store) = open().await;
        // A quick reader of numbers is off by one in the last place for some of these.
        let roots: Vec<f64> = (1..40).map(|number| f64::from(number).sqrt() * 1e-9).collect();
        for (index, value) in [
            json!(roots),
            json!([
                0.1,
                1.0e-7,
                2.2250738585072014e-308,
                5.0e-324,
                1.7976931348623157e308,
                0.30000000000000004
            ]),
            json!([
                9.5367431640625e-7,
                123456.78901234567,
                1e23,
                9007199254740991_i64,
                -9007199254740992_i64
            ]),
            json!({"b": 1, "a": {"\u{0}": "\u{0}\u{1f600}\u{2028}"}, "": null}),
        ]
        .into_iter()
        .enumerate()
        {
            let (value, _) = ValueRef::of("tool-output", &value).unwrap();
            let entry = NamedValue {
                name: "n".to_owned(),
                value: value.clone(),
            };
            let event = RunEvent::ScratchpadWritten { entry };
            let entry = NewEntry::new(Key::new(format!("value/{index}\u{0}ü")), i64::MIN, event.clone());
            append(&store, 1, index as u64 + 1, vec![entry.clone()]).await.unwrap();
            let record = store.read(&run_id(1), index as u64 + 1, 1).await.unwrap().remove(0);
            assert_eq!(
                (record.key, record.at_ms, record.event),
                (entry.key, entry.at_ms, event)
            );
            let inline = value.inline.unwrap();
            assert_eq!(Hash::of_value(&inline).unwrap(), value.hash);
        }
    }

    #[tokio::test]
    async fn says_which_entry_is_unreadable_or_missing() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("One"), cycle(1), cycle(2)])
            .await
            .unwrap();
        execute(
            &store,
            "UPDATE event SET payload = '{\"type\":\"moonLanded\"}' WHERE seq = 2",
        )
        .await;
        let error = store.read(&run_id(1), 1, 10).await.unwrap_err();
        assert!(
            matches!(&error, JournalError::Corrupted(why) if why.contains("entry 2")),
            "{error}"
        );
        execute(&store, "DELETE FROM event WHERE seq = 2").await;
        let error = store.read(&run_id(1), 1, 10).await.unwrap_err();
        assert!(
            matches!(&error, JournalError::Corrupted(why) if why.contains("entry 2")),
            "{error}"
        );
    }
}
