//! What runs at once, and in which order changes come.

use super::*;

#[tokio::test]
async fn steps_that_do_not_need_each_other_overlap_and_are_summed_up_in_the_plans_order() {
    let keys = ["a", "b", "c"].map(|id| format!("cycle/1/step/{id}#0/call/0"));
    let [a, b, c] = keys.each_ref().map(String::as_str);
    let doors = Doors::at([a, b, c]);
    let steps = json!([thought("a", &[]), thought("b", &[]), thought("c", &[])]);
    let replies = [
        (PLAN_1, plan(steps)),
        ("cycle/1/step/a#0/call/0", Reply::Text("apple")),
        ("cycle/1/step/b#0/call/0", Reply::Text("banana")),
        ("cycle/1/step/c#0/call/0", Reply::Text("cherry")),
    ];
    let script = Script::behind(Arc::clone(&doors) as _, replies);
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(&format!("{ANSWER}limits: {{ maxParallel: 2 }}\n"), place, config).await;
    doors.came([a, b]).await;
    doors.open(b);
    doors.came([c]).await;
    doors.open(c);
    doors.open(a);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let summary = ran.state.scratchpad["_execution_summary"].inline.clone().unwrap();
    let told: Vec<&str> = summary
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["stepId"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["a", "b", "c"]);
}

#[tokio::test]
async fn changes_come_in_the_plans_order_whoever_is_ready_first() {
    let [slow, fast] = ["cycle/1/step/one#0/tool/0/call", "cycle/1/step/three#0/tool/0/call"];
    let doors = Doors::at([slow, fast]);
    let steps = json!([
        open(append("one", "", &[])),
        read("two", "out.txt", &[]),
        open(append("three", "", &[])),
    ]);
    let line = |text: &str| {
        Reply::Tool(
            "file_write",
            json!({ "path": "out.txt", "content": text, "mode": "append" }),
        )
    };
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [(PLAN_1, plan(steps)), (slow, line("good ")), (fast, line("better"))],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(GOOD, place, config).await;
    doors.came([slow, fast]).await;
    doors.open(fast);
    doors.open(slow);
    let ran = started.end().await;
    assert_eq!(ran.written("out.txt"), "good better");
    let seen = ran.step(0, "two").output.as_ref().unwrap().inline.clone();
    assert_eq!(
        seen,
        Some(json!("good ")),
        "the reading stands between the two in the order"
    );
}

#[tokio::test]
async fn what_a_step_sees_of_the_scratchpad_does_not_depend_on_who_is_faster() {
    let before = "cycle/1/step/before#0/call/0";
    let doors = Doors::at([before]);
    let note = json!({ "action": "write", "key": "colour", "value": "blue" });
    let steps = json!([
        thought("before", &[]),
        tool("note", "scratchpad", note, &[]),
        thought("after", &[])
    ]);
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [
            (PLAN_1, plan(steps)),
            (before, Reply::Text("early")),
            ("cycle/1/step/after#0/call/0", Reply::Text("late")),
        ],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(ANSWER, place, config).await;
    doors.came([before]).await;
    doors.open(before);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert!(!script.prompt(before).contains("colour: blue"));
    assert!(script.prompt("cycle/1/step/after#0/call/0").contains("colour: blue"));
    assert_eq!(script.keys()[1..3], [before, "cycle/1/step/after#0/call/0"]);
}

#[tokio::test]
async fn crossing_the_budget_ends_the_calls_in_flight_and_sends_no_other() {
    let keys = [
        "cycle/1/step/a#0/call/0",
        "cycle/1/step/b#0/call/0",
        "cycle/1/step/c#0/call/0",
    ];
    let doors = Doors::at(keys);
    let steps = json!([
        thought("a", &[]),
        thought("b", &[]),
        thought("c", &[]),
        thought("d", &["a"])
    ]);
    let replies = [(PLAN_1, plan(steps)), (keys[0], Reply::Text("a"))];
    let script = Script::behind(Arc::clone(&doors) as _, replies);
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(&format!("{ANSWER}limits: {{ maxTokens: {TOKENS} }}\n"), place, config).await;
    doors.came(keys).await;
    doors.open(keys[0]);
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Budget);
    assert_eq!(script.keys().len(), 4, "the plan and three steps");
    assert_eq!(
        ran.step(0, "a").tokens_used,
        TOKENS,
        "what the crossing call cost is told with its step"
    );
    assert_eq!(ran.step(0, "d").status, StepStatus::Waiting);
    for key in &keys[1..] {
        let error = ran.state.calls[*key].error.clone().unwrap();
        assert_eq!(error.code, code::BUDGET_EXCEEDED);
    }
}

#[tokio::test]
async fn stopping_ends_everything_in_flight() {
    let keys = ["cycle/1/step/a#0/call/0", "cycle/1/step/b#0/call/0"];
    let doors = Doors::at(keys);
    let script = Script::behind(
        Arc::clone(&doors) as _,
        [(PLAN_1, plan(json!([thought("a", &[]), thought("b", &[])])))],
    );
    let place = Place::default();
    let config = config(&place, &script);
    let started = start(ANSWER, place, config).await;
    doors.came(keys).await;
    started.app.stop(&started.run).await.unwrap();
    let ran = started.end().await;
    assert_eq!(ran.stop_reason(), StopReason::Cancelled);
    for key in keys {
        assert_eq!(ran.state.calls[key].error.clone().unwrap().code, code::CANCELLED);
    }
}
