//! The sample that ships with the app: its first cycle really fails a check on the real output, its
//! second really mends it, and the numbers come from the files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use contract::evaluation::{CriterionVerdict, Evaluation, Verdict};
use contract::event::{RunEvent, RunEventRecord};
use contract::ports::journal::Journal;
use contract::run::{RunResult, StopReason};
use store::{RunFilter, Store};

/// A folder with the sample's data, to be run by a process of its own.
pub(crate) struct Sample {
    folder: tempfile::TempDir,
}

impl Sample {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prompts/samples/expenses");
        for entry in std::fs::read_dir(shipped).unwrap() {
            let path = entry.unwrap().path();
            std::fs::copy(&path, folder.path().join("work").join(path.file_name().unwrap())).unwrap();
        }
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("work").join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Runs it, and returns what happened.
    pub(crate) fn run(&self) -> (Vec<RunEventRecord>, RunResult) {
        let [data, work, log] = ["data", "work", "log"].map(|name| self.folder.path().join(name));
        let mut command = Command::new(env!("CARGO_BIN_EXE_crash_run"));
        let status = command
            .args([&data, &work, &log])
            .stdin(Stdio::null())
            .status()
            .unwrap();
        let events = events(&data);
        let Some(RunEvent::RunFinished { result }) = events.last().map(|record| record.event.clone()) else {
            panic!("the run has no end")
        };
        assert_eq!(status.success(), result.stop_reason == StopReason::Passed);
        (events, result)
    }
}

fn events(data: &Path) -> Vec<RunEventRecord> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = Store::open(data).await.unwrap();
        let page = store.runs().list(&RunFilter::default(), None, 1).await.unwrap();
        let events = store.read(&page.runs[0].run_id, 1, 10_000).await.unwrap();
        store.close().await.unwrap();
        events
    })
}

fn evaluations(events: &[RunEventRecord]) -> Vec<&Evaluation> {
    let judged = events.iter().filter_map(|record| match &record.event {
        RunEvent::CycleJudged { evaluation, .. } => Some(evaluation),
        _ => None,
    });
    judged.collect()
}

fn failed(evaluation: &Evaluation) -> Vec<&str> {
    let failed = evaluation
        .criteria
        .iter()
        .filter(|result| result.verdict == CriterionVerdict::Fail);
    failed.map(|result| result.id.as_str()).collect()
}

#[test]
fn fails_a_check_on_the_real_output_and_mends_it() {
    let sample = Sample::new();
    let (events, result) = sample.run();
    let [first, second] = evaluations(&events)[..] else {
        panic!("not two cycles")
    };
    assert_eq!(first.verdict, Verdict::Fail);
    assert_eq!(failed(first), ["flagged.csv/1", "flagged.csv/2"]);
    assert_eq!(first.tokens_used, 0, "a failed check decides without the model");
    assert!(
        first
            .feedback
            .as_deref()
            .is_some_and(|feedback| feedback.contains("step_5")),
        "{:?}",
        first.feedback
    );
    assert_eq!(second.verdict, Verdict::Pass);
    assert!(
        second
            .criteria
            .iter()
            .all(|result| result.verdict == CriterionVerdict::Pass),
        "{second:?}"
    );
    assert_eq!(result.cycles, 2);
    assert_eq!(
        result
            .outputs
            .iter()
            .map(|output| output.path.as_str())
            .collect::<Vec<_>>(),
        ["report.md", "flagged.csv"]
    );
    assert!(
        sample
            .read("report.md")
            .contains("Spending was 40932.69 in 416 expenses.")
    );
    assert_eq!(sample.read("flagged.csv").lines().count(), 1 + 36);
}

#[test]
fn passes_with_other_numbers_when_the_data_is_other() {
    let sample = Sample::new();
    let july = sample.read("2026-07.csv") + "9001,2026-07-31,Zoë Łukasiewicz,Meals,\"Café Łódź, Hall 2\",1000.31,no\n";
    std::fs::write(sample.path("2026-07.csv"), july).unwrap();
    let (_, result) = sample.run();
    assert_eq!(result.stop_reason, StopReason::Passed, "{}", result.feedback);
    assert!(
        sample
            .read("report.md")
            .contains("Spending was 41933.00 in 417 expenses.")
    );
    let flagged = sample.read("flagged.csv");
    let line = flagged.lines().find(|line| line.starts_with("9001,")).unwrap();
    assert!(line.contains("\"Café Łódź, Hall 2\",1000.31,"), "{line}");
    assert!(line.contains("above 500; no receipt"), "{line}");
}

#[test]
fn does_not_pass_when_the_result_is_not_there() {
    let sample = Sample::new();
    std::fs::create_dir(sample.path("flagged.csv")).unwrap();
    let (events, result) = sample.run();
    assert_eq!(
        result.stop_reason,
        StopReason::Error,
        "the recording knows no third cycle"
    );
    assert!(
        evaluations(&events)
            .iter()
            .all(|evaluation| evaluation.verdict == Verdict::Fail)
    );
}
