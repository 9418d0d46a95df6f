//! A process that is killed in the middle of its work: everything it was told is written is there, the
//! run is nobody's, and the next one continues.
//!
//! The victim is this same test, started again with a folder in its environment.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use contract::event::{RunEvent, RunEventRecord};
use contract::ids::{Key, RunId};
use contract::ports::journal::{Durability, Journal, NewEntry};
use contract::value_ref::Artifact;
use store::Store;

const FOLDER: &str = "STORE_TEST_FOLDER";

fn run() -> RunId {
    RunId::new("0193ab00-0000-7000-8000-000000000001")
}

/// Appends until it is killed, and says each time how far it has been told it is.
async fn append_for_ever(folder: &Path) {
    let store = Store::open(folder).await.unwrap();
    let _lock = store.lock_run(&run()).unwrap().unwrap();
    let written = read(&store).await.len() as u64;
    for seq in written + 1.. {
        let key = Key::new(format!("cycle/{seq}"));
        let entry = NewEntry::new(key, 1_000, RunEvent::CycleStarted { cycle: 1 });
        let durability = match seq % 3 {
            0 => Durability::Barrier,
            _ => Durability::Commit,
        };
        let artifact = Artifact::new("tool-output", seq.to_string().into_bytes());
        store
            .append(&run(), seq, vec![entry], vec![artifact], durability)
            .await
            .unwrap();
        println!("written {seq}");
    }
}

async fn read(store: &Store) -> Vec<RunEventRecord> {
    store.read(&run(), 1, u32::MAX).await.unwrap_or_default()
}

/// Kills a process once it was told that so many entries are written; returns how many it knew of.
fn kill_after(folder: &Path, entries: u64) -> u64 {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["keeps_everything_that_was_acknowledged", "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let mut numbers = lines.map_while(Result::ok).filter_map(|line| {
        let (_, number) = line.split_once("written ")?;
        number.trim().parse().ok()
    });
    let reached = numbers.by_ref().find(|number: &u64| *number >= entries);
    victim.kill().unwrap();
    victim.wait().unwrap();
    // What it said between the last line that was read and its end counts too.
    numbers.last().or(reached).unwrap()
}

#[tokio::test]
async fn keeps_everything_that_was_acknowledged() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return append_for_ever(Path::new(&folder)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    for entries in [1, 30, 31, 77, 150] {
        let acknowledged = kill_after(folder.path(), entries);
        let store = Store::open(folder.path()).await.unwrap();
        let records = read(&store).await;
        assert!(
            records.len() as u64 >= acknowledged,
            "{} of {acknowledged}",
            records.len()
        );
        for record in &records {
            let content = record.seq.to_string().into_bytes();
            let artifact = Artifact::new("tool-output", content.clone());
            assert_eq!(store.artifact(&artifact.hash).await.unwrap(), Some(content));
        }
        let summary = store.runs().get(&run()).await.unwrap().unwrap();
        assert_eq!(summary.cycles as usize, records.len());
        assert!(!summary.driven);
        store.close().await.unwrap();
    }
}
