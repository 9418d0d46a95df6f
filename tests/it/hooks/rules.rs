//! The rules that a person allows, which are hooks without code.

use super::*;

/// A run of a task with these rules, allowed.
async fn ruled(rules: &str, script: &Arc<Script>, people: &Arc<Answers>) -> Ran {
    let task = format!("{FILE}hooks: [{rules}]\n");
    run_as(&task, json!({ "allowHooks": true }), script, people, |config| config).await
}

#[tokio::test]
async fn rules_are_off_until_a_person_allows_them() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let task = format!("{FILE}hooks: [{{ forbid: file_write }}]\n");
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let checked = support::call(&ran.app, "task_check", json!({ "source": task }))
        .await
        .unwrap();
    assert_eq!(checked["hooks"], json!(["Never use \"file_write\""]));
}

#[tokio::test]
async fn a_forbidden_tool_is_not_there() {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "x", &[])]))),
        ("cycle/1/plan#0/call/1", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = ruled("{ forbid: file_write }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Error);
    assert!(
        ran.feedback().contains("unknown tool \"file_write\""),
        "{}",
        ran.feedback()
    );
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn a_plan_with_too_many_steps_goes_back_to_the_planner_once() {
    let long = || plan(json!([write("a", "x", &[]), thought("b", &[]), thought("c", &[])]));
    let script = Script::new([
        (PLAN_1, long()),
        ("cycle/1/plan#1/call/0", plan(json!([write("a", "x", &[])]))),
    ]);
    let ran = ruled("{ maxSteps: 2 }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert!(script.prompt("cycle/1/plan#1/call/0").contains("at most 2 are allowed"));
    let script = Script::new([(PLAN_1, long()), ("cycle/1/plan#1/call/0", long())]);
    let ran = ruled("{ maxSteps: 2 }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
}

#[tokio::test]
async fn a_person_is_asked_before_a_step_that_uses_a_tool() {
    let steps = || plan(json!([thought("think", &[]), write("a", "x", &["think"])]));
    let script = || Script::new([(PLAN_1, steps()), ("cycle/1/step/think#0/call/0", Reply::Text("hm"))]);
    let people = Answers::new([
        Answer::Approve { revisions: false },
        Answer::Reject {
            reason: Some("do not write".to_owned()),
        },
    ]);
    let ran = ruled("{ askMe: { tool: file_write } }", &script(), &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().contains("do not write"), "{}", ran.feedback());
    assert!(!ran.place.work().join("out.txt").exists());
    let asked = people.asked.lock().unwrap();
    assert!(
        asked.len() == 2 && matches!(&asked[1], Ask::RunStep { step, .. } if step == "a"),
        "{asked:?}"
    );
}

#[tokio::test]
async fn a_person_is_asked_before_every_step_and_every_plan() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("a", "file_read", json!({ "path": "gone" }), &[])])),
        ),
        (PLAN_2, plan(json!([write("a", "x", &[])]))),
    ]);
    let people = Answers::new([Answer::Approve { revisions: true }]);
    let ran = ruled("{ askMe: plan }, { askMe: step }", &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let asked = people.asked.lock().unwrap();
    let plans = asked
        .iter()
        .filter(|ask| matches!(ask, Ask::ApprovePlan { .. }))
        .count();
    assert_eq!(
        (plans, asked.len() - plans),
        (2, 2),
        "what was allowed before does not count: {asked:?}"
    );
}

const THIRD: &str = "cycle/1/step/c#0/call/0";

/// Says yes to a plan at once; to a step only when a model was asked what the third step asks.
struct AfterThought(Arc<Doors>);

#[async_trait]
impl People for AfterThought {
    async fn answer(&self, _run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        if matches!(ask, Ask::RunStep { .. }) {
            // Who holds the third step back never sees it come, and is told so after a while.
            tokio::time::timeout(Duration::from_secs(60), self.0.came([THIRD]))
                .await
                .ok()?;
        }
        Some(Answer::Approve { revisions: false })
    }
}

#[tokio::test]
async fn a_step_that_waits_for_a_person_keeps_no_other_from_working() {
    let steps = json!([write("a", "x", &[]), write("b", "x", &[]), thought("c", &[])]);
    let doors = Doors::at([]);
    let replies = [(PLAN_1, plan(steps)), (THIRD, Reply::Text("hm"))];
    let script = Script::behind(Arc::clone(&doors) as _, replies);
    let task =
        FILE.replace("maxCycles: 2", "maxCycles: 2, maxParallel: 2") + "hooks: [{ askMe: { tool: file_write } }]\n";
    let people = Arc::new(AfterThought(doors));
    let ran = run_as(
        &task,
        json!({ "allowHooks": true }),
        &script,
        &Answers::new([]),
        |config| Config {
            people: Some(people),
            ..config
        },
    )
    .await;
    assert_eq!(
        ran.state.result.as_ref().map(|result| result.stop_reason),
        Some(StopReason::Passed)
    );
}

fn doubtful(confidence: f64) -> Reply {
    Reply::Json(
        json!({ "verdict": "fail", "confidence": confidence, "feedback": "Too dull.",
        "criteria": [{ "id": "goal", "verdict": "fail", "evidence": "x" }, { "id": "out.txt/0", "verdict": "pass", "evidence": "x" }] }),
    )
}

#[tokio::test]
async fn a_verdict_of_low_confidence_stops_the_run() {
    let judge = "cycle/1/judge#0/call/0";
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, doubtful(0.2))]);
    let ran = ruled("{ stop: { below: 0.3 } }", &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().contains("Too dull."), "{}", ran.feedback());
    assert_eq!(ran.state.cycles.len(), 1);
}

#[tokio::test]
async fn a_failed_verdict_of_high_confidence_is_accepted_when_a_rule_says_so() {
    let judge = "cycle/1/judge#0/call/0";
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, doubtful(0.95))]);
    let ran = ruled("{ accept: { above: 0.9 } }", &script, &Answers::new([])).await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Pass, StopReason::Accepted)
    );
    assert_eq!(
        json!(ran.state.cycles[0].evaluation.as_ref().unwrap().verdict),
        json!("fail")
    );
}

#[tokio::test]
async fn a_judge_that_is_hardly_sure_stops_the_run_although_it_passes() {
    let judge = "cycle/1/judge#0/call/0";
    let criteria = ["goal", "out.txt/0"].map(|id| json!({ "id": id, "verdict": "pass", "evidence": "x" }));
    let passes = json!({ "verdict": "pass", "confidence": 0.1, "summary": "Maybe.", "criteria": criteria });
    let script = || {
        let passes = Reply::Json(passes.clone());
        Script::new([(PLAN_1, plan(json!([write("a", "x", &[])]))), (judge, passes)])
    };
    let ran = ruled("{ stop: { below: 0.3 } }", &script(), &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    assert!(ran.feedback().ends_with("(your rule). Maybe."), "{}", ran.feedback());
    let ran = ruled("{ stop: { above: 0.05 } }", &script(), &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
}
