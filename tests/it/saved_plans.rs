//! The plan of a run that passed, as a flow.

use contract::flow::StepKind;
use contract::run::StopReason;
use engine::flow::reading;
use serde_json::json;
use support::script::{Answers, Reply, Script, plan, thought};

use crate::task_loop::{FILE, PLAN_1, PLAN_2, run, write};

/// A judge that fails the file.
fn fails() -> Reply {
    Reply::Json(
        json!({ "verdict": "fail", "confidence": 0.9, "feedback": "Write something good.", "criteria": [
        { "id": "out.txt/0", "verdict": "fail", "evidence": "it is bad" },
        { "id": "goal", "verdict": "fail", "evidence": "it is bad" },
    ] }),
    )
}

#[tokio::test]
async fn the_plan_that_passed_is_the_flow_with_what_it_used_of_earlier_cycles() {
    let mut again = write("a", "good", &[]);
    again["inputs"] = json!(["cycle_1.think"]);
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([thought("think", &[]), write("a", "bad", &["think"])])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
        ("cycle/1/judge#0/call/0", fails()),
        (PLAN_2, plan(json!([again]))),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!((ran.stop_reason(), ran.state.cycles.len()), (StopReason::Passed, 2));
    let flow = ran.app.flow_of(&ran.run).await.unwrap();
    let StepKind::Tool(tool) = &flow.steps[0].kind else {
        panic!("the step calls one tool")
    };
    assert_eq!((flow.steps.len(), tool.tool.as_str()), (1, "file_write"));
    assert_eq!(tool.args["content"], json!("good"));
    let input = flow.input.as_ref().unwrap();
    assert_eq!(input["properties"]["cycle_1_think"]["default"], json!("hm"));
    let read = reading::read(&serde_json::to_value(&flow).unwrap(), None);
    assert!(read.is_good(), "{:?}", read.problems);
}

#[tokio::test]
async fn a_run_that_did_not_pass_is_not_kept() {
    let script = Script::new([
        (PLAN_1, plan(json!([write("a", "bad", &[])]))),
        ("cycle/1/judge#0/call/0", fails()),
        (PLAN_2, plan(json!([write("a", "also bad", &[])]))),
        ("cycle/2/judge#0/call/0", fails()),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_ne!(ran.stop_reason(), StopReason::Passed);
    assert_eq!(ran.app.flow_of(&ran.run).await.unwrap_err().code, "not_passed");
}
