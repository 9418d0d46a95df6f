//! What a planner is told, and what becomes of a plan that cannot be used.

use super::*;

#[tokio::test]
async fn a_planner_is_told_what_was_wrong_and_tries_once_more() {
    let wrong = plan(json!([tool("a", "teleport", json!({}), &["z"])]));
    let right = plan(json!([thought("a", &[])]));
    let script = Script::new([
        (PLAN_1, wrong),
        ("cycle/1/plan#0/call/1", right),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told = script.prompt("cycle/1/plan#0/call/1");
    assert!(
        told.contains("unknown dependency") && told.contains("unknown tool"),
        "{told}"
    );
    assert!(
        told.contains("teleport"),
        "the reply itself is part of the conversation"
    );
    for words in ["Say something", "one JSON object", "no code fence"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let refused = ran.events().await.into_iter().find_map(|record| match record.event {
        RunEvent::PlanRefused { problems, again, .. } => Some((problems.len(), again)),
        _ => None,
    });
    assert_eq!(refused, Some((2, true)));
}

#[tokio::test]
async fn a_plan_that_is_wrong_twice_ends_the_run_and_can_be_tried_again() {
    let script = Script::new([
        (PLAN_1, Reply::Text("I would rather not.")),
        ("cycle/1/plan#0/call/1", Reply::Text("Still not.")),
        (PLAN_2, plan(json!([thought("a", &[])]))),
        ("cycle/2/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let one_cycle = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    let ran = run(&one_cycle, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::Error)
    );
    assert!(ran.feedback().contains("Still not."), "{}", ran.feedback());
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!((result.stop_reason, result.cycles), (StopReason::Passed, 2));
    let told = script.prompt(PLAN_2);
    assert!(
        told.contains("Still not."),
        "the next planner knows what was wrong: {told}"
    );
    assert_eq!(
        script.keys().iter().filter(|key| *key == PLAN_1).count(),
        1,
        "nothing that was asked is asked again"
    );
}

#[tokio::test]
async fn asking_for_changes_takes_the_words_and_the_plan_back_to_the_planner() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/plan#1/call/0", plan(json!([thought("b", &[])]))),
        ("cycle/1/step/b#0/call/0", Reply::Text("hello")),
    ]);
    let people = Answers::new([Answer::AskForChanges {
        words: "Call it b, please".to_owned(),
    }]);
    let ran = run(ANSWER, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let told = script.prompt("cycle/1/plan#1/call/0");
    assert!(told.contains("Call it b, please") && told.contains("Think a"), "{told}");
    assert_eq!(people.asked.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_planner_that_is_tried_again_is_told_what_was_wrong() {
    let script = Script::new([
        (PLAN_1, Reply::Text("no")),
        ("cycle/1/plan#0/call/1", plan(json!([thought("a", &["ghost"])]))),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    ran.app.resume(&ran.run).await.unwrap();
    ran.app.outcome(&ran.run).await.unwrap();
    let told = script.prompt(PLAN_2);
    assert!(told.contains("unknown dependency") && told.contains("ghost"), "{told}");
}

#[tokio::test]
async fn what_a_person_said_to_a_planner_that_failed_is_said_to_the_next() {
    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers");
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])])),
        ),
        (PLAN_2, Reply::Error(down)),
        ("cycle/2/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 1"),
        &script,
        &Answers::new([]),
    )
    .await;
    ran.call("run_guide", json!({ "words": "Just write it" }))
        .await
        .unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Error, "{}", ran.feedback());
    ran.app.resume(&ran.run).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    for key in [PLAN_2, "cycle/2/plan#1/call/0"] {
        assert!(script.prompt(key).contains("The person says: Just write it"), "{key}");
    }
}

#[tokio::test]
async fn a_planner_that_answered_in_words_is_asked_for_a_plan_once_more() {
    let script = Script::new([
        (PLAN_1, Reply::Text("I would begin by looking around.")),
        ("cycle/1/plan#0/call/1", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told = script.prompt("cycle/1/plan#0/call/1");
    assert!(told.contains("I would begin by looking around."), "{told}");
}

#[tokio::test]
async fn a_plan_that_goes_in_a_circle_runs_no_step() {
    let circle = || {
        plan(json!([
            thought("first", &[]),
            thought("a", &["b"]),
            thought("b", &["a"])
        ]))
    };
    let script = Script::new([(PLAN_1, circle()), ("cycle/1/plan#0/call/1", circle())]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    assert!(ran.feedback().contains("Circular dependency"), "{}", ran.feedback());
    assert_eq!(script.keys().len(), 2, "{:?}", script.keys());
}
