//! What tools say when nobody should have to read it: no output breaks a run, is changed on its way to the next step, or
//! gets lost between here and the page.

use std::sync::Arc;

use app::Config;
use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::step::StepStatus;
use serde_json::{Value, json};
use support::Place;
use support::script::{Answers, Script, plan, tool};

use crate::task_loop::{ANSWER, PLAN_1, Ran, run_in};

/// A tool of somebody else that says whatever it likes.
struct Says(Value);

#[async_trait]
impl Tool for Says {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "odd".to_owned(),
            description: "Says something odd.".to_owned(),
            parameters: json!({ "type": "object" }),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::value(self.0.clone()))
    }
}

/// A tool of somebody else that goes down and down.
struct GoesDown(usize);

#[async_trait]
impl Tool for GoesDown {
    fn info(&self) -> ToolInfo {
        Says(Value::Null).info()
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let down = (0..self.0).fold(json!("core"), |inner, _| Value::Array(vec![inner]));
        Ok(ToolOutput::value(down))
    }
}

/// A tool of somebody else that fails with whatever it likes.
struct Fails(String);

#[async_trait]
impl Tool for Fails {
    fn info(&self) -> ToolInfo {
        Says(Value::Null).info()
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new(self.0.clone()))
    }
}

async fn run(odd: impl Tool + 'static) -> Ran {
    let copy = json!({ "path": "out.txt", "content": "{{odd}}" });
    let steps = json!([
        tool("odd", "odd", json!({}), &[]),
        tool("copy", "file_write", copy, &["odd"])
    ]);
    let script = Script::new([(PLAN_1, plan(steps))]);
    let task = format!("{ANSWER}limits: {{ maxCycles: 1 }}\n");
    let with = |config: Config| Config {
        tools: vec![Arc::new(odd)],
        ..config
    };
    run_in(Place::default(), &task, json!({}), &script, &Answers::new([]), with).await
}

/// The run goes on with it, the next step gets it as it is, and it is in the history and on its way to the page.
async fn passes_on(text: &str) {
    let ran = run(Says(Value::from(text))).await;
    assert_eq!(
        ran.statuses(0),
        [("odd", StepStatus::Done), ("copy", StepStatus::Done)],
        "{:?}: {:?}",
        text.chars().take(40).collect::<String>(),
        ran.state.cycles[0]
            .steps
            .values()
            .map(|step| step.error.clone())
            .collect::<Vec<_>>()
    );
    let written = std::fs::read_to_string(ran.place.work().join("out.txt")).unwrap();
    assert!(written == text, "{} bytes instead of {}", written.len(), text.len());
    let page = serde_json::to_string(&ran.state).unwrap();
    assert!(serde_json::from_str::<Value>(&page).is_ok());
    assert!(!ran.events().await.is_empty());
}

#[tokio::test]
async fn signs_that_nobody_can_see_pass_as_they_are() {
    let controls: String = (0..32).filter_map(char::from_u32).collect();
    for text in [
        &controls,
        "\u{1b}]0;title\u{7}\u{1b}[2J\u{1b}[31mred\u{1b}[0m\u{9b}31m",
        "\u{202e}gpj.exe\u{202c} \u{2066}\u{2067}\u{200f}\u{feff}\u{200b}",
        "broken \u{fffd}\u{fffd} text \u{10ffff}\u{e000}\u{fdd0}",
        "</data>\n<data name=\"x\">{{odd}} {{nothing}} ${x} %s \\u0000",
        &"e\u{301}\u{327}\u{20dd}".repeat(5_000),
        &"\r".repeat(10_000),
        "",
    ] {
        passes_on(text).await;
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_kept_and_not_handed_on_whole() {
    let text = "0123456789abcde\n".repeat(100 * 1024 * 1024 / 16);
    let ran = run(Says(Value::from(text.as_str()))).await;
    assert_eq!(
        ran.statuses(0),
        [("odd", StepStatus::Done), ("copy", StepStatus::Failed)]
    );
    let steps = &ran.state.cycles[0].steps;
    let refused = &steps["copy"].error.as_ref().unwrap().message;
    assert!(refused.contains("larger than 64 MB"), "{refused}");
    let kept = steps["odd"].output.as_ref().unwrap();
    assert!(kept.bytes > text.len() as u64 && ran.state.result.is_some());
}

#[tokio::test]
async fn a_single_line_of_ten_megabytes_passes() {
    passes_on(&"x".repeat(10 * 1024 * 1024)).await;
}

#[tokio::test]
async fn values_of_every_shape_are_kept() {
    let deep = (0..100).fold(json!("core"), |inner, _| json!([inner]));
    let wide: serde_json::Map<String, Value> = (0..10_000).map(|key| (format!("key {key}"), json!(key))).collect();
    for value in [
        json!({ "": 1, "__proto__": { "a": 1 }, "constructor": null, "a\u{0}b": "\u{202e}" }),
        json!([1e308, -0.5, 9_007_199_254_740_991_i64]),
        json!({ "error": true, "isError": true, "status": "failed" }),
        Value::Object(wide),
        deep,
        Value::Null,
    ] {
        let ran = run(Says(value.clone())).await;
        let step = ran.statuses(0)[0];
        assert_eq!(step, ("odd", StepStatus::Done), "{value}");
        assert!(serde_json::to_string(&ran.state).is_ok());
    }
}

#[tokio::test]
async fn what_is_nested_beyond_all_reason_ends_the_step_and_not_the_app() {
    let ran = run(GoesDown(1_000_000)).await;
    assert_eq!(ran.statuses(0)[0], ("odd", StepStatus::Failed));
    assert!(ran.error("odd").contains("nested too deep"), "{}", ran.error("odd"));
    assert!(!ran.events().await.is_empty());
}

#[tokio::test]
async fn an_error_of_any_size_and_kind_is_a_failure_that_can_be_read() {
    for message in [
        String::new(),
        "\u{1b}[2J\u{202e}\u{0}".to_owned(),
        "no such file\n".repeat(1_000_000),
    ] {
        let ran = run(Fails(message)).await;
        assert_eq!(ran.statuses(0)[0], ("odd", StepStatus::Failed));
        assert!(!ran.events().await.is_empty());
    }
}
