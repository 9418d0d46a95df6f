//! Lists of runs, over the `run` table and its search index.

use contract::found::Found;
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
    /// Only runs that asked this model, as `provider:model`.
    pub model: Option<String>,
    /// Only runs whose cost lies in this.
    pub cost: Option<CostRange>,
}

/// Amounts of money, in whatever currency a run's prices are. What is not known counts as nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CostRange {
    /// From this on.
    pub from: Option<f64>,
    /// Less than this.
    pub below: Option<f64>,
}

/// Some runs, and where the next ones begin.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    /// Newest first.
    pub runs: Vec<RunSummary>,
    /// What continues the list; none at its end.
    pub next: Option<String>,
    /// Where the wanted words stand in them, where that can be shown; nothing without words.
    pub found: Vec<Found>,
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
        let found = match filter.text.as_deref() {
            Some(text) => run_search::found(self.store.readers(), text, &rows).await?,
            None => Vec::new(),
        };
        let runs = rows.into_iter().map(|row| self.with_driver(row));
        Ok(RunPage {
            found,
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

    /// The models that runs asked, by their names.
    pub async fn models(&self) -> Result<Vec<String>, StoreError> {
        let mut models: Vec<String> = sqlx::query_scalar(MODELS).fetch_all(self.store.readers()).await?;
        models.sort();
        Ok(models)
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

/// Where the steps of `run.cost_band` begin, the first after nothing at all.
const BANDS: [f64; 5] = [f64::MIN_POSITIVE, 0.01, 0.1, 1.0, 10.0];

impl CostRange {
    /// The steps in which such a cost can lie.
    fn bands(&self) -> Vec<i64> {
        let (from, below) = (self.from.unwrap_or(f64::MIN), self.below.unwrap_or(f64::INFINITY));
        let mut begins = f64::MIN;
        let mut bands = Vec::new();
        for (band, ends) in (0..).zip(BANDS.into_iter().chain([f64::INFINITY])) {
            if from < ends && below > begins {
                bands.push(band);
            }
            begins = ends;
        }
        bands
    }
}

/// What leads a list: each is walked from its newest end, and several are merged as they are read. However deep the page,
/// only rows of what leads are looked at; the other wishes are looked at on the way.
enum Lead<'a> {
    /// The search index.
    Words(String),
    /// The runs that asked a model.
    Model(&'a str),
    /// Runs that cost about as much.
    Bands(Vec<i64>),
    /// Runs that stand alike.
    Statuses(&'a [String]),
    /// All of them.
    Nothing,
}

/// The wishes of a filter, as their columns have them.
struct Wishes<'a> {
    statuses: Vec<String>,
    ended: Option<String>,
    model: Option<&'a str>,
    cost: Option<CostRange>,
}

fn list_query(filter: &RunFilter, before: i64, limit: i64) -> Result<QueryBuilder<Sqlite>, StoreError> {
    // The reason is looked at among the runs that stand as it says.
    let implied = filter.ended.map(|ended| vec![ended.status()]);
    let statuses = implied.as_deref().or(filter.status.as_deref()).unwrap_or_default();
    let wishes = Wishes {
        statuses: statuses.iter().map(to_name).collect::<Result<_, _>>()?,
        ended: filter.ended.as_ref().map(to_name).transpose()?,
        model: filter.model.as_deref(),
        cost: filter.cost,
    };
    let lead = match (
        filter.text.as_deref().and_then(run_search::expression),
        wishes.model,
        wishes.cost,
    ) {
        (Some(words), ..) => Lead::Words(words),
        (None, Some(model), _) => Lead::Model(model),
        (None, None, Some(cost)) => Lead::Bands(cost.bands()),
        (None, None, None) if wishes.statuses.is_empty() => Lead::Nothing,
        (None, None, None) => Lead::Statuses(&wishes.statuses),
    };
    let mut query = QueryBuilder::<Sqlite>::new("");
    match &lead {
        Lead::Words(words) => {
            query.push("SELECT ").push(COLUMNS);
            query.push(" FROM run_search CROSS JOIN run ON run.id = run_search.rowid WHERE run_search MATCH ");
            query.push_bind(words.clone());
            query.push(" AND run_search.rowid < ").push_bind(before);
            wishes.push(&mut query, &lead);
            query.push(" ORDER BY run_search.rowid DESC");
        }
        Lead::Model(model) => {
            query.push("SELECT ").push(COLUMNS);
            query.push(" FROM run_model CROSS JOIN run ON run.id = run_model.run WHERE run_model.model = ");
            query
                .push("(SELECT id FROM name WHERE text = ")
                .push_bind((*model).to_owned());
            query.push(") AND run_model.run < ").push_bind(before);
            wishes.push(&mut query, &lead);
            query.push(" ORDER BY run_model.run DESC");
        }
        Lead::Nothing => {
            query.push("SELECT ").push(COLUMNS).push(" FROM run WHERE run.id < ");
            query.push_bind(before).push(" ORDER BY run.id DESC");
        }
        Lead::Bands(bands) => {
            for (number, band) in bands.iter().enumerate() {
                arm(&mut query, number, "run.cost_band").push_bind(*band);
                query.push(" AND run.id < ").push_bind(before);
                wishes.push(&mut query, &lead);
            }
            if bands.is_empty() {
                query.push("SELECT ").push(COLUMNS).push(" FROM run WHERE run.id < 0");
            }
            query.push(" ORDER BY id DESC");
        }
        Lead::Statuses(statuses) => {
            for (number, status) in statuses.iter().enumerate() {
                arm(&mut query, number, "run.status").push_bind(status.clone());
                query.push(" AND run.id < ").push_bind(before);
                wishes.push(&mut query, &lead);
            }
            query.push(" ORDER BY id DESC");
        }
    }
    query.push(" LIMIT ").push_bind(limit);
    Ok(query)
}

/// Begins the next arm of several: the runs with a value in a column that has an index.
fn arm<'q>(query: &'q mut QueryBuilder<Sqlite>, number: usize, column: &str) -> &'q mut QueryBuilder<Sqlite> {
    query.push(if number == 0 { "SELECT " } else { " UNION ALL SELECT " });
    query.push(COLUMNS).push(" FROM run WHERE ").push(column).push(" = ")
}

impl Wishes<'_> {
    /// What the lead has not looked at.
    fn push(&self, query: &mut QueryBuilder<Sqlite>, lead: &Lead<'_>) {
        if !self.statuses.is_empty() && !matches!(lead, Lead::Statuses(_)) {
            query.push(" AND run.status IN (");
            let mut names = query.separated(", ");
            for status in &self.statuses {
                names.push_bind(status.clone());
            }
            query.push(")");
        }
        if let Some(ended) = &self.ended {
            query.push(" AND run.stop_reason = ").push_bind(ended.clone());
        }
        if let Some(model) = self.model.filter(|_| !matches!(lead, Lead::Model(_))) {
            query.push(
                " AND EXISTS (SELECT 1 FROM run_model WHERE run_model.model = (SELECT id FROM name WHERE text = ",
            );
            query.push_bind(model.to_owned()).push(") AND run_model.run = run.id)");
        }
        if let Some(from) = self.cost.and_then(|cost| cost.from) {
            query.push(" AND run.cost >= ").push_bind(from);
        }
        if let Some(below) = self.cost.and_then(|cost| cost.below) {
            query.push(" AND run.cost < ").push_bind(below);
        }
    }
}

/// Each model by a look-up of the next one: the runs between are not looked at.
const MODELS: &str = "WITH RECURSIVE asked (model) AS (
        SELECT min(model) FROM run_model
        UNION ALL
        SELECT (SELECT min(next.model) FROM run_model AS next WHERE next.model > asked.model) FROM asked
        WHERE asked.model IS NOT NULL
    ) SELECT name.text FROM asked CROSS JOIN name ON name.id = asked.model";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{answered_by, append, asked, asks, explain, finished, open, paying, prices, run_id, started};

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

    /// Runs of two models that cost from 0.002 to 20, and one whose price is not known.
    async fn paid() -> (tempfile::TempDir, Store) {
        let (folder, store) = open().await;
        let runs = [
            ("Tiny", "a:large", 1),
            ("Cheap", "a:small", 5_000),
            ("Fair", "a:large", 200),
            ("Dear", "a:large", 10_000),
            ("Free", "c:local", 10_000),
        ];
        for (number, (title, model, tokens)) in (1..).zip(runs) {
            let entries = vec![
                paying(title, prices()),
                asks("call", model),
                answered_by("call", 0, tokens, None),
                finished(StopReason::Passed, "every sum is right"),
            ];
            append(&store, number, 1, entries).await.unwrap();
        }
        (folder, store)
    }

    async fn check_paid(filter: RunFilter, expected: &[&str]) {
        let (_folder, store) = paid().await;
        let mut titles = Vec::new();
        let mut cursor = None;
        loop {
            let page = store.runs().list(&filter, cursor.as_deref(), 1).await.unwrap();
            titles.extend(page.runs.into_iter().map(|run| run.title));
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(titles, expected, "{filter:?}");
    }

    fn that_cost(from: Option<f64>, below: Option<f64>) -> RunFilter {
        RunFilter {
            cost: Some(CostRange { from, below }),
            ..RunFilter::default()
        }
    }

    fn of_model(model: &str) -> RunFilter {
        RunFilter {
            model: Some(model.to_owned()),
            ..RunFilter::default()
        }
    }

    #[tokio::test]
    async fn lists_what_cost_so_much() {
        check_paid(that_cost(None, None), &["Free", "Dear", "Fair", "Cheap", "Tiny"]).await;
        check_paid(that_cost(Some(0.01), Some(1.0)), &["Fair", "Cheap"]).await;
        check_paid(that_cost(Some(0.06), Some(0.5)), &["Fair"]).await;
        check_paid(that_cost(Some(10.0), None), &["Dear"]).await;
        check_paid(that_cost(None, Some(0.01)), &["Free", "Tiny"]).await;
        check_paid(that_cost(Some(f64::MIN_POSITIVE), Some(0.01)), &["Tiny"]).await;
        check_paid(that_cost(Some(2.0), Some(1.0)), &[]).await;
        check_paid(that_cost(Some(f64::NAN), None), &[]).await;
    }

    #[tokio::test]
    async fn lists_what_asked_a_model() {
        check_paid(of_model("a:large"), &["Dear", "Fair", "Tiny"]).await;
        check_paid(of_model("c:local"), &["Free"]).await;
        check_paid(of_model("nobody:knows"), &[]).await;
        let mut filter = of_model("a:large");
        filter.cost = that_cost(Some(0.1), None).cost;
        check_paid(filter.clone(), &["Dear", "Fair"]).await;
        filter.text = Some("fair".to_owned());
        check_paid(filter.clone(), &["Fair"]).await;
        filter.status = Some(vec![RunStatus::Fail]);
        check_paid(filter, &[]).await;
    }

    #[tokio::test]
    async fn knows_the_models_that_were_asked() {
        let (_folder, store) = paid().await;
        assert_eq!(store.runs().models().await.unwrap(), ["a:large", "a:small", "c:local"]);
        store.delete_runs(&[run_id(5)]).await.unwrap();
        assert_eq!(store.runs().models().await.unwrap(), ["a:large", "a:small"]);
        let plan = explain(&store, MODELS, &[]).await;
        for line in plan.lines() {
            // The recursion's own queue has no index, and its length is the number of models.
            assert!(!line.contains("SCAN") || line.contains("SCAN asked"), "{plan}");
        }
        let (_folder, empty) = open().await;
        assert_eq!(empty.runs().models().await.unwrap(), Vec::<String>::new());
    }

    #[tokio::test]
    async fn finds_models_and_costs_without_scanning_or_sorting() {
        let by_model = "SEARCH run_model USING PRIMARY KEY (model=? AND run<?)";
        let by_cost = "SEARCH run USING INDEX run_cost (cost_band=? AND rowid<?)";
        check_plan(of_model("a:large"), by_model).await;
        check_plan(that_cost(Some(0.05), None), by_cost).await;
        check_plan(that_cost(None, Some(0.05)), by_cost).await;
        let mut filter = of_model("a:large");
        filter.cost = that_cost(Some(0.1), Some(5.0)).cost;
        filter.status = Some(vec![RunStatus::Pass, RunStatus::Fail]);
        check_plan(filter.clone(), by_model).await;
        filter.text = Some("sum".to_owned());
        check_plan(filter, "SCAN run_search VIRTUAL TABLE INDEX").await;
    }
}
