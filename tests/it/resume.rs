//! Killed at every commit of the sample in turn, the run goes on when the app is started again,
//! repeats nothing that was finished, and comes to the same end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

use contract::Key;
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::Journal;
use engine::kernel::final_hash::finished;
use store::{RunFilter, Store};

const BINARY: &str = env!("CARGO_BIN_EXE_crash_run");

struct Place {
    _folder: tempfile::TempDir,
    data: PathBuf,
    work: PathBuf,
    log: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [data, work, log] = ["data", "work", "log"].map(|name| folder.path().join(name));
        std::fs::create_dir(&work).unwrap();
        Self {
            _folder: folder,
            data,
            work,
            log,
        }
    }

    fn command(&self, how: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args([&self.data, &self.work, &self.log])
            .args(how)
            .stdin(Stdio::null());
        command
    }

    /// Runs the sample and returns what it did, beside how it ended.
    fn run(&self, how: &[&str]) -> (ExitStatus, Vec<String>) {
        let _ = std::fs::remove_file(&self.log);
        let output = self.command(how).output().unwrap();
        let log = std::fs::read_to_string(&self.log).unwrap_or_default();
        (output.status, log.lines().map(str::to_owned).collect())
    }

    fn events(&self) -> Vec<RunEventRecord> {
        events(&self.data)
    }
}

fn events(data: &Path) -> Vec<RunEventRecord> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(data).await.unwrap();
        let page = store.runs().list(&RunFilter::default(), None, 10).await.unwrap();
        assert!(page.runs.len() <= 1, "the sample was started {} times", page.runs.len());
        let Some(summary) = page.runs.first() else {
            return Vec::new();
        };
        let events = store.read(&summary.run_id, 1, 10_000).await.unwrap();
        store.close().await.unwrap();
        events
    })
}

fn finished_calls(events: &[RunEventRecord]) -> Vec<&Key> {
    let is_call = |event: &RunEvent| matches!(event, RunEvent::ModelCallFinished { .. });
    events
        .iter()
        .filter(|record| is_call(&record.event))
        .map(|record| &record.key)
        .collect()
}

/// How often each tool was finished with each arguments, as the log writes them.
fn finished_tools(events: &[RunEventRecord]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in events {
        if !matches!(record.event, RunEvent::ToolFinished { .. }) {
            continue;
        }
        let started = events.iter().find(|other| other.key == record.key.mark("started"));
        if let Some(RunEvent::ToolStarted { tool, args, .. }) = started.map(|record| &record.event) {
            *counts.entry(format!("tool {tool} {}", args.hash.as_str())).or_default() += 1;
        }
    }
    counts
}

/// What the second process did, against what the journal held when the first was killed.
fn assert_nothing_repeated(place: &str, before: &[RunEventRecord], after: &[RunEventRecord], log: &[String]) {
    for key in finished_calls(before) {
        assert!(
            !log.contains(&format!("model {key}")),
            "{place}: the finished call {key} was made again"
        );
    }
    let (was, is) = (finished_tools(before), finished_tools(after));
    for (line, finished) in &is {
        let left = finished - was.get(line).copied().unwrap_or_default();
        let done = log.iter().filter(|logged| *logged == line).count();
        assert!(
            done <= left,
            "{place}: {line} was executed {done} times, with {left} left to do"
        );
    }
}

fn assert_same_journal(place: &str, events: &[RunEventRecord], expected: &[RunEventRecord]) {
    let seqs: Vec<u64> = events.iter().map(|record| record.seq).collect();
    assert_eq!(
        seqs,
        (1..=events.len() as u64).collect::<Vec<_>>(),
        "{place}: the journal has a gap"
    );
    // Word by word, so that a difference says where it is.
    let came_to = finished(events);
    let is_same = engine::final_hash(events).unwrap() == engine::final_hash(expected).unwrap();
    assert!(
        is_same,
        "{place}: the run came to another end: {:#?}",
        came_to
            .iter()
            .filter(|one| !finished(expected).contains(one))
            .collect::<Vec<_>>()
    );
}

#[test]
fn goes_on_from_every_commit_and_repeats_nothing() {
    let place = Place::new();
    let (status, log) = place.run(&[]);
    assert!(status.success(), "the sample does not pass");
    assert!(log.iter().any(|line| line.starts_with("model ")), "nothing was logged");
    let expected = place.events();

    let commits = AtomicU64::new(0);
    let next = AtomicU64::new(1);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::SeqCst);
                    let reached = ["before", "after"].map(|moment| kill_and_go_on(moment, n, &expected));
                    if reached == [false, false] {
                        return;
                    }
                    commits.fetch_max(n, Ordering::SeqCst);
                }
            });
        }
    });
    let commits = commits.into_inner();
    println!(
        "killed before and after each of {commits} commits; every run went on to {}",
        engine::final_hash(&expected).unwrap().as_str()
    );
    assert!(commits > 50, "only {commits} commits were reached");
}

/// Whether the run had such a commit at all.
fn kill_and_go_on(moment: &str, n: u64, expected: &[RunEventRecord]) -> bool {
    let name = format!("killed {moment} commit {n}");
    let place = Place::new();
    let (status, _) = place.run(&[moment, &n.to_string()]);
    if status.success() {
        return false;
    }
    assert_eq!(status.signal(), Some(9), "{name}: it ended otherwise");
    let before = place.events();
    if matches!(
        before.last().map(|record| &record.event),
        Some(RunEvent::RunFinished { .. })
    ) {
        // Killed right after its last word: there is nothing to go on with.
        assert_same_journal(&name, &before, expected);
        return true;
    }
    let (status, log) = place.run(&[]);
    assert!(status.success(), "{name}: it did not go on");
    let after = place.events();
    assert_nothing_repeated(&name, &before, &after, &log);
    assert_same_journal(&name, &after, expected);
    true
}

#[test]
fn two_processes_cannot_drive_one_run() {
    let place = Place::new();
    let mut holder = place.command(&["hold"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(holder.stdout.take().unwrap())
        .read_line(&mut said)
        .unwrap();
    assert_eq!(said, "waiting\n");

    let second = place.command(&[]).output().unwrap();
    assert!(!second.status.success(), "the second process drove the run too");
    assert_eq!(String::from_utf8_lossy(&second.stderr).trim(), "run_busy");

    holder.kill().unwrap();
    holder.wait().unwrap();
    let (status, _) = place.run(&[]);
    assert!(status.success(), "the run does not go on when its driver is gone");
}
