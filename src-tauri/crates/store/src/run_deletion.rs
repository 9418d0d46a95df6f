//! Deleting a run: its events, its words in the search, and the content that nobody else uses (history page).
//!
//! Content that is kept in a file loses its row here; the file is collected when the store is opened next, as every
//! file without a row is (see `content`): another run may be about to name it. Texts that stand in content of other
//! runs (see `parts`) stay.

use std::collections::HashSet;

use contract::ids::RunId;
use contract::ports::journal::Durability;
use sqlx::SqliteConnection;

use crate::artifact::texts_in_frame;
use crate::content::{ContentFolder, Digest32};
use crate::error::StoreError;
use crate::open::Store;

/// What goes with a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Entries of the journal.
    pub events: u64,
    /// Values that only this run uses.
    pub artifacts: u64,
    /// How many bytes those have, unpacked.
    pub bytes: u64,
}

const WOULD_GO: &str = "SELECT count(*), coalesce(sum(size), 0) FROM artifact WHERE id IN (
        SELECT artifact FROM artifact_ref AS used WHERE run = ? AND NOT EXISTS (
            SELECT 1 FROM artifact_ref AS other WHERE other.artifact = used.artifact AND other.run <> used.run))";

/// Content without a user that may be a text in content that has one; the smallest text is 1,024 bytes long.
const UNUSED: &str = "SELECT id, hash FROM artifact WHERE NOT EXISTS (
        SELECT 1 FROM artifact_ref WHERE artifact_ref.artifact = artifact.id)";

/// Frames with a user, some at a time.
const FRAMES: &str = "SELECT id, hash, size, content FROM artifact WHERE encoding = 2 AND id > ? AND EXISTS (
        SELECT 1 FROM artifact_ref WHERE artifact_ref.artifact = artifact.id) ORDER BY id LIMIT 256";

impl Store {
    /// What deleting a run would take with it; none when there is no such run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn deletion_of(&self, run: &RunId) -> Result<Option<Deletion>, StoreError> {
        let found: Option<(i64, i64)> = sqlx::query_as("SELECT id, last_seq FROM run WHERE run_id = ?")
            .bind(run.as_str())
            .fetch_optional(self.readers())
            .await?;
        let Some((id, events)) = found else { return Ok(None) };
        let (artifacts, bytes): (i64, i64) = sqlx::query_as(WOULD_GO).bind(id).fetch_one(self.readers()).await?;
        Ok(Some(Deletion {
            events: events.unsigned_abs(),
            artifacts: artifacts.unsigned_abs(),
            bytes: bytes.unsigned_abs(),
        }))
    }

    /// Deletes runs, all of them or none. Those that are not there are passed over. The caller holds their locks.
    ///
    /// # Errors
    /// The database cannot be written; nothing is deleted then.
    pub async fn delete_runs(&self, runs: &[RunId]) -> Result<(), StoreError> {
        let runs: Vec<String> = runs.iter().map(|run| run.as_str().to_owned()).collect();
        let content = self.content().clone();
        let deleting = self.writer().write(Durability::Barrier, move |connection| {
            Box::pin(async move {
                for run in &runs {
                    delete(connection, run).await?;
                }
                sweep(connection, &content).await
            })
        });
        deleting.await
    }
}

async fn delete(connection: &mut SqliteConnection, run: &str) -> Result<(), StoreError> {
    let found: Option<i64> = sqlx::query_scalar("SELECT id FROM run WHERE run_id = ?")
        .bind(run)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(id) = found else { return Ok(()) };
    for statement in [
        "DELETE FROM run_search WHERE rowid = ?",
        "DELETE FROM run_model WHERE run = ?",
        "DELETE FROM artifact_ref WHERE run = ?",
        "DELETE FROM event WHERE run = ?",
        "DELETE FROM run WHERE id = ?",
    ] {
        sqlx::query(statement).bind(id).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Removes content that has no user and stands in nothing that has one. Each frame is looked at once.
async fn sweep(connection: &mut SqliteConnection, content: &ContentFolder) -> Result<(), StoreError> {
    let unused: Vec<(i64, Vec<u8>)> = sqlx::query_as(UNUSED).fetch_all(&mut *connection).await?;
    if unused.is_empty() {
        return Ok(());
    }
    let inside = match texts_in_use(connection, content).await {
        Ok(inside) => inside,
        // Which texts a damaged frame had is not known: then all of them stay.
        Err(StoreError::Corrupted(why)) => {
            tracing::warn!(%why, "content that nothing uses was left where it is");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    for (id, hash) in unused {
        let is_text = Digest32::try_from(hash).is_ok_and(|digest| inside.contains(&digest));
        if !is_text {
            sqlx::query("DELETE FROM artifact WHERE id = ?")
                .bind(id)
                .execute(&mut *connection)
                .await?;
        }
    }
    Ok(())
}

/// A row of content: its id, its hash, its size, and its bytes unless they are in a file.
type Frame = (i64, Vec<u8>, i64, Option<Vec<u8>>);

async fn texts_in_use(
    connection: &mut SqliteConnection,
    content: &ContentFolder,
) -> Result<HashSet<Digest32>, StoreError> {
    let mut inside = HashSet::new();
    let mut after = 0;
    loop {
        let frames: Vec<Frame> = sqlx::query_as(FRAMES).bind(after).fetch_all(&mut *connection).await?;
        let Some(last) = frames.last() else { return Ok(inside) };
        after = last.0;
        for (_, hash, size, stored) in frames {
            inside.extend(texts_in_frame(&hash, size, stored, content)?);
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::ports::journal::Journal;
    use contract::value_ref::Artifact;
    use serde_json::json;

    use super::*;
    use crate::run_list::RunFilter;
    use crate::testing::{count, incompressible, open, run_id, started};

    async fn keep(store: &Store, run: u32, artifacts: &[&Artifact]) {
        let artifacts = artifacts.iter().map(|artifact| (*artifact).clone()).collect();
        let run = run_id(run);
        let appended = store.append(&run, 1, vec![started("Weekly report")], artifacts, Durability::Commit);
        appended.await.unwrap();
    }

    #[tokio::test]
    async fn a_run_goes_with_its_events_its_words_and_what_only_it_uses() {
        let (_folder, store) = open().await;
        let own = Artifact::new("tool-output", b"only here".to_vec());
        let shared = Artifact::new("tool-output", b"in both".to_vec());
        keep(&store, 1, &[&own, &shared]).await;
        keep(&store, 2, &[&shared]).await;
        let expected = Deletion {
            events: 1,
            artifacts: 1,
            bytes: 9,
        };
        assert_eq!(store.deletion_of(&run_id(1)).await.unwrap(), Some(expected));
        store.delete_runs(&[run_id(1)]).await.unwrap();
        assert_eq!(store.deletion_of(&run_id(1)).await.unwrap(), None);
        assert_eq!(store.artifact(&own.hash).await.unwrap(), None);
        assert_eq!(store.artifact(&shared.hash).await.unwrap().unwrap(), b"in both");
        let words = RunFilter {
            text: Some("weekly".to_owned()),
            ..RunFilter::default()
        };
        let left = store.runs().list(&words, None, 10).await.unwrap().runs;
        assert_eq!(
            left.iter().map(|run| run.run_id.clone()).collect::<Vec<_>>(),
            [run_id(2)]
        );
        assert_eq!((count(&store, "event").await, count(&store, "artifact").await), (1, 1));
    }

    #[tokio::test]
    async fn a_text_that_stands_in_what_another_run_uses_stays_whole() {
        let (_folder, store) = open().await;
        let words: String = incompressible(5_000)
            .iter()
            .map(|byte| char::from(b' ' + byte % 90))
            .collect();
        let text = Artifact::new("tool-output", json!(words).to_string().into_bytes());
        let around = Artifact::new("llm-request", json!({ "content": words }).to_string().into_bytes());
        keep(&store, 1, &[&text]).await;
        keep(&store, 2, &[&around]).await;
        store.delete_runs(&[run_id(1)]).await.unwrap();
        assert_eq!(
            store.artifact(&around.hash).await.unwrap().as_deref(),
            Some(around.bytes.as_slice())
        );
        store.delete_runs(&[run_id(2)]).await.unwrap();
        assert_eq!(
            count(&store, "artifact").await,
            0,
            "the text goes with the last that it stood in"
        );
    }

    #[tokio::test]
    async fn a_deleted_run_can_come_back_under_its_id() {
        let (_folder, store) = open().await;
        let artifact = Artifact::new("tool-output", b"again".to_vec());
        keep(&store, 1, &[&artifact]).await;
        store.delete_runs(&[run_id(1), run_id(9)]).await.unwrap();
        keep(&store, 1, &[&artifact]).await;
        assert_eq!(store.artifact(&artifact.hash).await.unwrap().unwrap(), b"again");
        assert_eq!(store.read(&run_id(1), 1, 10).await.unwrap().len(), 1);
    }
}
