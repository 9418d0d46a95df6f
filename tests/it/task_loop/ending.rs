//! The ends of a run: the budget, the cycles, a judge that cannot be read, no progress.

use super::*;

#[tokio::test]
async fn the_call_that_crosses_the_budget_is_the_last_one_sent() {
    let steps = json!([thought("a", &[]), thought("b", &[]), thought("c", &[])]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/a#0/call/0", Reply::Text("a")),
        ("cycle/1/step/b#0/call/0", Reply::Text("b")),
        ("cycle/1/step/c#0/call/0", Reply::Text("c")),
    ]);
    let task = format!("{ANSWER}limits: {{ maxTokens: {}, maxParallel: 1 }}\n", 2 * TOKENS);
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Terminated, StopReason::Budget)
    );
    assert_eq!(ran.feedback(), "Token budget exceeded: used 45 of 30 tokens");
    assert_eq!(
        script.keys().len(),
        3,
        "exactly the budget is allowed, and nothing is sent after it is crossed"
    );
    assert_eq!(
        ran.statuses(0),
        [
            ("a", StepStatus::Done),
            ("b", StepStatus::Failed),
            ("c", StepStatus::Waiting)
        ]
    );
}

#[tokio::test]
async fn a_quotation_that_stands_in_no_result_never_passes() {
    let invented = Reply::Json(json!({ "verdict": "pass", "confidence": 1, "summary": "Great.",
        "criteria": [{ "id": "goal", "verdict": "pass", "evidence": "a passage that the judge made up" }] }));
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "real words", &[])]))),
        ("cycle/1/judge#0/call/0", invented),
        (PLAN_2, plan(json!([write("a", "real words", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.verdict_of(0, "goal"), CriterionVerdict::Unknown);
    assert_eq!(ran.state.cycles[0].evaluation.as_ref().unwrap().verdict, Verdict::Fail);
    assert_eq!(
        ran.stop_reason(),
        StopReason::Passed,
        "the second judge quotes what is there"
    );
}

#[tokio::test]
async fn a_judge_that_cannot_be_read_twice_fails_the_cycle_and_the_loop_goes_on() {
    let long: &'static str = Box::leak(format!("{}LAST and more", "x".repeat(496)).into_boxed_str());
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "x", &[])]))),
        ("cycle/1/judge#0/call/0", Reply::Text("Looks good to me")),
        ("cycle/1/judge#0/call/1", Reply::Text(long)),
        (PLAN_2, plan(json!([write("a", "y", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    let evaluation = ran.state.cycles[0].evaluation.as_ref().unwrap();
    assert_eq!((evaluation.verdict, evaluation.confidence), (Verdict::Fail, 0.0));
    let said = format!(
        "Evaluator produced unparseable response after retry: {}LAST",
        "x".repeat(496)
    );
    assert_eq!(evaluation.feedback.as_ref(), Some(&said));
    assert_eq!(ran.state.cycles.len(), 2);
}

#[tokio::test]
async fn a_plan_that_fails_twice_in_the_same_way_is_not_tried_a_third_time() {
    let nothing = || plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]));
    let script = Script::new([(PLAN_1, nothing()), (PLAN_2, nothing())]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 5"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::NoProgress)
    );
    assert_eq!(ran.state.cycles.len(), 2);
}

#[tokio::test]
async fn the_cycles_run_out() {
    let nothing = || plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])]));
    let script = Script::new([(PLAN_1, plan(json!([write("empty", "", &[])]))), (PLAN_2, nothing())]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::MaxCycles)
    );
    let last = ran.state.cycles[1].evaluation.as_ref().unwrap().feedback.as_deref();
    assert_eq!(Some(ran.feedback()), last, "and not what was said first");
    assert_ne!(
        ran.state.cycles[0].evaluation.as_ref().unwrap().feedback.as_deref(),
        last
    );
    assert!(
        ran.feedback().contains("no step of this plan makes it."),
        "{}",
        ran.feedback()
    );
}

#[tokio::test]
async fn a_model_server_that_is_down_ends_the_run_in_words_and_it_can_be_tried_again() {
    let down = LlmError::new(LlmErrorCode::Connection, "nothing answers at http://127.0.0.1:1");
    let script = Script::new([
        (PLAN_1, Reply::Error(down)),
        ("cycle/1/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.feedback(), "nothing answers at http://127.0.0.1:1");
    ran.app.resume(&ran.run).await.unwrap();
    let Outcome::Finished(result) = ran.app.outcome(&ran.run).await.unwrap() else {
        panic!("it did not end")
    };
    assert_eq!(result.stop_reason, StopReason::Passed);
}

#[tokio::test]
async fn plans_that_fail_in_turn_in_the_same_ways_are_no_progress_either() {
    let look = |path: &str| plan(json!([tool("list", "directory_list", json!({ "path": path }), &[])]));
    let script = Script::new([
        (PLAN_1, look(".")),
        (PLAN_2, look("./")),
        ("cycle/3/plan#0/call/0", look(".")),
    ]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 9"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert_eq!(
        (ran.stop_reason(), ran.state.cycles.len()),
        (StopReason::NoProgress, 3),
        "{}",
        ran.feedback()
    );
}

#[tokio::test]
async fn the_budget_binds_planner_tool_call_and_judge_alike() {
    let mut open = write("a", "", &[]);
    open.as_object_mut().unwrap().remove("args");
    let call = Reply::Tool("file_write", json!({ "path": "out.txt", "content": "x" }));
    for (calls, last) in [
        (1, PLAN_1),
        (2, "cycle/1/step/a#0/tool/0/call"),
        (3, "cycle/1/judge#0/call/0"),
    ] {
        let script = Script::new([
            (PLAN_1, plan(json!([open]))),
            ("cycle/1/step/a#0/tool/0/call", call.clone()),
        ]);
        let limits = format!("limits: {{ maxTokens: {} }}", calls * TOKENS - 1);
        let ran = run(
            &FILE.replace("limits: { maxCycles: 2 }", &limits),
            &script,
            &Answers::new([]),
        )
        .await;
        assert_eq!(ran.stop_reason(), StopReason::Budget, "{last}");
        assert_eq!(script.keys().last().map(String::as_str), Some(last));
    }
}
