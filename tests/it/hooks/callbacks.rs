//! How callbacks are called: their order, their failures, what they return.

use super::*;

#[tokio::test]
async fn nonsense_from_a_hook_ends_the_run_in_words() {
    for (event, place) in [
        (HookEvent::PrePlanner, "prompt"),
        (HookEvent::PostPlanner, "steps"),
        (HookEvent::PreExecutor, "plan"),
        (HookEvent::PreStep, "step"),
        (HookEvent::PostStep, "result"),
        (HookEvent::PostExecutor, "results"),
        (HookEvent::PreEvaluator, "results"),
        (HookEvent::PostEvaluator, "verdict"),
    ] {
        let (ran, _, _) = one(changes(event, move |data| data[place] = json!(7))).await;
        assert_eq!(ran.stop_reason(), StopReason::Error, "{event:?}");
        let words = ran.feedback();
        assert!(
            words.contains("the hook \"changes\" returned") && words.contains(event.name()),
            "{words}"
        );
    }
}

#[tokio::test]
async fn the_failure_of_a_bare_hook_ends_the_run_and_the_hook_is_tried_again_when_it_goes_on() {
    let tries = Mutex::new(0);
    let (ran, script, _) = one(hook("fragile", HookEvent::PostStep, move |_, _| {
        let mut tries = tries.lock().unwrap();
        *tries += 1;
        if *tries == 1 {
            return Err(StepError::new("callback_error", "the log is not reachable"));
        }
        Ok(HookReply::Unchanged)
    }))
    .await;
    assert_eq!(
        (ran.stop_reason(), ran.feedback()),
        (StopReason::Error, "the log is not reachable")
    );
    ran.app.resume(&ran.run).await.unwrap();
    let ran = ran.again().await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert_eq!(script.keys().len(), 3, "nothing that was paid for is asked again");
}

#[tokio::test]
async fn a_forgiving_hook_leaves_the_data_as_it_was_and_later_hooks_see_what_earlier_ones_made() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let first = changes(HookEvent::PostPlanner, |plan| plan["reasoning"] = json!("one"));
    let mut broken = hook("broken", HookEvent::PostPlanner, |_, _| panic!("a mistake"));
    broken.forgiving = true;
    let last = Arc::new(hook("last", HookEvent::PostPlanner, |_, _| Ok(HookReply::Unchanged)));
    let ran = with_hooks(
        ANSWER,
        &script,
        &Answers::new([]),
        vec![Arc::new(first), Arc::new(broken), Arc::clone(&last)],
    )
    .await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert_eq!(last.seen.lock().unwrap()[0].0["reasoning"], "one");
    assert_eq!(
        ran.state.header.unwrap().hooks,
        ["changes", "broken", "last", "approval"]
    );
}

#[tokio::test]
async fn a_callback_that_returns_nothing_lets_the_data_pass_unchanged() {
    let came_to = |ran: &Ran| {
        let cycle = &ran.state.cycles[0];
        let evaluation = json!(
            cycle
                .evaluation
                .as_ref()
                .map(|evaluation| (evaluation.verdict, &evaluation.summary))
        );
        let outputs: Vec<Value> = cycle.steps.values().map(|step| json!(step.output)).collect();
        json!([
            cycle.plan,
            outputs,
            evaluation,
            ran.state.scratchpad.contains_key("_execution_summary")
        ])
    };
    let (plain, asked, _) = one(hook("other", HookEvent::PostEvaluator, |_, _| Ok(HookReply::Unchanged))).await;
    for event in EVENTS {
        let silent = Arc::new(hook("silent", event, |_, _| Ok(HookReply::Unchanged)));
        let next = Arc::new(hook("next", event, |_, _| Ok(HookReply::Unchanged)));
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[])]))),
            ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        ]);
        let hooks = vec![Arc::clone(&silent), Arc::clone(&next)];
        let ran = with_hooks(ANSWER, &script, &Answers::new([]), hooks).await;
        let (before, after) = (silent.seen.lock().unwrap(), next.seen.lock().unwrap());
        assert_eq!(after.len(), 1, "{event:?}");
        assert!(
            after[0].0.as_object().is_some_and(|data| !data.is_empty()),
            "{event:?}: {after:?}"
        );
        assert_eq!(after[0].0, before[0].0, "{event:?}");
        assert_eq!(came_to(&ran), came_to(&plain), "{event:?}");
        assert_eq!(script.keys(), asked.keys(), "{event:?}");
    }
}

const EVENTS: [HookEvent; 8] = [
    HookEvent::PrePlanner,
    HookEvent::PostPlanner,
    HookEvent::PreExecutor,
    HookEvent::PreStep,
    HookEvent::PostStep,
    HookEvent::PostExecutor,
    HookEvent::PreEvaluator,
    HookEvent::PostEvaluator,
];

#[tokio::test]
async fn preventing_the_default_leaves_out_the_line_and_nothing_else() {
    let lines = async |ran: &Ran| -> Vec<String> {
        let report = ran.call("run_report", json!({})).await.unwrap();
        let logs = report["logs"].as_array().unwrap().clone();
        logs.iter()
            .map(|line| line["message"].as_str().unwrap().to_owned())
            .collect()
    };
    let (plain, _, _) = one(hook("quiet", HookEvent::PostStep, |_, _| Ok(HookReply::Unchanged))).await;
    let (quiet, _, _) = one(hook("quiet", HookEvent::PostStep, |_, context| {
        context.prevent_default();
        Ok(HookReply::Unchanged)
    }))
    .await;
    let line = "Step \"a\" completed".to_owned();
    assert!(lines(&plain).await.contains(&line), "{:?}", lines(&plain).await);
    assert!(!lines(&quiet).await.contains(&line));
    assert_eq!(quiet.statuses(0), [("a", StepStatus::Done)]);
    assert_eq!(lines(&plain).await.len(), lines(&quiet).await.len() + 1);
}
