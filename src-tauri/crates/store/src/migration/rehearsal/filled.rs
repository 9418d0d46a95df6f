//! A filled store in an older format, and all that can be read from it once it is up to date.
//!
//! What is filled in is written in SQL of that format, which never changes: the store's own code only knows
//! the newest. A migration that adds a table gets rows here, under its version.

use std::path::Path;

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::RunId;
use contract::ports::journal::{Journal, NewEntry};
use contract::run::{RunSummary, StopReason};
use contract::value_ref::Artifact;
use sqlx::migrate::{Migration, Migrator};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::connection::writing;
use crate::content::{ContentFolder, FILE_LIMIT, digest_of, pack};
use crate::draft::Draft;
use crate::event;
use crate::migration::MIGRATOR;
use crate::open::{DATABASE, Store};
use crate::run_list::RunFilter;
use crate::task::{RecentTask, TaskSource};
use crate::testing::{
    answered, answered_by, asked, asks, attempted, cycle, finished, incompressible, paying, prices, run_id, started,
};

/// A folder whose store has had the first so many migrations, and something in each of their tables.
pub(super) async fn folder(migrations: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for count in 1..=migrations {
        let so_far: Vec<Migration> = MIGRATOR.iter().take(count).cloned().collect();
        let newest = so_far[count - 1].version;
        let mut connection = writing(&folder.path().join(DATABASE)).connect().await.unwrap();
        Migrator::with_migrations(so_far).run(&mut connection).await.unwrap();
        fill(&mut connection, newest, folder.path()).await;
        connection.close().await.unwrap();
    }
    folder
}

async fn fill(connection: &mut SqliteConnection, version: i64, folder: &Path) {
    match version {
        20261121120000 => fill_journal(connection, folder).await,
        20261121120100 => fill_tasks(connection).await,
        20261121120200 => fill_settings(connection).await,
        20261122020000 => fill_grants(connection).await,
        20261122030000 => fill_spending(connection).await,
        _ => {}
    }
}

/// What the runs are made of: one at its end, one that waits, one in the middle, one that pays.
fn runs() -> Vec<(&'static str, &'static str, Vec<NewEntry>)> {
    let long = |last: Vec<NewEntry>| {
        let mut entries = vec![started("Expenses of Zoë")];
        entries.extend((1..=3).flat_map(|number| [cycle(number), asked(), answered(), attempted(u64::from(number))]));
        entries.extend(last);
        entries
    };
    let mut all = vec![
        (
            "pass",
            "passed",
            long(vec![finished(StopReason::Passed, "two flights match")]),
        ),
        ("waiting", "", long(vec![asked()])),
        ("running", "", long(Vec::new())),
    ];
    for (number, (_, _, entries)) in all.iter_mut().enumerate() {
        for (place, entry) in entries.iter_mut().enumerate() {
            // Keys of every form that migrations have divided differently.
            let key = match place % 4 {
                0 => format!("cycle/{number}/entry/{place}:started"),
                1 => format!("cycle/{number}/step/{place}#0/call/0:started"),
                2 => format!("cycle/{number}/step/{place}#12/phase/{place}#0/call/0"),
                _ => format!("cycle/{number}/entry/{place}#0"),
            };
            entry.key = contract::ids::Key::new(key);
        }
    }
    let leaf = "cycle/4/plan#0";
    let mut pays = vec![
        paying("Expenses of Zoë", prices()),
        asks(leaf, "a:large"),
        answered_by(leaf, 0, 999, None),
    ];
    pays[0].key = contract::ids::Key::new("run:started");
    all.push(("running", "", pays));
    for (_, _, entries) in &mut all {
        for (place, entry) in entries.iter_mut().enumerate() {
            entry.at_ms = 1_790_000_000_000 + place as i64;
        }
    }
    all
}

/// Small, packed, and large enough for a file.
fn artifacts() -> [Artifact; 3] {
    [
        b"short".to_vec(),
        b"again and again ".repeat(200),
        incompressible(FILE_LIMIT + 1),
    ]
    .map(|bytes| Artifact::new("tool-output", bytes))
}

async fn fill_journal(connection: &mut SqliteConnection, folder: &Path) {
    for (number, (status, stop_reason, entries)) in runs().into_iter().enumerate() {
        let id = number as i64 + 1;
        let last = &entries[entries.len() - 1];
        sqlx::query(
            "INSERT INTO run (id, run_id, last_seq, title, folder, recorded, status, stop_reason, waiting, cycles,
                tokens_used, started_at_ms, updated_at_ms, ended_at_ms)
            VALUES (?, ?, ?, 'Expenses of Zoë', '/home/zoë/expenses', 1, ?, nullif(?, ''), ?, 3, 9, ?, ?, ?)",
        )
        .bind(id)
        .bind(run_id(number as u32).as_str().to_owned())
        .bind(entries.len() as i64)
        .bind(status)
        .bind(stop_reason)
        .bind(status == "waiting")
        .bind(entries[0].at_ms)
        .bind(last.at_ms)
        .bind((status == "pass").then_some(last.at_ms))
        .execute(&mut *connection)
        .await
        .unwrap();
        for (place, entry) in entries.iter().enumerate() {
            sqlx::query("INSERT INTO event (run, seq, at_ms, key, kind, payload) VALUES (?, ?, ?, ?, ?, ?)")
                .bind(id)
                .bind(place as i64 + 1)
                .bind(entry.at_ms)
                .bind(entry.key.as_str())
                .bind(event::kind(&entry.event))
                .bind(serde_json::to_string(&*entry.event).unwrap())
                .execute(&mut *connection)
                .await
                .unwrap();
        }
        let feedback = if status == "pass" { "two flights match" } else { "" };
        sqlx::query("INSERT INTO run_search (rowid, title, goal, feedback) VALUES (?, ?, ?, ?)")
            .bind(id)
            .bind("Expenses of Zoë")
            .bind("The goal of everything")
            .bind(feedback)
            .execute(&mut *connection)
            .await
            .unwrap();
    }
    let content = ContentFolder::new(folder.join("content"));
    for (place, artifact) in artifacts().into_iter().enumerate() {
        let digest = digest_of(&artifact.hash).unwrap();
        let size = artifact.bytes.len() as i64;
        let (encoding, stored) = pack(&artifact.bytes);
        let is_file = stored.len() > FILE_LIMIT;
        if is_file {
            content.put(&digest, &stored).unwrap();
        }
        sqlx::query("INSERT INTO artifact (id, hash, size, encoding, content) VALUES (?, ?, ?, ?, ?)")
            .bind(place as i64 + 1)
            .bind(digest.as_slice())
            .bind(size)
            .bind(encoding.number())
            .bind((!is_file).then_some(stored.into_owned()))
            .execute(&mut *connection)
            .await
            .unwrap();
        sqlx::query("INSERT INTO artifact_ref (run, artifact, kind) VALUES (1, ?, 'tool-output')")
            .bind(place as i64 + 1)
            .execute(&mut *connection)
            .await
            .unwrap();
    }
}

async fn fill_tasks(connection: &mut SqliteConnection) {
    sqlx::raw_sql(
        "INSERT INTO task (id, title, path, updated_at_ms) VALUES (1, 'Sums', NULL, 5), (2, 'Zoë', '/a.yaml', 9);
        INSERT INTO task_version (id, task, number, source, saved_at_ms)
        VALUES (1, 1, 1, 'goal: add', 4), (2, 1, 2, 'goal: add up', 5), (3, 2, 1, 'goal: ''x''', 9);",
    )
    .execute(connection)
    .await
    .unwrap();
}

async fn fill_settings(connection: &mut SqliteConnection) {
    sqlx::raw_sql(
        "INSERT INTO setting (key, value) VALUES ('theme', '\"dark\"'), ('roles', '{\"planner\":null}');
        INSERT INTO draft (name, text, updated_at_ms) VALUES ('compose', 'goal: half a tho', 7);",
    )
    .execute(connection)
    .await
    .unwrap();
}

async fn fill_grants(connection: &mut SqliteConnection) {
    sqlx::raw_sql(
        r#"INSERT INTO task_grant (id, task, title, folder, access, granted_at_ms)
        VALUES (1, 'a1', 'Sums', '/home/zoë', '{"kind":"execute","command":"ls"}', 6);"#,
    )
    .execute(connection)
    .await
    .unwrap();
}

async fn fill_spending(connection: &mut SqliteConnection) {
    sqlx::raw_sql(
        r#"UPDATE run SET worked_ms = CASE id WHEN 3 THEN 9 ELSE 10 END, projection = 1;
        UPDATE run SET recorded = 0, cycles = 0, tokens_used = 1000, cost = 1.998, currency = 'EUR', worked_ms = 2, leaves = 1,
            models = '[{"model":"a:large","tokens":1000,"cost":1.998,"timeMs":5}]' WHERE id = 4;
        INSERT INTO name (text) VALUES ('a:large');
        INSERT INTO run_model (model, run) SELECT id, 4 FROM name WHERE text = 'a:large';"#,
    )
    .execute(connection)
    .await
    .unwrap();
}

/// All that the store gives out.
#[derive(Debug, PartialEq)]
pub(super) struct Everything {
    runs: Vec<RunSummary>,
    models: Vec<String>,
    found: Vec<RunId>,
    entries: Vec<Vec<RunEventRecord>>,
    artifacts: Vec<Option<Vec<u8>>>,
    tasks: Vec<RecentTask>,
    sources: Vec<TaskSource>,
    theme: Option<serde_json::Value>,
    draft: Option<Draft>,
}

impl Everything {
    /// Opens the store with all migrations, checks it, and reads it all.
    pub(super) async fn of(folder: &Path) -> Result<Self, String> {
        let store = Store::open(folder).await.map_err(|error| error.to_string())?;
        let read = Self::read(&store).await;
        store.close().await.map_err(|error| error.to_string())?;
        read
    }

    async fn read(store: &Store) -> Result<Self, String> {
        check(store).await?;
        let words = |error: contract::ports::journal::JournalError| error.to_string();
        let all = |text: Option<&str>| RunFilter {
            text: text.map(str::to_owned),
            ..RunFilter::default()
        };
        let list = async |filter| {
            store
                .runs()
                .list(&filter, None, 100)
                .await
                .map_err(|error| error.to_string())
        };
        let runs = list(all(None)).await?.runs;
        let found = list(all(Some("flights zoe"))).await?.runs;
        let mut entries = Vec::new();
        for run in &runs {
            entries.push(store.read(&run.run_id, 1, 1_000).await.map_err(words)?);
        }
        let mut contents = Vec::new();
        for artifact in artifacts() {
            contents.push(store.artifact(&artifact.hash).await.map_err(words)?);
        }
        let tasks = store.tasks().recent(100).await.map_err(|error| error.to_string())?;
        let mut sources = Vec::new();
        for version in 1..=3 {
            let source = store.tasks().open_version(crate::task::TaskVersionId(version)).await;
            sources.extend(source.map_err(|error| error.to_string())?);
        }
        Ok(Self {
            models: store.runs().models().await.map_err(|error| error.to_string())?,
            found: found.into_iter().map(|run| run.run_id).collect(),
            runs,
            entries,
            artifacts: contents,
            tasks,
            sources,
            theme: store.settings().get("theme").await.map_err(|error| error.to_string())?,
            draft: store.drafts().get("compose").await.map_err(|error| error.to_string())?,
        })
    }

    /// Compares with what was written in, not with what another open made of it.
    pub(super) fn holds_what_was_filled_in(&self, migrations: usize) {
        let is_in = |place: usize| migrations > place;
        let mut runs = if is_in(0) { runs() } else { Vec::new() };
        runs.reverse();
        assert_eq!(self.entries.len(), runs.len());
        for (found, (_, _, written)) in self.entries.iter().zip(&runs) {
            let plain = |at_ms, key: &contract::ids::Key, event| (at_ms, key.clone(), event);
            let found: Vec<_> = found
                .iter()
                .map(|record| plain(record.at_ms, &record.key, record.event.clone()))
                .collect();
            let written: Vec<_> = written
                .iter()
                .map(|entry| plain(entry.at_ms, &entry.key, RunEvent::clone(&entry.event)))
                .collect();
            assert_eq!(found, written);
        }
        let contents: Vec<_> = artifacts()
            .map(|artifact| is_in(0).then(|| artifact.bytes.to_vec()))
            .into();
        assert!(self.artifacts == contents, "an artifact is not what was written");
        let count = |place, count| if is_in(place) { count } else { 0 };
        assert_eq!(self.found.len(), count(0, 1));
        assert_eq!((self.tasks.len(), self.sources.len()), (count(1, 2), count(1, 3)));
        assert_eq!(self.models.len(), count(6, 1));
        assert_eq!(self.theme, is_in(2).then(|| "dark".into()));
        assert_eq!(self.draft.is_some(), is_in(2));
    }
}

/// What SQLite and the search index say about themselves.
async fn check(store: &Store) -> Result<(), String> {
    let checked = store
        .writer()
        .write(contract::ports::journal::Durability::Commit, |connection| {
            Box::pin(async move {
                let findings: Vec<String> = sqlx::query_scalar("PRAGMA integrity_check")
                    .fetch_all(&mut *connection)
                    .await?;
                let strangers = sqlx::query("PRAGMA foreign_key_check")
                    .fetch_all(&mut *connection)
                    .await?;
                sqlx::query("INSERT INTO run_search (run_search) VALUES ('integrity-check')")
                    .execute(connection)
                    .await?;
                Ok((findings, strangers.len()))
            })
        });
    match checked.await {
        Ok((findings, 0)) if findings == ["ok"] => Ok(()),
        Ok((findings, strangers)) => Err(format!("{findings:?}, {strangers} rows without what they refer to")),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn what_is_filled_in_is_what_the_store_would_have_written() {
    let folder = folder(MIGRATOR.iter().count()).await;
    let store = Store::open(folder.path()).await.unwrap();
    let kept = Everything::read(&store).await.unwrap();
    store.rebuild_runs().await.unwrap();
    assert_eq!(Everything::read(&store).await.unwrap(), kept);
}
