//! How the steps of a plan run, and what each is given.

use contract::llm::{FinishReason, ToolUse};

use super::*;

/// The step that begins with this event.
fn begun(event: RunEvent) -> Option<String> {
    match event {
        RunEvent::StepStarted { step, .. } => Some(step),
        _ => None,
    }
}

#[tokio::test]
async fn steps_run_in_the_seeds_order_and_see_only_what_they_declared() {
    let steps = json!([
        thought("A", &[]),
        thought("B", &["A"]),
        thought("C", &[]),
        thought("D", &["B", "C"])
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        ("cycle/1/step/A#0/call/0", Reply::Text("apple")),
        ("cycle/1/step/B#0/call/0", Reply::Text("banana")),
        ("cycle/1/step/C#0/call/0", Reply::Text("cherry")),
        ("cycle/1/step/D#0/call/0", Reply::Text("date")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed);
    // A and C are asked at once, and whose question arrives first is nobody's to say; that they begin in this order is.
    let order: Vec<String> = ran
        .events()
        .await
        .into_iter()
        .filter_map(|record| begun(record.event))
        .collect();
    assert_eq!(order, ["A", "C", "B", "D"]);
    let given = script.prompt("cycle/1/step/D#0/call/0");
    assert!(
        given.contains("banana") && given.contains("cherry") && !given.contains("apple"),
        "{given}"
    );
}

#[tokio::test]
async fn what_needs_a_failed_step_is_skipped() {
    let steps = json!([
        tool("read", "file_read", json!({ "path": "gone.txt" }), &[]),
        thought("think", &["read"]),
        write("write", "{{think}}", &["think"]),
        thought("other", &[]),
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
        ("cycle/1/step/other#0/call/0", Reply::Text("fine")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    use StepStatus::{Done, Failed, Skipped};
    assert_eq!(
        ran.statuses(0),
        [
            ("read", Failed),
            ("think", Skipped),
            ("write", Skipped),
            ("other", Done)
        ]
    );
    assert_eq!(ran.error("think"), "Skipped: dependency \"read\" failed");
    assert_eq!(ran.error("write"), "Skipped: dependency \"think\" failed");
    assert!(ran.error("read").contains("gone.txt"));
    assert!(
        !script.keys().iter().any(|key| key.contains("judge")),
        "a failed check decides without the model"
    );
}

#[tokio::test]
async fn a_model_that_answers_in_words_where_a_tool_is_needed_fails_the_step() {
    let mut step = tool("a", "file_write", json!({}), &[]);
    step.as_object_mut().unwrap().remove("args");
    let script = Script::new([
        (PLAN_1, plan(json!([step]))),
        ("cycle/1/step/a#0/tool/0/call", Reply::Text("I wrote it.")),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        ran.error("a"),
        "LLM did not call tool \"file_write\" — no tool_use block in response"
    );
}

#[tokio::test]
async fn a_model_makes_the_arguments_that_the_plan_leaves_open() {
    let mut step = write("a", "", &["words"]);
    step.as_object_mut().unwrap().remove("args");
    let script = Script::new([
        (PLAN_1, plan(json!([thought("words", &[]), step]))),
        ("cycle/1/step/words#0/call/0", Reply::Text("hello, file")),
        (
            "cycle/1/step/a#0/tool/0/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "{{words}}!" })),
        ),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{}", ran.feedback());
    assert_eq!(
        std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap(),
        "hello, file!"
    );
    let request = script
        .asked
        .lock()
        .unwrap()
        .iter()
        .find(|request| request.key.as_str().ends_with("tool/0/call"))
        .cloned()
        .unwrap();
    assert_eq!(
        request.tool_choice,
        contract::llm::ToolChoice::Tool("file_write".to_owned())
    );
}

#[tokio::test]
async fn a_reference_that_leads_nowhere_fails_the_step_and_names_it() {
    let steps = json!([
        tool("list", "directory_list", json!({ "path": "." }), &[]),
        write("a", "{{list[7].name}}", &["list"])
    ]);
    let script = Script::new([
        (PLAN_1, plan(steps)),
        (PLAN_2, Reply::Text("no")),
        ("cycle/2/plan#0/call/1", Reply::Text("no")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert!(ran.error("a").contains("list[7].name"), "{}", ran.error("a"));
    assert!(!ran.place.work().join("out.txt").exists());
}

#[tokio::test]
async fn a_text_that_was_cut_off_is_no_result() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Cut("It was a dark and")),
    ]);
    let task = ANSWER.to_owned() + "limits: { maxCycles: 1 }\n";
    let ran = run(&task, &script, &Answers::new([])).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Failed)]);
}

/// Why an answer is none, and what a person reads then.
const NO_ANSWERS: [(FinishReason, &str); 3] = [
    (FinishReason::Unknown, "may not be whole"),
    (FinishReason::Refusal, "declined to answer"),
    (FinishReason::ContentFilter, "took its answer away"),
];

#[tokio::test]
async fn an_answer_that_was_taken_away_refused_or_not_explained_is_no_result_and_calls_nothing() {
    for (finish_reason, words) in NO_ANSWERS {
        let odd = |text: &str, tool: Option<Value>| Reply::Said {
            text: text.to_owned(),
            tool_uses: Vec::from_iter(tool.map(|input| ToolUse {
                id: "call_1".to_owned(),
                name: "file_write".to_owned(),
                input,
                carried: None,
                made_by: None,
            })),
            finish_reason,
        };
        let args = json!({ "path": "out.txt", "content": "half of" });
        let mut open = write("b", "", &[]);
        open["args"] = json!({});
        let mut free = write("c", "", &[]);
        free["mode"] = json!("free");
        free["args"] = json!({});
        let script = Script::new([
            (PLAN_1, plan(json!([thought("a", &[]), open, free]))),
            ("cycle/1/step/a#0/call/0", odd("It was a dark and", None)),
            ("cycle/1/step/b#0/tool/0/call", odd("", Some(args.clone()))),
            ("cycle/1/step/c#0/round/0/call", odd("", Some(args))),
        ]);
        let task = ANSWER.to_owned() + "limits: { maxCycles: 1, retryAttempts: 0 }\n";
        let ran = run(&task, &script, &Answers::new([])).await;
        for step in ["a", "b", "c"] {
            let said = ran.error(step);
            assert!(said.contains(words), "{finish_reason:?}, {step}: {said}");
        }
        assert!(!ran.place.work().join("out.txt").exists());
    }
}

#[tokio::test]
async fn an_agent_of_a_flow_uses_no_tool_that_was_called_in_half_an_answer() {
    let flow = json!({ "id": "f", "model": "scripted:m", "steps": [
        { "id": "a", "agent": { "instructions": "Write the letter.", "tools": ["file_write"] } },
        { "id": "r", "answer": { "text": "{{a}}" } },
    ] });
    let cut = (FinishReason::MaxTokens, "cut off");
    for (finish_reason, words) in NO_ANSWERS.into_iter().chain([cut]) {
        let script = Script::new([(
            "phase/a/1#0/round/0/call",
            Reply::Said {
                text: String::new(),
                tool_uses: vec![ToolUse {
                    id: "call_1".to_owned(),
                    name: "file_write".to_owned(),
                    input: json!({ "path": "out.txt", "content": "half of" }),
                    carried: None,
                    made_by: None,
                }],
                finish_reason,
            },
        )]);
        let place = Place::default();
        let config = Config {
            providers: vec![Arc::clone(&script) as _],
            people: Some(Answers::new([])),
            ..place.config()
        };
        let app = App::open(config).await.unwrap();
        let input = app::FlowInput {
            input: json!("x"),
            ..app::FlowInput::default()
        };
        let (refs, folder) = (Default::default(), place.folder());
        let header = app.flow_header(&flow, &refs, input, &folder, None).await.unwrap();
        let run = app.start(header).await.unwrap();
        app.outcome(&run).await.unwrap();
        let feedback = app.state(&run).await.unwrap().result.unwrap().feedback;
        assert!(feedback.contains(words), "{finish_reason:?}: {feedback}");
        assert_eq!(script.keys(), ["phase/a/1#0/round/0/call"]);
        assert!(!place.work().join("out.txt").exists(), "{finish_reason:?}");
    }
}

#[tokio::test]
async fn a_plan_or_a_verdict_that_was_taken_away_counts_for_nothing_and_is_not_asked_for_again() {
    let said = |reply: Reply, finish_reason| match reply {
        Reply::Json(value) => Reply::Said {
            text: value.to_string(),
            tool_uses: Vec::new(),
            finish_reason,
        },
        reply => reply,
    };
    let passing = json!({ "verdict": "pass", "confidence": 1.0, "summary": "Done.", "criteria": [
        { "id": "answer/0", "verdict": "pass", "evidence": "hello" },
        { "id": "goal", "verdict": "pass", "evidence": "hello" },
    ] });
    let one_cycle = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    for (finish_reason, words) in NO_ANSWERS {
        let good = plan(json!([thought("a", &[])]));
        let of_plan = Script::new([(PLAN_1, said(good.clone(), finish_reason))]);
        let of_judge = Script::new([
            (PLAN_1, good),
            ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
            (
                "cycle/1/judge#0/call/0",
                said(Reply::Json(passing.clone()), finish_reason),
            ),
        ]);
        for (script, last) in [(of_plan, PLAN_1), (of_judge, "cycle/1/judge#0/call/0")] {
            let ran = run(&one_cycle, &script, &Answers::new([])).await;
            assert_eq!(ran.stop_reason(), StopReason::Error, "{finish_reason:?}, {last}");
            assert!(ran.feedback().contains(words), "{finish_reason:?}: {}", ran.feedback());
            assert_eq!(script.keys().last().map(String::as_str), Some(last));
        }
    }
}

#[tokio::test]
async fn the_scratchpad_is_one_for_the_run_and_the_summary_accumulates() {
    let note = tool(
        "note",
        "scratchpad",
        json!({ "action": "write", "key": "colour", "value": "blue" }),
        &[],
    );
    let read = tool(
        "read",
        "scratchpad",
        json!({ "action": "read", "key": "colour" }),
        &["note"],
    );
    let script = Script::new([
        (PLAN_1, plan(json!([note]))),
        (
            PLAN_2,
            plan(json!([
                thought("note", &[]),
                read,
                write("a", "{{read.value}}", &["read"]),
                tool("gone", "file_read", json!({ "path": "nowhere.txt" }), &[])
            ])),
        ),
        ("cycle/2/step/note#0/call/0", Reply::Text("noted")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    assert_eq!(
        std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap(),
        "blue"
    );
    assert!(script.prompt("cycle/2/step/note#0/call/0").contains("colour: blue"));
    let mut told: Vec<Value> = Vec::new();
    for name in ["_execution_summary", "_execution_summary/2"] {
        let summary = &ran.state.scratchpad[name];
        let value = call(&ran.app, "artifact_read", json!({ "hash": summary.hash })).await;
        let value = summary
            .inline
            .clone()
            .unwrap_or_else(|| value.unwrap()["value"].clone());
        told.extend(value.as_array().unwrap().clone());
    }
    let output = |cycle: usize, step: &str| ran.state.cycles[cycle].steps[step].output.clone().unwrap().inline;
    let error = ran.state.cycles[1].steps["gone"].error.clone().unwrap().message;
    let done = |cycle: usize, step: &str| {
        let output = output(cycle - 1, step);
        json!({ "cycle": cycle, "stepId": step, "status": "success", "output": output })
    };
    let gone = json!({ "cycle": 2, "stepId": "gone", "status": "failure", "output": null, "error": error });
    assert_eq!(told.len(), 5);
    for entry in [done(1, "note"), done(2, "note"), done(2, "read"), done(2, "a"), gone] {
        assert!(told.contains(&entry), "{entry}: {told:?}");
    }
}

#[tokio::test]
async fn only_the_tool_that_was_asked_for_is_called() {
    let mut open = tool("a", "file_read", json!({}), &[]);
    open.as_object_mut().unwrap().remove("args");
    let other = Reply::Tool("file_write", json!({ "path": "out.txt", "content": "x" }));
    let script = Script::new([(PLAN_1, plan(json!([open]))), ("cycle/1/step/a#0/tool/0/call", other)]);
    let ran = run(
        &FILE.replace("maxCycles: 2", "maxCycles: 1"),
        &script,
        &Answers::new([]),
    )
    .await;
    assert!(
        ran.error("a").starts_with("LLM did not call tool \"file_read\""),
        "{}",
        ran.error("a")
    );
    assert!(!ran.place.work().join("out.txt").exists());
}
