//! Making the projections anew from the journal, which is the only source of truth.

use contract::event::RunEvent;
use contract::ids::RunId;
use contract::ports::journal::Durability;
use sqlx::SqliteConnection;

use crate::error::StoreError;
use crate::open::Store;
use crate::run::RunRow;
use crate::{event, run, run_search};

impl Store {
    /// Makes the rows of at most so many runs anew that an earlier version of the app wrote, newest first, and says
    /// how many they were.
    pub async fn refresh_runs(&self, most: u32) -> Result<usize, StoreError> {
        let outdated: Vec<(i64, String)> = sqlx::query_as(OUTDATED).bind(most).fetch_all(self.readers()).await?;
        let found = outdated.len();
        for (id, name) in outdated {
            let refreshing = self.writer().write(Durability::Commit, move |connection| {
                Box::pin(refresh(connection, id, name))
            });
            refreshing.await?;
        }
        Ok(found)
    }

    /// Makes the list of runs and its search index anew, in one transaction.
    pub async fn rebuild_runs(&self) -> Result<(), StoreError> {
        self.writer()
            .write(Durability::Barrier, |connection| Box::pin(rebuild(connection)))
            .await
    }
}

const OUTDATED: &str = "SELECT id, run_id FROM run WHERE projection = 0 ORDER BY id DESC LIMIT ?";

async fn rebuild(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    run_search::clear(&mut *connection).await?;
    for (id, name) in run::all(&mut *connection).await? {
        let words = row(&mut *connection, id, name).await?;
        run_search::index(&mut *connection, id, &words.iter().collect::<Vec<_>>()).await?;
    }
    Ok(())
}

/// Makes a run's row anew. One that cannot be read keeps what it says, and is not tried again.
async fn refresh(connection: &mut SqliteConnection, id: i64, name: String) -> Result<(), StoreError> {
    match row(&mut *connection, id, name).await {
        Ok(_) => Ok(()),
        Err(StoreError::Corrupted(why)) => {
            tracing::warn!(%why, "what a run cost is not known to the list of runs");
            run::refreshed(connection, id).await
        }
        Err(error) => Err(error),
    }
}

/// Makes a run's row anew and returns the events whose words are searched.
async fn row(connection: &mut SqliteConnection, id: i64, name: String) -> Result<Vec<RunEvent>, StoreError> {
    let mut row = RunRow::new(&name)?;
    let mut words: Vec<RunEvent> = Vec::new();
    let run_id = RunId(name);
    for entry in event::all(&mut *connection, id).await? {
        let record = entry.record(&run_id)?;
        row.apply(record.at_ms, &record.key, &record.event)?;
        if matches!(record.event, RunEvent::RunStarted { .. } | RunEvent::RunFinished { .. }) {
            words.push(record.event);
        }
    }
    run::save(&mut *connection, &row).await?;
    row.used.index(&mut *connection, id).await?;
    run::refreshed(connection, id).await?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use contract::run::StopReason;

    use crate::run_list::RunFilter;
    use crate::testing::{append, asked, attempted, cycle, execute, explain, finished, open, run_id, started};

    #[tokio::test]
    async fn the_rebuilt_list_equals_the_one_that_was_kept() {
        let (_folder, store) = open().await;
        append(&store, 1, 1, vec![started("One"), cycle(1), attempted(70), asked()])
            .await
            .unwrap();
        append(&store, 2, 1, vec![started("Two"), cycle(1), attempted(30), cycle(2)])
            .await
            .unwrap();
        append(
            &store,
            2,
            5,
            vec![attempted(5), finished(StopReason::Passed, "splendid")],
        )
        .await
        .unwrap();
        let words = RunFilter {
            text: Some("splendid two".to_owned()),
            ..RunFilter::default()
        };
        let kept = store.runs().list(&RunFilter::default(), None, 10).await.unwrap();
        let found = store.runs().list(&words, None, 10).await.unwrap();
        assert_eq!((kept.runs.len(), found.runs.len()), (2, 1));

        execute(
            &store,
            "UPDATE run SET title = 'x', status = 'fail', cycles = 9, tokens_used = 0, last_seq = 0",
        )
        .await;
        execute(&store, "DELETE FROM run_search").await;
        assert_ne!(store.runs().list(&RunFilter::default(), None, 10).await.unwrap(), kept);

        store.rebuild_runs().await.unwrap();
        assert_eq!(store.runs().list(&RunFilter::default(), None, 10).await.unwrap(), kept);
        assert_eq!(store.runs().list(&words, None, 10).await.unwrap(), found);
        append(&store, 1, 5, vec![cycle(2)]).await.unwrap();
    }

    #[tokio::test]
    async fn rows_of_an_earlier_version_are_made_anew_a_few_at_a_time() {
        let (_folder, store) = open().await;
        for number in 1..=3 {
            append(&store, number, 1, vec![started("One"), cycle(1)]).await.unwrap();
        }
        let kept = store.runs().list(&RunFilter::default(), None, 10).await.unwrap();
        assert_eq!(store.refresh_runs(2).await.unwrap(), 0, "nothing is outdated yet");
        execute(&store, "UPDATE run SET projection = 0, cycles = 7").await;
        assert_eq!(store.refresh_runs(2).await.unwrap(), 2);
        let cycles = async |number| store.runs().get(&run_id(number)).await.unwrap().unwrap().cycles;
        assert_eq!((cycles(3).await, cycles(2).await, cycles(1).await), (1, 1, 7));
        assert_eq!(store.refresh_runs(2).await.unwrap(), 1);
        assert_eq!(store.runs().list(&RunFilter::default(), None, 10).await.unwrap(), kept);
        let plan = explain(&store, super::OUTDATED, &["10"]).await;
        assert!(
            plan.contains("run USING INDEX run_outdated") && !plan.contains("B-TREE"),
            "{plan}"
        );
    }

    #[tokio::test]
    async fn a_run_that_cannot_be_read_does_not_keep_the_others_from_being_made_anew() {
        let (_folder, store) = open().await;
        for number in 1..=2 {
            append(&store, number, 1, vec![started("One"), cycle(1)]).await.unwrap();
        }
        execute(&store, "UPDATE run SET projection = 0, cycles = 7").await;
        execute(&store, "UPDATE event SET payload = '{}' WHERE run = 2 AND seq = 2").await;
        assert_eq!(store.refresh_runs(9).await.unwrap(), 2);
        let cycles = async |number| store.runs().get(&run_id(number)).await.unwrap().unwrap().cycles;
        assert_eq!((cycles(2).await, cycles(1).await), (7, 1));
        assert_eq!(
            store.refresh_runs(1).await.unwrap(),
            0,
            "it is not tried again and again"
        );
    }
}
