//! What is said to a run that is at work: pause, go on, words for its next planner.

use super::*;

/// A run whose first step has asked its model, which waits for leave to answer.
async fn at_work(script: &Arc<Script>, source: &str) -> (Place, App, contract::RunId, Arc<Semaphore>) {
    let (asked, go_on) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let model = Patient {
        script: Arc::clone(script),
        asked: Arc::clone(&asked),
        go_on: Arc::clone(&go_on),
    };
    let place = Place::default();
    let config = Config {
        providers: vec![Arc::new(model)],
        people: Some(Answers::new([])),
        ..place.config()
    };
    let app = App::open(config).await.unwrap();
    let started = call(&app, "run_start", json!({ "source": source, "folder": place.folder() }))
        .await
        .unwrap();
    let run = contract::RunId::new(started["runId"].as_str().unwrap());
    asked.acquire().await.unwrap().forget();
    (place, app, run, go_on)
}

#[tokio::test]
async fn a_paused_run_finishes_what_is_at_work_and_goes_on_when_it_is_continued() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &["a"])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        ("cycle/1/step/b#0/call/0", Reply::Text("b")),
    ]);
    let (_place, app, run, go_on) = at_work(&script, ANSWER).await;
    call(&app, "run_pause", json!({ "runId": run })).await.unwrap();
    go_on.add_permits(10);
    assert_eq!(app.outcome(&run).await.unwrap(), Outcome::Paused);
    let state = app.state(&run).await.unwrap();
    assert_eq!(state.status(), RunStatus::Paused);
    assert_eq!(script.keys(), [PLAN_1, "cycle/1/step/a#0/call/0"], "nothing else began");
    let listed = call(&app, "run_get", json!({ "runId": run })).await.unwrap();
    assert_eq!(listed["status"], "paused");

    call(&app, "run_continue", json!({ "runId": run })).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
    assert_eq!(script.keys().len(), 4, "what was at work is not asked again");
}

#[tokio::test]
async fn words_for_a_run_at_work_reach_the_next_planner() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let (_place, app, run, go_on) = at_work(&script, FILE).await;
    call(&app, "run_guide", json!({ "runId": run, "words": "Write a file" }))
        .await
        .unwrap();
    go_on.add_permits(10);
    app.outcome(&run).await.unwrap();
    assert!(script.prompt(PLAN_2).contains("The person says: Write a file"));
}
