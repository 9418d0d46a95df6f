//! The floor: the same questions with nothing around them but a runtime, an HTTP client and SQLite. An event row and an
//! artifact row for every step, one commit for all that wait, `synchronous = FULL`.
//!
//! It knows no runs, resumes nothing and reads nothing back. No engine can be below it that keeps every step.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use benches::Failed;
use clap::Parser;
use futures::future::join_all;
use reqwest::Client;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::sync::{mpsc, oneshot};

/// How many steps share a commit at most.
const BATCH: usize = 256;

#[derive(Debug, Parser)]
struct Arguments {
    #[arg(long)]
    workload: String,
    #[arg(long)]
    width: Option<u32>,
    #[arg(long)]
    model_url: String,
    #[arg(long)]
    db: PathBuf,
    /// Ask, and keep nothing.
    #[arg(long)]
    no_store: bool,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match carry_out(Arguments::parse()).await {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(1)
        }
    }
}

async fn carry_out(arguments: Arguments) -> Result<Value, Failed> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder().no_proxy().build();
    let mut floor = Floor {
        client: client.map_err(|error| Failed::at("the client", error))?,
        url: format!("{}/v1/chat/completions", arguments.model_url),
        store: None,
    };
    if !arguments.no_store {
        floor.store = Some(Store::open(&arguments.db)?);
    }
    let empty = bytes(&arguments.db);
    let started = Instant::now();
    let steps = match arguments.workload.as_str() {
        "A" => floor.chain(0, 100).await?,
        "B" => floor.join(arguments.width.unwrap_or(64)).await?,
        "C" => floor.chain(0, 40).await?,
        "D" => floor.chain(0, 1_000).await?,
        "E" => {
            let runs = join_all((0..50).map(|run| floor.chain(run, 20))).await;
            runs.into_iter().collect::<Result<Vec<_>, _>>()?.iter().sum()
        }
        "K" => floor.chain(0, 30).await?,
        other => return Err(Failed(format!("there is no workload {other}"))),
    };
    let wall_ms = started.elapsed().as_secs_f64() * 1000.0;
    if let Some(store) = floor.store {
        store.close()?;
    }
    Ok(json!({
        "wl": arguments.workload,
        "wall_ms": wall_ms,
        "steps": steps,
        "ms_step": wall_ms / f64::from(steps),
        "rss_kb": peak_kb(),
        "db_b_step": bytes(&arguments.db).saturating_sub(empty) / u64::from(steps),
    }))
}

struct Floor {
    client: Client,
    url: String,
    store: Option<Store>,
}

impl Floor {
    async fn chain(&self, run: u32, steps: u32) -> Result<u32, Failed> {
        let mut told = "Begin.".to_owned();
        for step in 0..steps {
            told = self.step(run, step, told).await?;
        }
        Ok(steps)
    }

    async fn join(&self, steps: u32) -> Result<u32, Failed> {
        let replies = join_all((0..steps).map(|step| self.step(0, step, "Begin.".to_owned()))).await;
        let replies = replies.into_iter().collect::<Result<Vec<_>, _>>()?;
        self.step(0, steps, replies.join("\n")).await?;
        Ok(steps + 1)
    }

    async fn step(&self, run: u32, step: u32, told: String) -> Result<String, Failed> {
        let failed = |error: reqwest::Error| Failed::at("asking", error);
        let body = json!({ "model": "bench", "messages": [{ "role": "user", "content": told }] });
        let sent = self
            .client
            .post(&self.url)
            .header("x-step", format!("s{step}"))
            .json(&body);
        let answer: Value = sent.send().await.map_err(failed)?.json().await.map_err(failed)?;
        let reply = answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        if let Some(store) = &self.store {
            store.keep(run, step, &reply).await?;
        }
        Ok(reply)
    }
}

/// A row of each table, and who waits for the commit.
struct Row {
    run: u32,
    step: u32,
    hash: [u8; 32],
    content: String,
    done: oneshot::Sender<()>,
}

struct Store {
    rows: mpsc::Sender<Row>,
    thread: std::thread::JoinHandle<Result<(), rusqlite::Error>>,
}

impl Store {
    fn open(db: &Path) -> Result<Self, Failed> {
        let open = || -> Result<Connection, rusqlite::Error> {
            let connection = Connection::open(db)?;
            connection.execute_batch(
                "PRAGMA journal_mode = WAL;
                PRAGMA synchronous = FULL;
                CREATE TABLE event (run INTEGER, seq INTEGER, payload TEXT, PRIMARY KEY (run, seq)) WITHOUT ROWID;
                CREATE TABLE artifact (hash BLOB PRIMARY KEY, content TEXT);",
            )?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(connection)
        };
        let connection = open().map_err(|error| Failed::at("the floor's database", error))?;
        let (rows, waiting) = mpsc::channel(1024);
        let thread = std::thread::spawn(move || write(connection, waiting));
        Ok(Self { rows, thread })
    }

    async fn keep(&self, run: u32, step: u32, reply: &str) -> Result<(), Failed> {
        let (done, kept) = oneshot::channel();
        let row = Row {
            run,
            step,
            hash: Sha256::digest(reply.as_bytes()).into(),
            content: reply.to_owned(),
            done,
        };
        let gone = |_| Failed("the floor's database failed".to_owned());
        self.rows
            .send(row)
            .await
            .map_err(|_| Failed("the floor's database failed".to_owned()))?;
        kept.await.map_err(gone)
    }

    fn close(self) -> Result<(), Failed> {
        drop(self.rows);
        match self.thread.join() {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Err(Failed::at("the floor's database", error)),
            Err(_) => Err(Failed("the floor's thread broke down".to_owned())),
        }
    }
}

fn write(connection: Connection, mut waiting: mpsc::Receiver<Row>) -> Result<(), rusqlite::Error> {
    let mut rows = Vec::new();
    while waiting.blocking_recv_many(&mut rows, BATCH) > 0 {
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for row in &rows {
            let payload = json!({ "type": "stepFinished", "step": row.step, "hash": hex(&row.hash) }).to_string();
            connection
                .prepare_cached("INSERT INTO event (run, seq, payload) VALUES (?, ?, ?)")?
                .execute(params![row.run, row.step, payload])?;
            connection
                .prepare_cached("INSERT INTO artifact (hash, content) VALUES (?, ?) ON CONFLICT DO NOTHING")?
                .execute(params![row.hash.as_slice(), row.content])?;
        }
        connection.prepare_cached("COMMIT")?.execute([])?;
        for row in rows.drain(..) {
            let _ = row.done.send(());
        }
    }
    connection.close().map_err(|(_, error)| error)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(db: &Path) -> u64 {
    std::fs::metadata(db).map_or(0, |metadata| metadata.len())
}

fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
