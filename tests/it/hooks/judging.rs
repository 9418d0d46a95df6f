//! Hooks around the judge.

use super::*;

#[tokio::test]
async fn a_hook_before_the_judge_changes_what_is_judged() {
    let (_, script, _) = one(changes(HookEvent::PreEvaluator, |data| {
        data["prompt"]["expectedOutput"] = json!("A few polite words");
        data["results"][0]["output"] = json!("HOOKRESULT");
        data["scratchpad"]["note"] = json!("HOOKNOTE");
    }))
    .await;
    let asked = script.asked.lock().unwrap();
    let judged = serde_json::to_string(&asked.last().unwrap().messages).unwrap();
    for words in ["A few polite words", "HOOKRESULT", "HOOKNOTE"] {
        assert!(judged.contains(words), "{words}: {judged}");
    }
}

#[tokio::test]
async fn a_hook_after_the_judge_changes_the_verdict_and_the_judges_stays_visible() {
    let told = hook("changes", HookEvent::PostEvaluator, |data, context| {
        let mut evaluation = data.clone();
        if context.meta.cycle_number == 1 {
            evaluation["verdict"] = json!("fail");
            evaluation["feedback"] = json!("Not kind enough");
        }
        Ok(HookReply::Replaced(evaluation))
    });
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
        (PLAN_2, plan(json!([thought("b", &[])]))),
        ("cycle/2/step/b#0/call/0", Reply::Text("dear")),
    ]);
    let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    let cycle = &ran.state.cycles[0];
    assert_eq!(json!(cycle.evaluation.as_ref().unwrap().verdict), json!("pass"));
    let changed = cycle.changed_verdict.as_ref().unwrap();
    assert_eq!(
        (json!(changed.evaluation.verdict), changed.by.as_slice()),
        (json!("fail"), &["changes".to_owned()][..])
    );
    assert!(script.prompt(PLAN_2).contains("Not kind enough"), "the planner is told");
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
}

#[tokio::test]
async fn the_judges_events_fire_when_a_check_decides_too() {
    let before = Arc::new(hook("before", HookEvent::PreEvaluator, |_, _| Ok(HookReply::Unchanged)));
    let after = Arc::new(hook("after", HookEvent::PostEvaluator, |_, _| Ok(HookReply::Unchanged)));
    let script = Script::new([(
        PLAN_1,
        plan(json!([tool("list", "directory_list", json!({ "path": "." }), &[])])),
    )]);
    let task = FILE.replace("maxCycles: 2", "maxCycles: 1");
    with_hooks(
        &task,
        &script,
        &Answers::new([]),
        vec![Arc::clone(&before), Arc::clone(&after)],
    )
    .await;
    assert_eq!(script.keys().len(), 1, "no judge was asked");
    assert_eq!(before.seen.lock().unwrap().len(), 1);
    assert_eq!(after.seen.lock().unwrap()[0].0["confidence"], 1.0);
}
