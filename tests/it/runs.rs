//! Runs as the window handles them: commands in, signals out, and the journal in between.

use std::sync::Arc;

use app::{App, Config, Outcome, Signal};
use async_trait::async_trait;
use contract::RunId;
use contract::event::RunEvent;
use contract::ports::journal::{Journal, JournalError, NewEntry};
use contract::run::{RunStatus, StopReason};
use serde_json::{Value, json};
use support::around::{Append, Around, AroundJournal};
use support::{Agreeable, Nobody, Place, approve, call, start, state, wait_for_question};

fn ended(outcome: &Outcome) -> (RunStatus, StopReason) {
    match outcome {
        Outcome::Finished(result) => (result.status, result.stop_reason),
        other => panic!("the run is at its end, not {other:?}"),
    }
}

async fn error_code(call: impl Future<Output = Result<Value, contract::AppError>>) -> String {
    call.await.unwrap_err().code
}

#[tokio::test]
async fn a_task_goes_from_start_to_verdict() {
    let place = Place::default();
    let app = place.open().await;
    let mut signals = app.signals();
    let run = start(&app, &place).await;
    let question = wait_for_question(&app, &run).await;
    approve(&app, &run, &question.key).await.unwrap();
    assert_eq!(
        ended(&app.outcome(&run).await.unwrap()),
        (RunStatus::Pass, StopReason::Passed)
    );
    let result = state(&app, &run).await.result.unwrap();
    assert_eq!(result.feedback, "The world is greeted.");
    assert_eq!(
        std::fs::read_to_string(place.work().join("hello.txt")).unwrap(),
        "hello, world\n"
    );

    let events = call(&app, "run_events", json!({ "runId": run, "fromSeq": 1, "limit": 1000 }))
        .await
        .unwrap();
    let seqs: Vec<u64> = events["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    let last = seqs.len() as u64;
    assert_eq!(seqs, (1..=last).collect::<Vec<_>>());
    let mut reached = 0;
    while reached < last {
        if let Some(Signal::Advanced { run_id, seq }) = signals.next().await {
            assert_eq!(run_id, run);
            reached = seq;
        }
    }

    let page = call(&app, "run_list", json!({ "limit": 10, "status": ["pass"] }))
        .await
        .unwrap();
    assert_eq!(page["runs"][0]["runId"], json!(run));
    assert_eq!(page["runs"][0]["driven"], false);
    let preview = call(&app, "file_preview", json!({ "runId": run, "path": "hello.txt" }))
        .await
        .unwrap();
    assert_eq!(
        (preview["kind"].as_str(), preview["text"].as_str()),
        (Some("text"), Some("hello, world\n"))
    );
    let outside = call(&app, "file_preview", json!({ "runId": run, "path": "../secret" }));
    assert_eq!(error_code(outside).await, "file_outside");
}

#[tokio::test]
async fn what_a_model_said_is_forgotten_when_its_call_is_over() {
    let place = Place::default();
    let app = place.open().await;
    let mut signals = app.signals();
    let run = start(&app, &place).await;
    wait_for_question(&app, &run).await;
    let mut said = Vec::new();
    while said.is_empty() {
        if let Some(Signal::Delta { offset, text, .. }) = signals.next().await {
            said.push((offset, text));
        }
    }
    assert!(said[0].0 == 0 && said[0].1.contains("One file is enough."), "{said:?}");
    assert_eq!(
        call(&app, "run_deltas", json!({ "runId": run })).await.unwrap(),
        json!([])
    );
    app.leave(&run).await;
}

#[tokio::test]
async fn an_answer_drives_a_run_that_nobody_drives() {
    let place = Place::default();
    let app = place.open_with(Nobody).await;
    let run = start(&app, &place).await;
    assert_eq!(app.outcome(&run).await.unwrap(), Outcome::Waiting);
    app.close().await.unwrap();

    let app = place.open().await;
    let question = state(&app, &run).await.waiting.unwrap();
    assert_eq!(
        call(&app, "run_get", json!({ "runId": run })).await.unwrap()["driven"],
        false
    );
    approve(&app, &run, &question.key).await.unwrap();
    assert_eq!(ended(&app.outcome(&run).await.unwrap()).0, RunStatus::Pass);
    assert_eq!(error_code(approve(&app, &run, &question.key)).await, "nobody_waits");
}

#[tokio::test]
async fn answers_that_do_not_fit_are_refused_in_words() {
    let place = Place::default();
    let app = place.open().await;
    let run = start(&app, &place).await;
    let question = wait_for_question(&app, &run).await;
    let answer = |key: Value, answer: Value| {
        call(
            &app,
            "run_answer",
            json!({ "runId": run, "key": key, "answer": answer }),
        )
    };
    let key = json!(question.key);
    assert_eq!(
        error_code(answer(
            json!("elsewhere"),
            json!({ "kind": "approve", "revisions": false })
        ))
        .await,
        "nobody_waits"
    );
    assert_eq!(
        error_code(answer(key.clone(), json!({ "kind": "markDone" }))).await,
        "wrong_answer"
    );
    assert_eq!(
        error_code(answer(key.clone(), json!({ "kind": "askForChanges", "words": " " }))).await,
        "no_words"
    );
    assert_eq!(
        error_code(answer(key.clone(), json!({ "kind": "perhaps" }))).await,
        "invalid_request"
    );
    answer(key, json!({ "kind": "reject", "reason": "no" })).await.unwrap();
    assert_eq!(
        ended(&app.outcome(&run).await.unwrap()),
        (RunStatus::Fail, StopReason::Rejected)
    );
}

#[tokio::test]
async fn two_apps_on_one_data_folder_cannot_drive_one_run() {
    let place = Place::default();
    let first = place.open().await;
    let run = start(&first, &place).await;
    let question = wait_for_question(&first, &run).await;

    let second = place.open().await;
    assert_eq!(
        call(&second, "run_get", json!({ "runId": run })).await.unwrap()["driven"],
        true
    );
    for name in ["run_continue", "run_stop"] {
        assert_eq!(
            error_code(call(&second, name, json!({ "runId": run }))).await,
            "run_busy",
            "{name}"
        );
    }
    assert_eq!(error_code(approve(&second, &run, &question.key)).await, "run_busy");

    first.close().await.unwrap();
    call(&second, "run_continue", json!({ "runId": run })).await.unwrap();
    call(&second, "run_continue", json!({ "runId": run })).await.unwrap();
    approve(&second, &run, &question.key).await.unwrap();
    assert_eq!(ended(&second.outcome(&run).await.unwrap()).0, RunStatus::Pass);
}

#[tokio::test]
async fn a_run_at_work_stops_when_it_is_told_to() {
    let place = Place::default();
    let app = place.open().await;
    let run = start(&app, &place).await;
    wait_for_question(&app, &run).await;
    call(&app, "run_stop", json!({ "runId": run })).await.unwrap();
    assert_eq!(
        ended(&app.outcome(&run).await.unwrap()),
        (RunStatus::Terminated, StopReason::Cancelled)
    );
    assert_eq!(
        error_code(call(&app, "run_stop", json!({ "runId": run }))).await,
        "run_ended"
    );
    assert_eq!(
        error_code(call(&app, "run_continue", json!({ "runId": run }))).await,
        "run_ended"
    );
}

#[tokio::test]
async fn a_run_whose_folder_is_gone_can_still_be_stopped() {
    let place = Place::default();
    let app = place.open_with(Nobody).await;
    let folder = place.work().join("inner");
    std::fs::create_dir(&folder).unwrap();
    let request = json!({ "source": support::GREETING, "folder": folder });
    let run = call(&app, "run_start", request).await.unwrap()["runId"]
        .as_str()
        .map(RunId::new)
        .unwrap();
    assert_eq!(app.outcome(&run).await.unwrap(), Outcome::Waiting);
    std::fs::remove_dir(&folder).unwrap();
    assert_eq!(
        error_code(call(&app, "run_continue", json!({ "runId": run }))).await,
        "folder_missing"
    );
    call(&app, "run_stop", json!({ "runId": run })).await.unwrap();
    assert_eq!(
        ended(&app.outcome(&run).await.unwrap()),
        (RunStatus::Terminated, StopReason::Cancelled)
    );
}

#[tokio::test]
async fn a_run_can_be_done_again() {
    let place = Place::default();
    let app = place.open_with(Agreeable).await;
    let first = start(&app, &place).await;
    assert_eq!(ended(&app.outcome(&first).await.unwrap()).0, RunStatus::Pass);
    let again = call(&app, "run_again", json!({ "runId": first })).await.unwrap();
    let second = again["runId"].as_str().map(RunId::new).unwrap();
    assert_ne!(first, second);
    assert_eq!(ended(&app.outcome(&second).await.unwrap()).0, RunStatus::Pass);
    let (before, after) = (
        app.header_of(&first).await.unwrap(),
        app.header_of(&second).await.unwrap(),
    );
    assert_eq!(before, after);
}

#[tokio::test]
async fn the_sample_fails_a_check_and_then_passes() {
    let place = Place::default();
    let app = place.open_with(Agreeable).await;
    let started = call(&app, "sample_start", Value::Null).await.unwrap();
    let run = started["runId"].as_str().map(RunId::new).unwrap();
    let outcome = app.outcome(&run).await.unwrap();
    assert_eq!(ended(&outcome), (RunStatus::Pass, StopReason::Passed));
    let state = state(&app, &run).await;
    assert_eq!(state.cycles.len(), 2);
    let folder = state.header.unwrap().envelope.folder;
    assert!(std::path::Path::new(&folder).join("report.md").is_file());
    assert_eq!(
        call(&app, "run_get", json!({ "runId": run })).await.unwrap()["recorded"],
        true
    );
}

#[tokio::test]
async fn a_run_needs_a_task_a_folder_and_a_model() {
    let place = Place::default();
    let app = place.open().await;
    let start = |source: &str, folder: &str| call(&app, "run_start", json!({ "source": source, "folder": folder }));
    let without_model = support::GREETING.replace("models: { planner: 'scripted:greeter' }\n", "");
    let (folder, gone) = (place.folder(), place.work().join("gone").display().to_string());
    assert_eq!(error_code(start(&without_model, &folder)).await, "no_model");
    assert_eq!(error_code(start(support::GREETING, "")).await, "no_folder");
    assert_eq!(error_code(start(support::GREETING, "relative/path")).await, "no_folder");
    assert_eq!(error_code(start(support::GREETING, &gone)).await, "folder_missing");
    assert_eq!(error_code(start("goal: [", &folder)).await, "task_syntax");
    assert_eq!(error_code(start("- a list", &folder)).await, "task_not_object");
    let invalid = start("goal: ''\n", &folder).await.unwrap_err();
    assert_eq!(invalid.code, "task_invalid");
    let paths: Vec<&str> = invalid.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["goal", "context", "expectedOutput"]);
    assert_eq!(
        call(&app, "run_list", json!({ "limit": 10 })).await.unwrap()["runs"],
        json!([])
    );
}

#[tokio::test]
async fn no_run_works_where_the_app_keeps_its_own_data() {
    let place = Place::default();
    let app = place.open().await;
    let inside = place.data().join("content");
    std::fs::create_dir_all(&inside).unwrap();
    let above = place.data().parent().unwrap().to_owned();
    for folder in [place.data().to_owned(), inside, above] {
        let request = json!({ "source": support::GREETING, "folder": folder });
        assert_eq!(error_code(call(&app, "run_start", request)).await, "folder_of_tepa");
        let info = call(&app, "folder_info", json!({ "path": folder })).await.unwrap();
        assert!(info["problem"].as_str().unwrap().contains("its own history"), "{info}");
    }
}

/// A journal with a mistake in it: it panics when a plan is approved.
struct Mistaken(Arc<dyn Journal>);

#[async_trait]
impl AroundJournal for Mistaken {
    fn journal(&self) -> &dyn Journal {
        &*self.0
    }

    async fn append(&self, run: &RunId, append: Append) -> Result<(), JournalError> {
        let is_approval = |entry: &NewEntry| matches!(*entry.event, RunEvent::PlanApproved { .. });
        if append.entries.iter().any(is_approval) {
            panic!("a mistake in the app");
        }
        append.to(self.journal(), run).await
    }
}

#[tokio::test]
async fn a_panic_in_a_driver_is_told_and_leaves_the_run_to_be_continued() {
    let place = Place::default();
    let config = Config {
        providers: vec![support::greeter()],
        people: Some(Arc::new(Agreeable)),
        journal: Some(Box::new(|journal| Arc::new(Around(Mistaken(journal))))),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let mut signals = app.signals();
    let run = start(&app, &place).await;
    let outcome = app.outcome(&run).await.unwrap();
    assert!(
        matches!(&outcome, Outcome::Interrupted(error) if error.code == "internal"),
        "{outcome:?}"
    );
    loop {
        if let Some(Signal::Interrupted { run_id, error }) = signals.next().await {
            assert_eq!((run_id, error.code.as_str()), (run.clone(), "internal"));
            break;
        }
    }
    let summary = call(&app, "run_get", json!({ "runId": run })).await.unwrap();
    assert_eq!(
        (summary["status"].as_str(), summary["driven"].as_bool()),
        (Some("running"), Some(false))
    );
    app.close().await.unwrap();

    let app = place.open_with(Agreeable).await;
    call(&app, "run_continue", json!({ "runId": run })).await.unwrap();
    assert_eq!(ended(&app.outcome(&run).await.unwrap()).0, RunStatus::Pass);
}
