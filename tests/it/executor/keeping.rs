//! What a revised plan keeps of the one before.

use super::*;

/// Does something to the folder when a question comes.
struct At<F>(&'static str, F);

#[async_trait]
impl<F: Fn() + Send + Sync> Gate for At<F> {
    async fn pass(&self, key: &str) {
        if key == self.0 {
            (self.1)();
        }
    }
}

/// Two cycles: the first one's file is not good, the second's is.
async fn revise(
    first: Value,
    second: Value,
    meanwhile: impl Fn(&std::path::Path) + Send + Sync + 'static,
) -> (Ran, Arc<Script>) {
    let place = place_with(&[("notes/a.txt", "alpha")]);
    let work = place.work().to_owned();
    let script = Script::behind(
        Arc::new(At(PLAN_2, move || meanwhile(&work))),
        [
            (PLAN_1, plan(first)),
            (PLAN_2, plan(second)),
            ("cycle/1/step/think#0/call/0", Reply::Text("thought over")),
            ("cycle/2/step/think#0/call/0", Reply::Text("thought again")),
            ("cycle/2/step/again#0/call/0", Reply::Text("thought again")),
        ],
    );
    let ran = run(GOOD, place, &script).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    (ran, script)
}

#[tokio::test]
async fn equal_steps_of_a_revised_plan_are_kept_and_cost_nothing() {
    let list = |id: &str| tool(id, "directory_list", json!({ "path": "notes" }), &[]);
    let first = json!([
        list("list"),
        read("read", "notes/a.txt", &[]),
        thought("think", &["read"]),
        write("w", "bad", &[])
    ]);
    let mut again = thought("think", &["r"]);
    again["id"] = json!("again");
    let second = json!([
        list("l"),
        read("r", "notes/a.txt", &[]),
        again,
        write("w", "good {{again}}, {{cycle_1.think}}", &["again"]),
    ]);
    let mut second = second;
    second[3]["inputs"] = json!(["cycle_1.think"]);
    let (ran, script) = revise(first, second, |_| {}).await;
    use StepStatus::{Done, Kept};
    assert_eq!(
        ran.statuses(1),
        [("l", Kept), ("r", Kept), ("again", Kept), ("w", Done)]
    );
    assert_eq!(ran.written("out.txt"), "good thought over, thought over");
    assert_eq!(asked(&script, "cycle/2/step"), 0);
    let kept = ran.step(1, "again");
    assert_eq!(
        (kept.kept_from.as_deref(), kept.tokens_used),
        (Some("cycle_1.think"), 0)
    );
}

#[tokio::test]
async fn what_has_changed_since_is_read_again_and_thought_over_again() {
    let steps = |content: &str| {
        json!([
            read("read", "notes/a.txt", &[]),
            thought("think", &["read"]),
            write("w", content, &["think"])
        ])
    };
    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("notes/a.txt"), "beta").unwrap();
    })
    .await;
    let done = |id: &str| ran.step(1, id).status;
    assert_eq!((done("read"), done("think")), (StepStatus::Done, StepStatus::Done));
}

#[tokio::test]
async fn a_folder_with_another_file_is_listed_again() {
    let steps = |content: &str| {
        json!([
            tool("list", "directory_list", json!({ "path": ".", "maxDepth": 2 }), &[]),
            write("w", content, &[])
        ])
    };
    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("notes/b.txt"), "").unwrap();
    })
    .await;
    assert_eq!(ran.step(1, "list").status, StepStatus::Done);
}

fn side(content: &str, mode: &str) -> Value {
    let args = json!({ "path": "side.txt", "content": content, "mode": mode });
    tool("side", "file_write", args, &[])
}

#[tokio::test]
async fn a_file_that_is_as_it_was_left_is_not_written_again() {
    let steps = |content: &str| json!([side("aside", "overwrite"), write("w", content, &[])]);
    let (ran, _) = revise(steps("bad"), steps("good"), |_| {}).await;
    assert_eq!(ran.step(1, "side").status, StepStatus::Kept);

    let (ran, _) = revise(steps("bad"), steps("good"), |work| {
        std::fs::write(work.join("side.txt"), "a person's words").unwrap();
    })
    .await;
    assert_eq!(
        (ran.step(1, "side").status, ran.written("side.txt")),
        (StepStatus::Done, "aside".to_owned())
    );
}

#[tokio::test]
async fn adding_to_a_file_is_never_kept() {
    let steps = |content: &str| json!([side("more", "append"), write("w", content, &[])]);
    let (ran, _) = revise(steps("bad"), steps("good"), |_| {}).await;
    assert_eq!(
        (ran.step(1, "side").status, ran.written("side.txt")),
        (StepStatus::Done, "moremore".to_owned())
    );
}

#[tokio::test]
async fn what_the_feedback_names_is_done_again() {
    let steps = |content: &str| json!([thought("think", &[]), write("w", content, &["think"])]);
    let (ran, script) = revise(steps("bad"), steps("good"), |_| {}).await;
    let told = script.prompt(PLAN_2);
    assert!(told.contains("Made by w (from think)"), "{told}");
    assert_eq!(ran.step(1, "think").status, StepStatus::Done);
}

#[tokio::test]
async fn another_expectation_or_tier_is_another_step() {
    let steps = |content: &str, change: (&str, Value)| {
        let mut think = thought("think", &[]);
        think[change.0] = change.1;
        json!([think, write("w", content, &[])])
    };
    let low = || ("tier", json!("low"));
    let (ran, _) = revise(steps("bad", low()), steps("good", low()), |_| {}).await;
    assert_eq!(ran.step(1, "think").status, StepStatus::Kept);
    let other = ("expectedOutcome", json!("many words"));
    let (ran, _) = revise(steps("bad", low()), steps("good", other), |_| {}).await;
    assert_eq!(ran.step(1, "think").status, StepStatus::Done);
}
