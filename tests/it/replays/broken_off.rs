//! Runs that something broke off while several things were at work: a crossed budget, a person's word, a failure beside
//! them. Who had come how far by then is chance; a replay comes to the same all the same, every time.

use std::sync::Arc;

use app::{App, Config, Outcome};
use contract::RunId;
use contract::event::{RunEvent, RunEventRecord};
use contract::run::{RunResult, RunStatus, StopReason};
use contract::step::StepStatus;
use serde_json::{Value, json};
use support::script::{Answers, Doors, Reply, Script, TOKENS, passing, plan, thought};
use support::{Place, call};

use super::replayed;
use crate::task_loop::{ANSWER, PLAN_1, Ran, run};

const CALLS: [&str; 8] = [
    "cycle/1/step/s0#0/call/0",
    "cycle/1/step/s1#0/call/0",
    "cycle/1/step/s2#0/call/0",
    "cycle/1/step/s3#0/call/0",
    "cycle/1/step/s4#0/call/0",
    "cycle/1/step/s5#0/call/0",
    "cycle/1/step/s6#0/call/0",
    "cycle/1/step/s7#0/call/0",
];

/// Eight steps that do not need each other.
fn eight() -> Reply {
    let steps: Vec<Value> = (0..CALLS.len()).map(|n| thought(&format!("s{n}"), &[])).collect();
    plan(json!(steps))
}

fn answers() -> Arc<Script> {
    Script::answering(|request| match request.key.as_str() {
        PLAN_1 => eight(),
        key if key.contains("/judge#") => passing(request),
        _ => Reply::Text("words"),
    })
}

/// A run of these whose budget is crossed by the fourth answer of a step, with as many at once as this.
async fn over_the_budget(most: usize) -> Ran {
    let limits = format!("limits: {{ maxTokens: {}, maxParallel: {most} }}\n", 4 * TOKENS);
    run(&format!("{ANSWER}{limits}"), &answers(), &Answers::new([])).await
}

fn places(events: &[RunEventRecord], of: impl Fn(&RunEvent) -> bool) -> Vec<usize> {
    let found = events.iter().enumerate().filter(|(_, record)| of(&record.event));
    found.map(|(place, _)| place).collect()
}

#[tokio::test]
async fn once_the_budget_is_crossed_no_step_begins_and_none_fails_that_did_nothing() {
    for most in [1, 2, 4, 8] {
        let ran = over_the_budget(most).await;
        assert_eq!(ran.stop_reason(), StopReason::Budget);
        let events = ran.events().await;
        let begun = places(&events, |event| matches!(event, RunEvent::StepStarted { .. }));
        let asked = places(&events, |event| {
            matches!(event, RunEvent::ModelCallStarted { step: Some(_), .. })
        });
        let answered = places(&events, |event| {
            matches!(event, RunEvent::ModelCallFinished { response: Some(_), .. })
        });
        // The plan, and the steps up to the one that crossed it.
        let crossed = answered[4];
        assert!(
            begun.iter().all(|place| *place < crossed),
            "{most}: {begun:?} after {crossed}"
        );
        let steps = &ran.state.cycles[0].steps;
        let mut failed = steps.values().filter(|step| step.status == StepStatus::Failed);
        assert!(failed.all(|step| !step.leaves.is_empty()), "{most}: {steps:?}");
        let not_begun = steps.values().filter(|step| step.status == StepStatus::Waiting);
        assert_eq!(not_begun.count(), CALLS.len() - asked.len(), "{most}: {steps:?}");
    }
}

#[tokio::test]
async fn a_run_that_the_budget_ended_with_steps_at_work_is_replayed_and_comes_to_the_same() {
    for most in [1, 2, 4, 8] {
        let ran = over_the_budget(most).await;
        for _ in 0..3 {
            let again = ran.app.replay(&ran.run).await.unwrap();
            assert!(again.same, "{most} at once: {}", again.feedback);
            assert_eq!(
                (again.status, &*again.feedback),
                (RunStatus::Terminated, ran.feedback())
            );
        }
    }
}

#[tokio::test]
async fn a_run_that_went_on_with_more_tokens_is_replayed_to_its_last_end() {
    let ran = over_the_budget(4).await;
    let more = json!({ "limits": { "maxTokens": 10_000 } });
    ran.call("run_raise_budget", more).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let again = ran.app.replay(&ran.run).await.unwrap();
    assert!(again.reopened);
    assert_eq!(again.status, RunStatus::Pass, "{}", again.feedback);
}

async fn opened(script: &Arc<Script>) -> (Place, App) {
    let place = Place::default();
    let config = Config {
        providers: vec![Arc::clone(script) as _],
        people: Some(Answers::new([])),
        ..place.config()
    };
    (place, App::open(config).await.unwrap())
}

#[tokio::test]
async fn a_run_that_was_stopped_with_steps_at_work_is_replayed_and_comes_to_the_same() {
    let doors = Doors::at([CALLS[0], CALLS[2], CALLS[5]]);
    let replies = CALLS.map(|call| (call, Reply::Text("words")));
    let script = Script::behind(Arc::clone(&doors) as _, replies.into_iter().chain([(PLAN_1, eight())]));
    let (place, app) = opened(&script).await;
    let source = format!("{ANSWER}limits: {{ maxParallel: 3 }}\n");
    let started = call(&app, "run_start", json!({ "source": source, "folder": place.folder() }));
    let run = RunId::new(started.await.unwrap()["runId"].as_str().unwrap());
    doors.came([CALLS[0], CALLS[2], CALLS[5]]).await;
    call(&app, "run_stop", json!({ "runId": run })).await.unwrap();
    app.outcome(&run).await.unwrap();
    let result = app.state(&run).await.unwrap().result.unwrap();
    assert_eq!(result.stop_reason, StopReason::Cancelled);
    for _ in 0..5 {
        replayed(&app, &run).await;
    }
}

/// Runs a flow to its end, plays it again some times, and says how it ended.
async fn flow_replayed(steps: &Value, input: Value) -> RunResult {
    let (place, app) = opened(&answers()).await;
    let flow = json!({ "id": "f", "model": "scripted:m", "input": { "files": "array" },
        "steps": [steps, { "id": "r", "answer": { "text": "done" } }] });
    let input = app::FlowInput {
        input,
        ..app::FlowInput::default()
    };
    let header = app
        .flow_header(&flow, &Default::default(), input, &place.folder(), None)
        .await
        .unwrap();
    let run = app.start(header).await.unwrap();
    let Outcome::Finished(result) = app.outcome(&run).await.unwrap() else {
        panic!("it did not end")
    };
    for _ in 0..5 {
        let again = app.replay(&run).await.unwrap();
        assert!(again.same, "{}", again.feedback);
        assert_eq!(again.feedback, result.feedback);
    }
    result
}

fn ask(id: &str) -> Value {
    json!({ "id": id, "ask": { "instructions": "Say something." } })
}

fn read(id: &str, path: &str) -> Value {
    json!({ "id": id, "tool": { "tool": "file_read", "args": { "path": path } } })
}

/// As often as it takes for the parts to be found at different places when one of them fails.
const OFTEN: usize = 20;

#[tokio::test]
async fn a_group_in_which_a_branch_failed_is_replayed_and_comes_to_the_same() {
    let chain =
        |id: &str| json!({ "id": id, "group": { "steps": [ask("one"), ask("two"), ask("three"), ask("four")] } });
    let late = json!({ "id": "late", "group": { "steps": [ask("one"), read("file", "no.txt"), ask("never")] } });
    let beside = json!({ "id": "beside", "group": { "mode": "parallel", "steps": [chain("x"), ask("y")] } });
    let group = json!({ "id": "both", "group": { "mode": "parallel", "steps": [
        chain("a"), ask("b"), late, beside, ask("c"), chain("d"), ask("e"), ask("f"),
    ] } });
    for _ in 0..OFTEN {
        let result = flow_replayed(&group, json!({ "files": [] })).await;
        assert!(result.feedback.contains("no.txt"), "{}", result.feedback);
    }
}

#[tokio::test]
async fn a_list_in_which_an_item_failed_is_replayed_and_comes_to_the_same() {
    let each = json!({ "id": "each", "group": {
        "mode": "forEach", "items": "{{files}}", "concurrency": 3,
        "steps": [
            ask("first"),
            { "id": "list", "tool": { "tool": "directory_list", "args": { "path": "{{item}}" } } },
            ask("then"),
            ask("last"),
        ],
    } });
    let files = json!({ "files": [".", ".", "no.txt", ".", "no.txt", "."] });
    for _ in 0..OFTEN {
        let result = flow_replayed(&each, files.clone()).await;
        assert!(result.feedback.contains("no.txt"), "{}", result.feedback);
    }
}

#[tokio::test]
async fn steps_in_the_order_of_reading_of_which_one_failed_are_replayed_and_come_to_the_same() {
    let after = |id: &str, before: &str| json!({ "id": id, "ask": { "instructions": format!("{{{{{before}}}}}") } });
    let group = json!({ "id": "all", "group": { "order": "reads", "steps": [
        ask("a"), after("b", "a"), after("c", "b"), read("file", "no.txt"), after("never", "file"), ask("d"), after("e", "d"),
    ] } });
    for _ in 0..OFTEN {
        let result = flow_replayed(&group, json!({ "files": [] })).await;
        assert!(result.feedback.contains("no.txt"), "{}", result.feedback);
    }
}
