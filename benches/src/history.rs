//! P7: a history of many runs, beside the same rows read with nothing in between.
//!
//! One run is made by the program itself; the others are its rows again, under ids of their own, as many as the history is
//! to have. What is asked is what the window asks: a page of the list from its beginning and from deep inside, by status,
//! by how it ended, by words; and a run of a thousand entries from its first entry to its state.

use std::path::Path;
use std::time::{Duration, Instant};

use contract::ids::RunId;
use contract::ports::journal::Journal;
use contract::run::{RunStatus, StopReason};
use contract::run_state::RunState;
use rusqlite::{Connection, params};
use store::{RunFilter, Store};

use crate::Failed;
use crate::engines::{Engine, Programs};
use crate::figures::Figure;
use crate::report::{Must, Row};
use crate::server::{Server, prose, same};

/// How many entries each run has, the opened one apart.
const ENTRIES: u32 = 100;
/// How many entries the opened run has.
const OPENED: u32 = 1_000;
/// How often each is asked for one figure, which is the one that 95 of 100 stay under.
const ASKED: usize = 40;
/// How many rows a page has.
const PAGE: u32 = 50;

/// Milliseconds of what the window asks of a history with so many runs.
pub async fn measure(programs: &Programs, history: u32, runs: usize) -> Result<Vec<Row>, Failed> {
    let folder = tempfile::tempdir().map_err(|error| Failed::at("a folder for the history", error))?;
    let store = Store::open(folder.path())
        .await
        .map_err(|error| Failed::at("the history", error))?;
    let database = database_in(folder.path())?;
    store.close().await.map_err(|error| Failed::at("the history", error))?;
    let opened = one_run(programs, &database).await?;
    let entries = fill(&database, history).map_err(|error| Failed::at("the rows of the history", error))?;
    println!("P7   {history} runs, {entries} entries");
    let store = Store::open(folder.path())
        .await
        .map_err(|error| Failed::at("the history", error))?;
    let plain = Connection::open(&database).map_err(|error| Failed::at("the history", error))?;
    let mut rows = Vec::new();
    for (what, filter, deep, most) in asked() {
        let cursor = deep.then(|| (history / 2).to_string());
        let mut figures = Vec::new();
        for _ in 0..runs {
            figures.push(
                slowest_but_five(&mut Vec::with_capacity(ASKED), async || {
                    let page = store.runs().list(&filter, cursor.as_deref(), PAGE).await;
                    page.map(|page| page.runs.len())
                        .map_err(|error| Failed::at(what, error))
                })
                .await?,
            );
        }
        rows.push(Row::must("P7", what, Figure::of(figures), "ms", Must::AtMost(most)));
    }
    let mut figures = Vec::new();
    for _ in 0..runs {
        figures.push(
            slowest_but_five(&mut Vec::with_capacity(ASKED), async || {
                let events = store
                    .read(&opened, 1, OPENED)
                    .await
                    .map_err(|error| Failed::at("a run", error))?;
                match events.len() == OPENED as usize {
                    true => Ok(RunState::of(&events).cycles.len()),
                    false => Err(Failed(format!("the run that is opened has {} entries", events.len()))),
                }
            })
            .await?,
        );
    }
    rows.push(Row::must(
        "P7",
        "a run of 1,000 entries, opened",
        Figure::of(figures),
        "ms",
        Must::AtMost(10.0),
    ));
    rows.push(beside(&plain, history, runs)?);
    store.close().await.map_err(|error| Failed::at("the history", error))?;
    Ok(rows)
}

/// What is asked of the list: its name, the filter, whether from deep inside, and what it may take.
fn asked() -> Vec<(&'static str, RunFilter, bool, f64)> {
    let words = |text: &str| RunFilter {
        text: Some(text.to_owned()),
        ..RunFilter::default()
    };
    let status = |status| RunFilter {
        status: Some(vec![status]),
        ..RunFilter::default()
    };
    let ended = RunFilter {
        ended: Some(StopReason::Rejected),
        ..RunFilter::default()
    };
    vec![
        ("a page of the list", RunFilter::default(), false, 5.0),
        ("a page from the middle", RunFilter::default(), true, 5.0),
        ("a page of those that failed", status(RunStatus::Fail), false, 5.0),
        ("the same from the middle", status(RunStatus::Fail), true, 5.0),
        ("a page of those that ended in a rare way", ended, false, 5.0),
        ("a word that all runs have", words("report"), false, 30.0),
        ("a word that few have", words("word77"), false, 30.0),
        ("two words that few have together", words("report word77"), false, 30.0),
        ("the two letters with which all begin", words("re"), false, 30.0),
        ("a word that none has", words("zebra"), false, 30.0),
    ]
}

/// The time in milliseconds that 95 of 100 questions stay under.
async fn slowest_but_five(times: &mut Vec<f64>, ask: impl AsyncFn() -> Result<usize, Failed>) -> Result<f64, Failed> {
    for _ in 0..ASKED {
        let begun = Instant::now();
        ask().await?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
    }
    times.sort_by(f64::total_cmp);
    Ok(times.get(times.len() * 95 / 100).copied().unwrap_or_default())
}

/// The rows of a page with nothing in between.
fn beside(plain: &Connection, history: u32, runs: usize) -> Result<Row, Failed> {
    let failed = |error: rusqlite::Error| Failed::at("the rows themselves", error);
    let mut figures = Vec::new();
    for _ in 0..runs {
        let mut times = Vec::new();
        for _ in 0..ASKED {
            let begun = Instant::now();
            let mut statement = plain
                .prepare_cached("SELECT * FROM run WHERE id < ? ORDER BY id DESC LIMIT ?")
                .map_err(failed)?;
            let mut rows = statement.query(params![history / 2, PAGE]).map_err(failed)?;
            let mut read = 0;
            while let Some(row) = rows.next().map_err(failed)? {
                read += row.get_ref(3).map_err(failed)?.as_str().map_or(0, str::len);
            }
            std::hint::black_box(read);
            times.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
        times.sort_by(f64::total_cmp);
        figures.push(times.get(times.len() * 95 / 100).copied().unwrap_or_default());
    }
    Ok(Row::beside(
        "P7",
        "the rows of a page, by SQL alone",
        Figure::of(figures),
        "ms",
    ))
}

fn database_in(folder: &Path) -> Result<std::path::PathBuf, Failed> {
    let failed = |error: std::io::Error| Failed::at("the folder of the history", error);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ending| ending == "db") {
            return Ok(path);
        }
    }
    Err(Failed("the history has no database".to_owned()))
}

/// A run of a chain of a thousand steps, made by the program.
async fn one_run(programs: &Programs, database: &Path) -> Result<RunId, Failed> {
    let server = Server::start(Duration::ZERO, same(prose(1, 200))).await?;
    let mut command = programs.command(Engine::Tepa, "D", None, &server.url, database);
    let done = command.output().await.map_err(|error| Failed::at("tepa", error))?;
    if !done.status.success() {
        return Err(Failed(format!("tepa bench: {}", String::from_utf8_lossy(&done.stdout))));
    }
    let plain = Connection::open(database).map_err(|error| Failed::at("the history", error))?;
    let id: String = plain
        .query_row("SELECT run_id FROM run ORDER BY id LIMIT 1", [], |row| row.get(0))
        .map_err(|error| Failed::at("the run that is opened", error))?;
    Ok(RunId::new(id))
}

/// The first entries of that run again, under so many ids; the number of entries that there are then. One of a hundred
/// runs failed, one of two thousand was rejected.
fn fill(database: &Path, history: u32) -> rusqlite::Result<i64> {
    let plain = Connection::open(database)?;
    plain.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;")?;
    let mut columns = plain.prepare("SELECT name FROM pragma_table_info('run')")?;
    let columns: Vec<String> = columns.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let others = |of: &dyn Fn(&str) -> String| columns.iter().map(|name| of(name)).collect::<Vec<_>>().join(", ");
    let values = others(&|name| match name {
        "id" => "run.id + n.i".to_owned(),
        "run_id" => "printf('00000000-0000-7000-8000-%012d', n.i)".to_owned(),
        "last_seq" => ENTRIES.to_string(),
        "title" => "printf('Report %d about word%d', n.i, n.i % 1000)".to_owned(),
        "status" => "CASE WHEN n.i % 2000 = 7 THEN 'fail' WHEN n.i % 100 = 7 THEN 'fail' ELSE 'pass' END".to_owned(),
        "stop_reason" => {
            "CASE WHEN n.i % 2000 = 7 THEN 'rejected' WHEN n.i % 100 = 7 THEN 'max_cycles' ELSE 'passed' END".to_owned()
        }
        other => format!("run.{other}"),
    });
    let names = others(&|name| name.to_owned());
    let numbers = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1) ";
    let first: i64 = plain.query_row("SELECT min(id) FROM run", [], |row| row.get(0))?;
    plain.execute_batch("BEGIN")?;
    plain.execute(
        &format!("{numbers}INSERT INTO run ({names}) SELECT {values} FROM n, run WHERE run.id = ?2"),
        params![history, first],
    )?;
    plain.execute(
        &format!(
            "{numbers}INSERT INTO event (run, seq, at_ms, address, mark, kind, payload) SELECT ?2 + n.i, seq, at_ms, address, mark, \
             kind, payload FROM n CROSS JOIN event WHERE event.run = ?2 AND event.seq <= ?3"
        ),
        params![history, first, ENTRIES],
    )?;
    plain.execute(
        &format!(
            "{numbers}INSERT INTO run_search (rowid, title, goal, feedback) SELECT ?2 + n.i, printf('Report %d about word%d', \
             n.i, n.i % 1000), 'Add up what was spent in this month and write a report of it', 'All sums are right' FROM n"
        ),
        params![history, first],
    )?;
    plain.execute_batch("COMMIT; PRAGMA wal_checkpoint(TRUNCATE); ANALYZE;")?;
    plain.query_row("SELECT count(*) FROM event", [], |row| row.get(0))
}
