//! Hooks around each step and after all of them.

use super::planning::{HELLO, mended};
use super::*;

#[tokio::test]
async fn a_result_names_its_step_and_counts_each_of_its_model_calls() {
    let mut twice = tool("twice", "directory_list", json!({}), &[]);
    twice["tools"] = json!(["directory_list", "file_read"]);
    twice["args"] = json!({});
    let missing = tool("missing", "file_read", json!({ "path": "nowhere.txt" }), &[]);
    let script = Script::new([
        (PLAN_1, plan(json!([thought("once", &[]), twice, missing]))),
        ("cycle/1/step/once#0/call/0", Reply::Text("hello")),
        (
            "cycle/1/step/twice#0/tool/0/call",
            Reply::Tool("directory_list", json!({ "path": "." })),
        ),
        (
            "cycle/1/step/twice#0/tool/1/call",
            Reply::Tool("file_read", json!({ "path": "nowhere.txt" })),
        ),
    ]);
    let told = Arc::new(hook("told", HookEvent::PostStep, |_, _| Ok(HookReply::Unchanged)));
    with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::clone(&told)]).await;
    let mut results: Vec<Value> = told
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(data, _)| data["result"].clone())
        .collect();
    results.sort_by_key(|result| result["stepId"].to_string());
    let said = |result: &Value| {
        let fields = result.as_object().unwrap();
        let mut names: Vec<&str> = fields
            .keys()
            .map(String::as_str)
            .filter(|name| *name != "error")
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["durationMs", "output", "status", "stepId", "tokensUsed"],
            "{result}"
        );
        assert!(result["durationMs"].is_u64(), "{result}");
        let failed = result["error"]
            .as_str()
            .is_some_and(|error| error.contains("nowhere.txt"));
        json!([
            result["stepId"],
            result["status"],
            result["output"],
            result["tokensUsed"],
            failed
        ])
    };
    let said: Vec<Value> = results.iter().map(said).collect();
    assert_eq!(
        said,
        [
            json!(["missing", "failure", null, 0, true]),
            json!(["once", "success", "hello", TOKENS, false]),
            json!(["twice", "failure", null, 2 * TOKENS, true]),
        ]
    );
}

#[tokio::test]
async fn what_a_hook_makes_of_a_result_can_be_found_by_whoever_was_given_it() {
    let long = "polished ".repeat(700);
    for output in [json!(long), json!("short")] {
        let told = changes(HookEvent::PostExecutor, move |data| {
            if data["results"][0]["stepId"] == "a" {
                data["results"][0]["output"] = output.clone();
            }
        });
        let mut second = thought("b", &[]);
        second["inputs"] = json!(["cycle_1.a"]);
        let fails = json!({ "verdict": "fail", "confidence": 1, "feedback": "More.",
            "criteria": [{ "id": "answer/0", "verdict": "fail", "evidence": "" }, { "id": "goal", "verdict": "fail", "evidence": "" }] });
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[])]))),
            ("cycle/1/step/a#0/call/0", Reply::Text("raw")),
            ("cycle/1/judge#0/call/0", Reply::Json(fails)),
            (PLAN_2, plan(json!([second]))),
            ("cycle/2/step/b#0/call/0", Reply::Text("done")),
        ]);
        let ran = with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
        let given = ran.events().await.into_iter().find_map(|record| match record.event {
            RunEvent::StepStarted { step, inputs, .. } if step == "b" => Some(inputs),
            _ => None,
        });
        let hash = given.unwrap()[0].hash.clone();
        let store = store::Store::open(ran.place.data()).await.unwrap();
        let kept = contract::ports::journal::Journal::artifact(&store, &hash)
            .await
            .unwrap();
        assert!(kept.is_some(), "nothing holds {}", hash.as_str());
    }
}

#[tokio::test]
async fn a_hook_before_a_step_changes_the_step() {
    let (ran, script, _) = one(changes(HookEvent::PreStep, |data| {
        data["step"]["description"] = json!("Think harder");
    }))
    .await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    assert!(script.prompt("cycle/1/step/a#0/call/0").contains("Think harder"));
    assert_eq!(
        ran.state.cycles[0].plan.as_ref().unwrap().steps[0].description,
        "Think harder"
    );
}

#[tokio::test]
async fn a_hook_after_a_step_changes_its_result() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[]), thought("b", &["a"])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("raw")),
        ("cycle/1/step/b#0/call/0", Reply::Text("done")),
    ]);
    let told = changes(HookEvent::PostStep, |data| {
        if data["step"]["id"] == "a" {
            data["result"]["output"] = json!("polished");
        }
    });
    with_hooks(ANSWER, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    let given = script.prompt("cycle/1/step/b#0/call/0");
    assert!(given.contains("polished") && !given.contains("raw"), "{given}");
}

#[tokio::test]
async fn a_hook_after_the_steps_changes_the_results_that_are_judged() {
    let (_, script, _) = one(changes(HookEvent::PostExecutor, |data| {
        data["results"][0]["output"] = json!("goodbye");
    }))
    .await;
    let judged = &script.asked.lock().unwrap();
    let judged = serde_json::to_string(&judged.last().unwrap().messages).unwrap();
    assert!(judged.contains("goodbye") && !judged.contains("hello"), "{judged}");
}

#[tokio::test]
async fn a_note_that_a_hook_took_out_of_the_scratchpad_is_gone() {
    let told = changes(HookEvent::PreExecutor, |data| {
        if data["cycle"] == 2 {
            data["scratchpad"].as_object_mut().unwrap().remove("note");
        }
    });
    let note = json!({ "action": "write", "key": "note", "value": "PADWORD" });
    let script = Script::new([
        (PLAN_1, plan(json!([tool("note", "scratchpad", note, &[])]))),
        (
            PLAN_2,
            plan(json!([thought("think", &[]), write("a", "x", &["think"])])),
        ),
        ("cycle/2/step/think#0/call/0", Reply::Text("hm")),
    ]);
    let ran = with_hooks(FILE, &script, &Answers::new([]), vec![Arc::new(told)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert!(script.prompt(PLAN_2).contains("PADWORD"), "it was there");
    let thinking = script.prompt("cycle/2/step/think#0/call/0");
    assert!(!thinking.contains("PADWORD"), "{thinking}");
}

#[tokio::test]
async fn a_step_that_is_kept_or_skipped_is_shown_to_the_hooks_after_steps() {
    let seen = Arc::new(hook("watch", HookEvent::PostStep, |_, _| Ok(HookReply::Unchanged)));
    let ran = with_hooks(HELLO, &mended(), &Answers::new([]), vec![Arc::clone(&seen)]).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    let told: Vec<String> = seen
        .seen
        .lock()
        .unwrap()
        .iter()
        .map(|(data, _)| format!("{} {} {}", data["cycle"], data["step"]["id"], data["result"]["status"]))
        .collect();
    for cycle in [1, 2] {
        for (id, status) in [
            ("think", "success"),
            ("gone", "failure"),
            ("after", "failure"),
            ("a", "success"),
        ] {
            let line = format!("{cycle} \"{id}\" \"{status}\"");
            assert_eq!(told.iter().filter(|told| **told == line).count(), 1, "{line}: {told:?}");
        }
    }
}
