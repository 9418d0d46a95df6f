//! Lists of runs, over the `run` table and its search index.

use contract::ids::RunId;
use contract::run::{RunStatus, RunSummary, StopReason};
use sqlx::{QueryBuilder, Sqlite};

use crate::error::StoreError;
use crate::names::to_name;
use crate::open::Store;
use crate::run::{COLUMNS, RunRow};
use crate::run_search;

/// Which runs a list shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunFilter {
    /// Only these; all when absent or empty.
    pub status: Option<Vec<RunStatus>>,
    /// Only runs whose title, goal or feedback has every word of this, or a longer word that begins so.
    pub text: Option<String>,
    /// Only runs that ended for this reason, which says how they stand: `status` then counts for nothing.
    pub ended: Option<StopReason>,
}

/// Some runs, and where the next ones begin.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    /// Newest first.
    pub runs: Vec<RunSummary>,
    /// What continues the list; none at its end.
    pub next: Option<String>,
}

/// What can be asked about runs.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    store: &'a Store,
}

impl Store {
    /// The history.
    pub fn runs(&self) -> Runs<'_> {
        Runs { store: self }
    }
}

impl Runs<'_> {
    /// Runs in the order they came into the history, newest first, from `cursor` on.
    pub async fn list(&self, filter: &RunFilter, cursor: Option<&str>, limit: u32) -> Result<RunPage, StoreError> {
        let limit = limit.max(1);
        let mut query = list_query(filter, parse(cursor)?, i64::from(limit) + 1)?;
        let mut rows: Vec<RunRow> = query.build_query_as().fetch_all(self.store.readers()).await?;
        let more = rows.len() > limit as usize;
        rows.truncate(limit as usize);
        let next = rows.last().filter(|_| more).map(|row| row.id.to_string());
        let runs = rows.into_iter().map(|row| self.with_driver(row));
        Ok(RunPage {
            runs: runs.collect::<Result<_, _>>()?,
            next,
        })
    }

    /// One run.
    pub async fn get(&self, run: &RunId) -> Result<Option<RunSummary>, StoreError> {
        let mut query = QueryBuilder::<Sqlite>::new("SELECT ");
        query.push(COLUMNS).push(" FROM run WHERE run_id = ");
        query.push_bind(run.as_str());
        let row: Option<RunRow> = query.build_query_as().fetch_optional(self.store.readers()).await?;
        row.map(|row| self.with_driver(row)).transpose()
    }

    fn with_driver(&self, row: RunRow) -> Result<RunSummary, StoreError> {
        let driven = self.store.is_driven(&RunId::new(row.run_id.as_str()))?;
        row.summary(driven)
    }
}

fn parse(cursor: Option<&str>) -> Result<i64, StoreError> {
    match cursor {
        None => Ok(i64::MAX),
        Some(text) => text.parse().map_err(|_| StoreError::Cursor(text.to_owned())),
    }
}

/// Each arm walks an index from its newest end, and several are merged as they are read: however deep
/// the page, only its own rows are looked at. With words, the search index leads and the status is
/// looked at on the way.
fn list_query(filter: &RunFilter, before: i64, limit: i64) -> Result<QueryBuilder<Sqlite>, StoreError> {
    // The reason is looked at among the runs that stand as it says, which have an index.
    let implied = filter.ended.map(|ended| vec![ended.status()]);
    let ended = filter.ended.as_ref().map(to_name).transpose()?;
    let statuses = implied.as_deref().or(filter.status.as_deref()).unwrap_or_default();
    let statuses: Vec<String> = statuses.iter().map(to_name).collect::<Result<_, _>>()?;
    let mut query = QueryBuilder::<Sqlite>::new("");
    match filter.text.as_deref().and_then(run_search::expression) {
        Some(words) => {
            query.push("SELECT ").push(COLUMNS);
            query.push(" FROM run_search CROSS JOIN run ON run.id = run_search.rowid WHERE run_search MATCH ");
            query.push_bind(words);
            query.push(" AND run_search.rowid < ").push_bind(before);
            if !statuses.is_empty() {
                query.push(" AND run.status IN (");
                let mut names = query.separated(", ");
                for status in statuses {
                    names.push_bind(status);
                }
                query.push(")");
            }
            if let Some(ended) = ended {
                query.push(" AND run.stop_reason = ").push_bind(ended);
            }
            query.push(" ORDER BY run_search.rowid DESC");
        }
        None if statuses.is_empty() => {
            query.push("SELECT ").push(COLUMNS).push(" FROM run WHERE run.id < ");
            query.push_bind(before).push(" ORDER BY run.id DESC");
        }
        None => {
            for (number, status) in statuses.into_iter().enumerate() {
                query.push(if number == 0 { "SELECT " } else { " UNION ALL SELECT " });
                query.push(COLUMNS).push(" FROM run WHERE run.status = ");
                query.push_bind(status).push(" AND run.id < ").push_bind(before);
                if let Some(ended) = &ended {
                    query.push(" AND run.stop_reason = ").push_bind(ended.clone());
                }
            }
            query.push(" ORDER BY id DESC");
        }
    }
    query.push(" LIMIT ").push_bind(limit);
    Ok(query)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{append, asked, explain, finished, open, run_id, started};

    async fn history() -> (tempfile::TempDir, Store) {
        let (folder, store) = open().await;
        for number in 1..=9 {
            let mut entries = vec![started(&format!("Run {number}"))];
            match number % 3 {
                0 => entries.push(finished(StopReason::Passed, "every sum is right")),
                1 => entries.push(asked()),
                _ => {}
            }
            append(&store, number, 1, entries).await.unwrap();
        }
        (folder, store)
    }

    async fn check_list(filter: RunFilter, expected: &[&str]) {
        let (_folder, store) = history().await;
        for limit in [1, 2, 100] {
            let mut titles = Vec::new();
            let mut cursor = None;
            loop {
                let page = store.runs().list(&filter, cursor.as_deref(), limit).await.unwrap();
                assert!(page.runs.len() <= limit as usize);
                titles.extend(page.runs.into_iter().map(|run| run.title));
                assert!(titles.len() <= expected.len(), "a run came twice: {titles:?}");
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(titles, expected, "{limit} at a time");
        }
    }

    fn with_status(status: &[RunStatus]) -> RunFilter {
        RunFilter {
            status: Some(status.to_vec()),
            ..RunFilter::default()
        }
    }

    fn that_ended(ended: StopReason) -> RunFilter {
        RunFilter {
            ended: Some(ended),
            ..RunFilter::default()
        }
    }

    #[tokio::test]
    async fn lists_what_ended_for_a_reason() {
        let (_folder, store) = open().await;
        let reasons = [
            StopReason::Error,
            StopReason::MaxCycles,
            StopReason::Error,
            StopReason::Passed,
        ];
        for (number, reason) in (1..).zip(reasons) {
            let entries = vec![started(&format!("Run {number}")), finished(reason, "over")];
            append(&store, number, 1, entries).await.unwrap();
        }
        let titles = async |filter: RunFilter| -> Vec<String> {
            let page = store.runs().list(&filter, None, 10).await.unwrap();
            page.runs.into_iter().map(|run| run.title).collect()
        };
        assert_eq!(titles(that_ended(StopReason::Error)).await, ["Run 3", "Run 1"]);
        let mut worded = that_ended(StopReason::Error);
        worded.text = Some("over".to_owned());
        assert_eq!(titles(worded).await, ["Run 3", "Run 1"]);
        assert_eq!(
            titles(with_status(&[RunStatus::Fail])).await,
            ["Run 3", "Run 2", "Run 1"]
        );
    }

    #[tokio::test]
    async fn lists_the_newest_first_page_by_page() {
        let all = [
            "Run 9", "Run 8", "Run 7", "Run 6", "Run 5", "Run 4", "Run 3", "Run 2", "Run 1",
        ];
        check_list(RunFilter::default(), &all).await;
        check_list(with_status(&[]), &all).await;
    }

    #[tokio::test]
    async fn lists_some_statuses_in_one_order() {
        check_list(with_status(&[RunStatus::Pass]), &["Run 9", "Run 6", "Run 3"]).await;
        let open = [RunStatus::Running, RunStatus::Waiting];
        check_list(
            with_status(&open),
            &["Run 8", "Run 7", "Run 5", "Run 4", "Run 2", "Run 1"],
        )
        .await;
        check_list(with_status(&[RunStatus::Fail]), &[]).await;
    }

    #[tokio::test]
    async fn lists_what_has_the_words_and_the_status() {
        let mut filter = with_status(&[RunStatus::Pass]);
        filter.text = Some("run".to_owned());
        check_list(filter, &["Run 9", "Run 6", "Run 3"]).await;
    }

    #[tokio::test]
    async fn refuses_a_cursor_that_it_did_not_give() {
        let (_folder, store) = open().await;
        let error = store
            .runs()
            .list(&RunFilter::default(), Some("page 2"), 10)
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Cursor(_)), "{error}");
    }

    #[tokio::test]
    async fn knows_one_run_and_whether_somebody_drives_it() {
        let (_folder, store) = history().await;
        let lock = store.lock_run(&run_id(1)).unwrap().unwrap();
        let run = store.runs().get(&run_id(1)).await.unwrap().unwrap();
        assert!(run.driven && run.status == RunStatus::Waiting, "{run:?}");
        drop(lock);
        assert!(!store.runs().get(&run_id(1)).await.unwrap().unwrap().driven);
        assert_eq!(store.runs().get(&run_id(100)).await.unwrap(), None);
    }

    async fn check_plan(filter: RunFilter, way: &str) {
        let (_folder, store) = open().await;
        let query = list_query(&filter, 50, 10).unwrap();
        let sql = query.sql();
        let plan = explain(&store, sql.as_str(), &["1"; 20][..sql.as_str().matches('?').count()]).await;
        assert!(plan.contains(way), "{plan}");
        for line in plan.lines() {
            assert!(!line.contains("TEMP B-TREE"), "{plan}");
            // The search index is a virtual table: its "scan" is a look-up in it.
            assert!(!line.contains("SCAN") || line.contains("VIRTUAL TABLE INDEX"), "{plan}");
        }
    }

    #[tokio::test]
    async fn lists_without_scanning_or_sorting() {
        let by_status = "SEARCH run USING INDEX run_status (status=? AND rowid<?)";
        check_plan(RunFilter::default(), "SEARCH run USING INTEGER PRIMARY KEY").await;
        check_plan(with_status(&[RunStatus::Pass]), by_status).await;
        check_plan(that_ended(StopReason::Error), by_status).await;
        check_plan(
            with_status(&[RunStatus::Pass, RunStatus::Fail, RunStatus::Waiting]),
            by_status,
        )
        .await;
        let mut filter = with_status(&[RunStatus::Pass]);
        filter.text = Some("sum".to_owned());
        check_plan(filter, "SCAN run_search VIRTUAL TABLE INDEX").await;
    }
}
