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

/// The plan of one step that writes `text`, as a person hands it back.
fn edited(text: &str) -> contract::plan::Plan {
    serde_json::from_value(plan_value(json!([write("a", text, &[])]))).unwrap()
}

#[tokio::test]
async fn a_plan_that_a_person_changed_is_what_is_approved_and_what_runs() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "planned", &[])])))]);
    let edited = edited("edited by a person");
    let people = Answers::new([Answer::ApproveEdited {
        plan: edited.clone(),
        revisions: false,
    }]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let written = std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap();
    assert_eq!(written, "edited by a person");
    assert_eq!(ran.state.cycles[0].plan.as_ref(), Some(&edited));
    let mut changed = None;
    let mut approved = Vec::new();
    for record in ran.events().await {
        match record.event {
            RunEvent::PlanChanged { by, steps, diff, .. } => changed = Some((by, steps, diff.unwrap_or_default())),
            RunEvent::PlanApproved { plan_hash, by, .. } => approved.push((plan_hash, by)),
            _ => {}
        }
    }
    let (by, steps, diff) = changed.unwrap();
    assert_eq!((by, steps), (Vec::new(), vec!["a".to_owned()]));
    assert_eq!(diff[0]["path"], json!(["steps", "a", "args", "file_write", "content"]));
    assert_eq!(
        (&diff[0]["before"], &diff[0]["after"]),
        (&json!("planned"), &json!("edited by a person"))
    );
    assert_eq!(approved, [(edited.hash().unwrap(), ApprovedBy::Person)]);
}

#[tokio::test]
async fn a_changed_plan_that_breaks_the_rules_is_asked_about_again_and_never_runs() {
    let script = Script::new([(PLAN_1, plan(json!([write("a", "planned", &[])])))]);
    let mut broken = edited("never");
    broken.steps[0].dependencies = vec!["nowhere".to_owned()];
    let people = Answers::new([
        Answer::ApproveEdited {
            plan: broken,
            revisions: true,
        },
        Answer::Approve { revisions: false },
    ]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(
        std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap(),
        "planned"
    );
    let asked = people.asked.lock().unwrap();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0], asked[1], "the plan that was shown is shown again");
}

#[tokio::test]
async fn revisions_of_a_changed_plan_run_without_asking_when_that_was_allowed() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([tool("a", "file_read", json!({ "path": "gone" }), &[])])),
        ),
        (PLAN_2, plan(json!([write("a", "mended", &[])]))),
    ]);
    let plan = serde_json::from_value(plan_value(json!([tool(
        "a",
        "file_read",
        json!({ "path": "gone too" }),
        &[]
    )])));
    let people = Answers::new([Answer::ApproveEdited {
        plan: plan.unwrap(),
        revisions: true,
    }]);
    let ran = run(FILE, &script, &people).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(people.asked.lock().unwrap().len(), 1);
    assert_eq!(ran.state.cycles[1].approved_by, Some(ApprovedBy::EarlierApproval));
}
