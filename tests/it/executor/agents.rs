//! Agent steps: rounds of looking and acting with their own tools.

use super::*;

fn agent(id: &str, tools: &[&str], rounds: Option<u32>) -> Value {
    let mut step = thought(id, &[]);
    step["tools"] = json!(tools);
    step["mode"] = json!("free");
    if let Some(rounds) = rounds {
        step["maxRounds"] = json!(rounds);
    }
    step
}

#[tokio::test]
async fn an_agent_step_looks_acts_and_looks_again_until_it_answers() {
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["file_read", "file_write"], None)]))),
        (
            "cycle/1/step/a#0/round/0/call",
            Reply::Tool("file_read", json!({ "path": "gone.txt" })),
        ),
        (
            "cycle/1/step/a#0/round/1/call",
            Reply::Tool("file_read", json!({ "path": "notes/a.txt" })),
        ),
        (
            "cycle/1/step/a#0/round/2/call",
            Reply::Tool("file_write", json!({ "path": "out.txt", "content": "good {{tool_2}}" })),
        ),
        ("cycle/1/step/a#0/round/3/call", Reply::Text("It is written.")),
    ]);
    let ran = run(GOOD, place_with(&[("notes/a.txt", "alpha")]), &script).await;
    assert_eq!(ran.stop_reason(), StopReason::Passed, "{:?}", ran.state.result);
    assert_eq!(ran.written("out.txt"), "good alpha");
    let step = ran.step(0, "a");
    assert_eq!(step.output.as_ref().unwrap().inline, Some(json!("It is written.")));
    assert_eq!(step.tokens_used, 4 * TOKENS);
    let told = script.prompt("cycle/1/step/a#0/round/3/call");
    assert!(
        told.contains("gone.txt") && told.contains("tool_2") && told.contains("alpha"),
        "{told}"
    );
    let failed = results(&script, "cycle/1/step/a#0/round/1/call");
    assert_eq!(failed, [true], "a tool's failure goes back to the model");
    assert!(ran.state.files[0].done, "its change is recorded like any other");
}

/// Whether each tool result that this request showed is an error.
fn results(script: &Script, key: &str) -> Vec<bool> {
    let asked = script.asked.lock().unwrap();
    let request: &LlmRequest = asked.iter().find(|request| request.key.as_str() == key).unwrap();
    let content = request.messages.iter().flat_map(|message| &message.content);
    let result = |block: &ContentBlock| match block {
        ContentBlock::ToolResult { is_error, .. } => Some(*is_error),
        ContentBlock::Text { .. } | ContentBlock::ToolUse(_) => None,
    };
    content.filter_map(result).collect()
}

#[tokio::test]
async fn an_agent_step_ends_when_its_rounds_do() {
    let list = |path: &str| Reply::Tool("directory_list", json!({ "path": path }));
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], Some(2))]))),
        ("cycle/1/step/a#0/round/0/call", list(".")),
        ("cycle/1/step/a#0/round/1/call", list("notes")),
    ]);
    let task = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    let ran = run(&task, place_with(&[("notes/a.txt", "")]), &script).await;
    assert_eq!(
        ran.error("a"),
        (code::ROUND_LIMIT, "the model was not done after 2 rounds")
    );
}

#[tokio::test]
async fn an_agent_step_that_goes_in_circles_is_stopped() {
    let list = || Reply::Tool("directory_list", json!({ "path": "." }));
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], None)]))),
        ("cycle/1/step/a#0/round/0/call", list()),
        ("cycle/1/step/a#0/round/1/call", list()),
        ("cycle/1/step/a#0/round/2/call", list()),
    ]);
    let ran = run(
        &format!("{ANSWER}limits: {{ maxCycles: 1 }}\n"),
        Place::default(),
        &script,
    )
    .await;
    let (code, message) = ran.error("a");
    assert_eq!(code, code::ROUND_LIMIT);
    assert!(message.contains("3 times in a row"), "{message}");
}

#[tokio::test]
async fn an_agent_step_has_only_its_own_tools() {
    let script = Script::new([
        (PLAN_1, plan(json!([agent("a", &["directory_list"], None)]))),
        (
            "cycle/1/step/a#0/round/0/call",
            Reply::Tool("file_write", json!({ "path": "x", "content": "y" })),
        ),
        ("cycle/1/step/a#0/round/1/call", Reply::Text("then not")),
    ]);
    let ran = run(ANSWER, Place::default(), &script).await;
    assert_eq!(ran.statuses(0), [("a", StepStatus::Done)]);
    assert!(!ran.place.work().join("x").exists());
    assert!(
        script
            .prompt("cycle/1/step/a#0/round/1/call")
            .contains("it has directory_list")
    );
}
