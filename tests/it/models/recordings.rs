//! Runs as recordings, and tasks played from them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use app::App;
use serde_json::{Value, json};
use support::{Place, call, wait_for_question};

use super::{TASK, begin, keep_server, open, plan, server};

#[tokio::test]
async fn the_sample_recorded_again_is_the_sample() {
    let place = Place::default();
    let app = App::open(place.config()).await.unwrap();
    let run = app.start(app.sample_in(place.work()).await.unwrap()).await.unwrap();
    let first = wait_for_question(&app, &run).await;
    support::approve(&app, &run, &first.key).await.unwrap();
    let second = loop {
        let waiting = wait_for_question(&app, &run).await;
        if waiting.key != first.key {
            break waiting;
        }
        tokio::task::yield_now().await;
    };
    support::approve(&app, &run, &second.key).await.unwrap();
    app.outcome(&run).await.unwrap();
    let shipped: Value =
        serde_json::from_str(include_str!("../../../prompts/samples/expenses.recording.json")).unwrap();
    let file = place.data().join("again.json");
    let recorded = call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    let again: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let again = again["calls"].as_array().unwrap();
    assert_eq!(recorded["calls"], again.len());
    // What its second cycle keeps is not asked again; all else is.
    assert!(again.len() > 5, "{again:?}");
    for call in again {
        // What the shipped one leaves out is as it always is.
        let said = |call: &Value| json!([call["key"], call["response"]["text"], call["response"]["toolUses"]]);
        let same = |shipped: &&Value| said(shipped) == said(call);
        assert!(
            shipped["calls"]
                .as_array()
                .unwrap()
                .iter()
                .any(|shipped| same(&shipped)),
            "{call}"
        );
        assert!(call["requestHash"].is_string());
    }
    // The file is not overwritten.
    let twice = call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap_err();
    assert_eq!(twice.code, "recording_unwritable");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shipped_sample_is_what_recording_its_run_makes() {
    let mut shipped: Value =
        serde_json::from_str(include_str!("../../../prompts/samples/expenses.recording.json")).unwrap();
    let mut again = support::recorded_sample::record(0).await;
    for recording in [&mut shipped, &mut again] {
        // When it was made, how long the answers took, and the very words of the prompts: none of it is what a person sees.
        recording.as_object_mut().unwrap().remove("source").unwrap();
        for call in recording["calls"].as_array_mut().unwrap() {
            let call = call.as_object_mut().unwrap();
            assert!(call.remove("durationMs").is_some() && call.remove("requestHash").is_some());
        }
    }
    assert_eq!(again, shipped, "write it anew: cargo run -p tests --bin record_sample");
}

#[tokio::test]
async fn a_run_is_recorded_and_played_again_without_its_model() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let (url, _) = server(move |_, _| {
        count.fetch_add(1, Ordering::Relaxed);
        (200, "", plan())
    });
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let task = TASK.replace(
        "description: A greeting",
        "description: A greeting, criteria: [{ text: c, check: { contains: hello } }]",
    );
    let run = begin(&app, &place, &task).await.unwrap();
    let waiting = wait_for_question(&app, &run).await;
    support::approve(&app, &run, &waiting.key).await.unwrap();
    let first = app.outcome(&run).await.unwrap();
    let file = place.data().join("greeting.json");
    call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    let before = asked.load(Ordering::Relaxed);

    let value = app::task_files::parse(&task, app::task_files::Syntax::Yaml).unwrap();
    let elsewhere = Place::default();
    let header = app
        .header_played(&value, &elsewhere.folder(), &app::RunOptions::default(), &file)
        .await
        .unwrap();
    std::fs::remove_file(&file).unwrap();
    let played = app.start(header).await.unwrap();
    let waiting = wait_for_question(&app, &played).await;
    support::approve(&app, &played, &waiting.key).await.unwrap();
    let second = app.outcome(&played).await.unwrap();
    assert_eq!(asked.load(Ordering::Relaxed), before, "the model was asked again");
    assert_eq!(
        std::fs::read_to_string(elsewhere.work().join("out.txt")).unwrap(),
        "hello"
    );
    let status = |outcome: &app::Outcome| match outcome {
        app::Outcome::Finished(result) => (result.status, result.cost.is_some()),
        other => panic!("{other:?}"),
    };
    assert_eq!(status(&first).0, status(&second).0);
    assert!(status(&first).1 && !status(&second).1, "a recording costs nothing");
}

#[tokio::test]
async fn a_recording_is_played_by_itself_in_a_folder_that_a_person_chooses() {
    let (url, heard) = server(move |_, _| (200, "", plan()));
    let place = Place::default();
    let app = open(&place).await;
    keep_server(&app, &url).await;
    let task = format!("{TASK}approval: never\n").replace(
        "description: A greeting",
        "description: A greeting, criteria: [{ text: c, check: { contains: hello } }]",
    );
    let run = begin(&app, &place, &task).await.unwrap();
    let waiting = wait_for_question(&app, &run).await;
    support::approve(&app, &run, &waiting.key).await.unwrap();
    app.outcome(&run).await.unwrap();
    let file = place.data().join("greeting.json");
    call(&app, "run_record", json!({ "runId": run, "path": file }))
        .await
        .unwrap();
    let before = heard.lock().unwrap().len();
    let elsewhere = Place::default();
    let request = json!({ "path": file, "folder": elsewhere.folder() });
    let started = call(&app, "recording_play", request.clone()).await.unwrap();
    let played = contract::RunId::new(started["runId"].as_str().unwrap());
    // A file grants nothing: its plan is asked about, whatever its task says.
    let waiting = wait_for_question(&app, &played).await;
    support::approve(&app, &played, &waiting.key).await.unwrap();
    app.outcome(&played).await.unwrap();
    assert_eq!(heard.lock().unwrap().len(), before, "the model was asked again");
    let written = std::fs::read_to_string(elsewhere.work().join("out.txt")).unwrap();
    assert_eq!(written, "hello");
    // One that was made before tasks were kept in it says what to do.
    let mut old: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    old.as_object_mut().unwrap().remove("task");
    std::fs::write(&file, old.to_string()).unwrap();
    let refused = call(&app, "recording_play", request).await.unwrap_err();
    assert_eq!(refused.code, "recording_without_task");
}

#[tokio::test]
async fn a_file_that_is_no_recording_says_so() {
    let place = Place::default();
    let app = open(&place).await;
    let value = app::task_files::parse(TASK, app::task_files::Syntax::Yaml).unwrap();
    let file = place.data().join("x.json");
    for text in ["nonsense", "{\"version\": 9}", ""] {
        std::fs::write(&file, text).unwrap();
        let refused = app
            .header_played(&value, &place.folder(), &app::RunOptions::default(), &file)
            .await;
        assert_eq!(refused.unwrap_err().code, "recording_unreadable", "{text}");
    }
    let gone = place.data().join("gone");
    let refused = app
        .header_played(&value, &place.folder(), &app::RunOptions::default(), &gone)
        .await;
    assert_eq!(refused.unwrap_err().code, "recording_unreadable");
}
