//! Hooks around the planner and before the steps.

use super::*;

#[tokio::test]
async fn a_hook_before_the_planner_changes_the_task_and_the_feedback_that_it_is_told() {
    let (ran, script, _) = one(changes(HookEvent::PrePlanner, |data| {
        data["prompt"]["goal"] = json!("Say something kind");
        data["feedback"] = json!("Be brief");
    }))
    .await;
    let told = script.prompt(PLAN_1);
    assert!(
        told.contains("Say something kind") && told.contains("Be brief"),
        "{told}"
    );
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    let thinking = script.prompt("cycle/1/step/a#0/call/0");
    assert!(!thinking.contains("something kind"), "only the planner is told");
}

#[tokio::test]
async fn a_hook_after_the_planner_changes_the_plan_that_is_shown() {
    let (ran, script, _) = one(changes(HookEvent::PostPlanner, |plan| {
        plan["steps"][0]["description"] = json!("Think twice");
    }))
    .await;
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think twice"
    );
    assert!(script.prompt("cycle/1/step/a#0/call/0").contains("Think twice"));
}

#[tokio::test]
async fn a_hook_after_the_planner_adds_a_step_and_takes_one_out() {
    let told = changes(HookEvent::PostPlanner, |plan| {
        let steps = plan["steps"].as_array_mut().unwrap();
        steps.retain(|step| step["id"] != "b");
        steps.push(thought("c", &["a"]));
    });
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ("cycle/1/step/c#0/call/0", Reply::Text("there")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done), ("c", StepStatus::Done)]);
}

#[tokio::test]
async fn a_hook_before_the_steps_changes_the_plan_and_what_steps_are_told() {
    let (ran, script, _) = one(changes(HookEvent::PreExecutor, |data| {
        data["plan"]["steps"][0]["description"] = json!("Think thrice");
        data["prompt"]["goal"] = json!("Say it in French");
        data["prompt"]["context"] = json!({ "tone": "HOOKCONTEXT" });
        data["scratchpad"]["note"] = json!("from a hook");
    }))
    .await;
    let told = script.prompt("cycle/1/step/a#0/call/0");
    for words in ["Think thrice", "Say it in French", "HOOKCONTEXT", "from a hook"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think thrice"
    );
    let changed = ran.events().await.into_iter().find_map(|record| match record.event {
        RunEvent::PlanChanged { by, steps, diff, .. } => Some((by, steps, diff.unwrap_or_default())),
        _ => None,
    });
    let (by, steps, diff) = changed.unwrap();
    assert_eq!((by, steps), (vec!["changes".to_owned()], vec!["a".to_owned()]));
    let [entry] = diff.as_array().unwrap().as_slice() else {
        panic!("{diff}");
    };
    assert_eq!(entry["path"], json!(["steps", "a", "description"]));
    assert_eq!(entry["after"], "Think thrice");
}

#[tokio::test]
async fn a_plan_that_a_hook_changed_is_asked_about_again() {
    let mut told = changes(HookEvent::PreExecutor, |data| {
        data["plan"]["steps"][0]["description"] = json!("Something else");
    });
    told.trusted = false;
    let script = Script::new([(PLAN_1, plan(json!([thought("a", &[])])))]);
    let people = Answers::new([
        Answer::Approve { revisions: true },
        Answer::Reject {
            reason: Some("not that".to_owned()),
        },
    ]);
    let ran = with_hooks(ANSWER, &script, &people, vec![Arc::new(told)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Rejected);
    let hashes: Vec<_> = people
        .asked
        .lock()
        .unwrap()
        .iter()
        .map(|ask| match ask {
            Ask::ApprovePlan { plan_hash, .. } => plan_hash.clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(
        hashes.len() == 2 && hashes[0] != hashes[1],
        "each plan is shown as it is"
    );
}

#[tokio::test]
async fn a_person_who_wants_to_see_every_plan_sees_what_a_hook_made_of_it_when_nothing_else_is_asked() {
    let asked = async |event: HookEvent, change: fn(&mut Value)| {
        let mut told = changes(event, change);
        told.trusted = false;
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[])]))),
            ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ]);
        let people = Answers::new([]);
        let task = format!("{ANSWER}hooks: [{{ askMe: plan }}]\n");
        let options = json!({ "allowHooks": true, "approval": "never" });
        let hooks: Vec<Arc<dyn Hook>> = vec![Arc::new(told)];
        let ran = run_as(&task, options, &script, &people, |config| Config { hooks, ..config }).await;
        assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
        people.asked.lock().unwrap().len()
    };
    let plan = |data: &mut Value| data["plan"]["steps"][0]["description"] = json!("Something else");
    assert_eq!(
        asked(HookEvent::PreExecutor, plan).await,
        2,
        "the plan, and what became of it"
    );
    let step = |data: &mut Value| data["step"]["description"] = json!("Something else");
    assert_eq!(asked(HookEvent::PreStep, step).await, 2, "the plan, and its step");
    assert_eq!(asked(HookEvent::PreStep, |_| {}).await, 1, "the plan");
}

/// Two cycles of a thought and a file, in which the file is mended.
pub(super) fn mended() -> Arc<Script> {
    let steps = |content: &str| {
        let gone = tool("gone", "file_read", json!({ "path": "nowhere.txt" }), &[]);
        plan(json!([
            thought("think", &[]),
            gone,
            thought("after", &["gone"]),
            write("a", content, &[])
        ]))
    };
    Script::new([
        (PLAN_1, steps("bye")),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
        (PLAN_2, steps("hello")),
        ("cycle/2/step/think#0/call/0", Reply::Text("hm")),
    ])
}

pub(super) const HELLO: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file, \
    criteria: [{ text: It says hello, check: { contains: hello } }] }]\nlimits: { maxCycles: 2 }\n\
    models: { planner: 'scripted:m' }\n";

#[tokio::test]
async fn what_steps_are_told_by_a_hook_counts_for_what_is_kept() {
    let statuses = async |hooks: Vec<Arc<Told>>| {
        let ran = with_hooks(HELLO, &mended(), &Answers::new([]), hooks).await;
        assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
        ran.state.cycles[1].steps["think"].status
    };
    assert_eq!(statuses(vec![]).await, StepStatus::Kept);
    let french = changes(HookEvent::PreExecutor, |data| {
        if data["cycle"] == 2 {
            data["prompt"]["goal"] = json!("Say it in French");
        }
    });
    assert_eq!(statuses(vec![Arc::new(french)]).await, StepStatus::Done);
}
