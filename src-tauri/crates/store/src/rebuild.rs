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
    /// Makes the list of runs and its search index anew, in one transaction.
    pub async fn rebuild_runs(&self) -> Result<(), StoreError> {
        self.writer()
            .write(Durability::Barrier, |connection| Box::pin(rebuild(connection)))
            .await
    }
}

async fn rebuild(connection: &mut SqliteConnection) -> Result<(), StoreError> {
    run_search::clear(&mut *connection).await?;
    for (id, name) in run::all(&mut *connection).await? {
        let mut row = RunRow::new(&name)?;
        let mut words: Vec<RunEvent> = Vec::new();
        let run_id = RunId(name);
        for entry in event::all(&mut *connection, id).await? {
            let record = entry.record(&run_id)?;
            row.apply(record.at_ms, &record.event)?;
            if matches!(record.event, RunEvent::RunStarted { .. } | RunEvent::RunFinished { .. }) {
                words.push(record.event);
            }
        }
        run::save(&mut *connection, &row).await?;
        run_search::index(&mut *connection, id, &words.iter().collect::<Vec<_>>()).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use contract::run::StopReason;

    use crate::run_list::RunFilter;
    use crate::testing::{append, asked, attempted, cycle, execute, finished, open, started};

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
}
