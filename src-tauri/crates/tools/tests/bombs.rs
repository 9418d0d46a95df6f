//! R10: texts that are made to use up memory and time (quality page), through the tools that read them in the app itself.
//! Each must end in a value or an error in words, within 256 MB and 5 seconds of work.
//!
//! Deliberately not here: office files, PDF and images; they are read in a process of their own (`documents`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::Write;
use std::sync::Arc;

use contract::ports::tool::{ToolContext, ToolError};
use indexmap::IndexMap;
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use tempfile::TempDir;
use workspace::Folder;

/// What one text may take, in MB and seconds.
const MEMORY: u64 = 256;
const SECONDS: f64 = 5.0;

/// The most memory that this process took so far, in MB, and the time that it worked, in seconds.
fn used() -> (u64, f64) {
    let usage = getrusage(UsageWho::RUSAGE_SELF).unwrap();
    let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
    (
        u64::try_from(usage.max_rss()).unwrap() / 1024,
        seconds(usage.user_time()) + seconds(usage.system_time()),
    )
}

async fn run(folder: &TempDir, name: &str, args: Value) -> Result<Value, ToolError> {
    let tools = tools::all();
    let tool = tools.iter().find(|tool| tool.info().name == name).unwrap();
    let context = ToolContext {
        files: Arc::new(Folder::open(folder.path()).unwrap()),
        scratchpad: Arc::new(IndexMap::new()),
        now_ms: 0,
        limit_ms: 30_000,
        granted: Arc::default(),
    };
    tool.execute(args, &context).await.map(|output| output.value)
}

fn aliases() -> String {
    let mut text = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n".to_owned();
    for level in 1..12 {
        let before = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{before}]\n"));
    }
    text
}

fn parse(input: impl Into<String>, format: &str) -> (&'static str, Value) {
    ("data_parse", json!({ "input": input.into(), "format": format }))
}

/// One test, since memory is counted for the whole process.
#[tokio::test]
async fn no_text_takes_more_than_256_mb_or_5_seconds() {
    let folder = tempfile::tempdir().unwrap();
    // Large on disk only in name.
    for name in ["huge.csv", "huge.xlsx", "huge.json"] {
        let mut file = File::create(folder.path().join(name)).unwrap();
        file.write_all(b"id,amount\n1,2\n").unwrap();
        file.set_len(100 * 1024 * 1024 * 1024).unwrap();
    }
    std::fs::write(folder.path().join("long.txt"), "a".repeat(20_000_000)).unwrap();
    let columns = vec!["c"; 500_000].join(",");
    let of_file = |path: &str, format: &str| {
        (
            "data_parse",
            json!({ "input": path, "format": format, "fromFile": true }),
        )
    };
    let query = |sql: &str| ("data_query", json!({ "files": { "t": "small.csv" }, "sql": sql }));
    std::fs::write(folder.path().join("small.csv"), "id,amount\n1,2\n").unwrap();
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let bombs: Vec<(&str, bool, (&str, Value))> = vec![
        ("YAML aliases of aliases", true, parse(aliases(), "yaml")),
        ("YAML that contains itself", true, parse("a: &a [*a]", "yaml")),
        ("YAML a million deep", true, parse("[".repeat(1_000_000), "yaml")),
        (
            "YAML with a million anchors",
            false,
            parse((0..300_000).map(|n| format!("- &a{n} x\n")).collect::<String>(), "yaml"),
        ),
        ("JSON a million deep", true, parse("[".repeat(1_000_000), "json")),
        (
            "JSON objects a million deep",
            true,
            parse("{\"a\":".repeat(1_000_000), "json"),
        ),
        (
            "a number of a million digits",
            false,
            parse("9".repeat(1_000_000), "json"),
        ),
        ("CSV of half a million columns", true, parse(columns, "csv")),
        (
            "CSV of a million rows",
            true,
            parse(format!("a,b\n\"{}", "x,\n".repeat(1_000_000)), "csv"),
        ),
        ("a CSV file of 100 GB", true, of_file("huge.csv", "csv")),
        ("a JSON file of 100 GB", true, of_file("huge.json", "json")),
        ("a workbook of 100 GB", true, of_file("huge.xlsx", "xlsx")),
        ("a text of 100 GB", false, ("file_read", json!({ "path": "huge.csv" }))),
        (
            "a query without an end",
            true,
            query(&format!("{endless} SELECT COUNT(*) FROM n")),
        ),
        (
            "a query for more text than there is room",
            true,
            query(&format!("{endless} SELECT group_concat(zeroblob(1000000)) FROM n")),
        ),
        (
            "a pattern for file names with many stars",
            false,
            ("file_search", json!({ "pattern": format!("{}b", "*a".repeat(60)) })),
        ),
        (
            "a search in a line of 20 MB",
            false,
            ("file_search", json!({ "pattern": "*.txt", "content": "b" })),
        ),
    ];
    let count = bombs.len();
    let (mut refused, mut problems) = (0, Vec::new());
    for (name, must_fail, (tool, args)) in bombs {
        let before = used().1;
        let answer = run(&folder, tool, args).await;
        let (most, now) = used();
        refused += usize::from(answer.is_err());
        println!("  {name}: {:.2} s, {most} MB: {}", now - before, shown(&answer));
        if must_fail && answer.is_ok() {
            problems.push(format!("{name} was read"));
        }
        // A query may work for its five seconds, and needs a moment to stop.
        if now - before > SECONDS + 1.0 {
            problems.push(format!("{name} worked for {:.1} s", now - before));
        }
        if most > MEMORY {
            problems.push(format!("{name} took {most} MB"));
        }
    }
    println!(
        "R10 texts: {count} tried, {refused} refused in words, most memory {} MB",
        used().0
    );
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    // The mutant: the same aliases without a bound on what they mean are noticed.
    let before = used().1;
    let mut unbounded = serde_saphyr::options! { strict_booleans: true, budget: None };
    unbounded.alias_limits.max_total_replayed_events = usize::MAX;
    unbounded.alias_limits.max_replay_stack_depth = usize::MAX;
    let small: String = aliases().lines().take(7).map(|line| format!("{line}\n")).collect();
    let read: Result<Value, _> = serde_saphyr::from_str_with_options(&small, unbounded);
    drop(read);
    let (most, now) = used();
    println!(
        "mutant R10 texts without a bound on aliases: {most} MB in {:.1} s",
        now - before
    );
    assert!(
        most > MEMORY || now - before > SECONDS,
        "it would not be noticed: {most} MB"
    );
}

fn shown(answer: &Result<Value, ToolError>) -> String {
    let words = match answer {
        Ok(value) => format!("read, {} bytes", value.to_string().len()),
        Err(error) => error.message.clone(),
    };
    words.chars().take(100).collect()
}
