//! What a person allows, and that exactly that is done.

use super::*;

#[tokio::test]
async fn rejecting_ends_the_run_before_anything_happens() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let ran = run(
        FILE,
        &script,
        &Answers::new([Answer::Reject {
            reason: Some("too risky".to_owned()),
        }]),
    )
    .await;
    assert_eq!(
        (ran.state.status(), ran.stop_reason()),
        (RunStatus::Fail, StopReason::Rejected)
    );
    assert!(ran.feedback().contains("too risky"));
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn an_approval_binds_exactly_the_plan_that_was_shown() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let people = Answers::new([]);
    let ran = run(FILE, &script, &people).await;
    let Ask::ApprovePlan {
        plan_hash, envelope, ..
    } = people.asked.lock().unwrap()[0].clone()
    else {
        panic!("no plan was shown")
    };
    let shown: contract::plan::Plan = serde_json::from_value(plan_value(json!([write("a", "x", &[])]))).unwrap();
    assert_eq!(plan_hash, shown.hash().unwrap());
    assert!(envelope.write && !envelope.folder.is_empty());
    assert_eq!(ran.state.cycles[0].approved_by, Some(ApprovedBy::Person));
}

#[tokio::test]
async fn revisions_run_without_asking_when_that_was_allowed() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("a", "file_read", json!({ "path": "gone" }), &[])])),
        ),
        (PLAN_2, plan(json!([write("a", "mended", &[])]))),
    ]);
    let people = Answers::new([Answer::Approve { revisions: true }]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(people.asked.lock().unwrap().len(), 1);
    assert_eq!(ran.state.cycles[1].approved_by, Some(ApprovedBy::EarlierApproval));
    let told = script.prompt(PLAN_2);
    assert!(
        told.contains("out.txt") && told.contains("cycle_1.a: failure"),
        "{told}"
    );
}

#[tokio::test]
async fn a_file_cannot_grant_itself_an_approval() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "x", &[])])))]);
    let people = Answers::new([]);
    let ran = run(&(FILE.to_owned() + "approval: never\n"), &script, &people).await;
    assert_eq!(ran.state.cycles[0].approved_by, Some(ApprovedBy::Person));
    assert_eq!(people.asked.lock().unwrap().len(), 1);
}
