//! What is too deep or too large for a careless reader: it ends in words or goes through, and the journal can be read
//! again afterwards.

use std::sync::Arc;

use app::{App, Config};
use async_trait::async_trait;
use contract::RunId;
use contract::access::Access;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::run_state::RunState;
use contract::step::StepStatus;
use serde_json::{Value, json};
use support::script::{Answers, Reply, Script, plan, thought, tool};
use support::{Place, call};

/// Deeper than any stack is long.
const DEEP: usize = 100_000;
const MEGABYTE: usize = 1 << 20;
const PLAN: &str = "cycle/1/plan#0/call/0";
const TASK: &str = "goal: Say something\ncontext: {}\nexpectedOutput: A few words\nlimits: { maxCycles: 1 }\nmodels: { planner: 'scripted:m' }\n";

fn nested(levels: usize, inside: Value) -> Value {
    (0..levels).fold(inside, |inside, _| json!({ "a": inside }))
}

/// Returns what it is given, wrapped or made larger.
struct Shape(&'static str, fn(Value) -> Value);

#[async_trait]
impl Tool for Shape {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: self.0.to_owned(),
            description: "shapes a value".to_owned(),
            parameters: json!({ "type": "object", "properties": { "value": {} } }),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, mut args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::value(self.1(args["value"].take())))
    }
}

/// Runs the plan, and reads the run again as the next start of the app does.
async fn run(place: &Place, steps: Value, more: impl IntoIterator<Item = (&'static str, Reply)>) -> RunState {
    let replies = [(PLAN, plan(steps))].into_iter().chain(more);
    run_script(place, Script::new(replies)).await
}

async fn run_script(place: &Place, script: Arc<Script>) -> RunState {
    let config = || Config {
        providers: vec![Arc::clone(&script) as _],
        people: Some(Answers::new([]) as _),
        tools: vec![
            Arc::new(Shape("nest", |value| nested(60, value))),
            Arc::new(Shape("big", |_| json!("a line of words\n".repeat(10 * MEGABYTE / 16)))),
            Arc::new(Shape("echo", |value| value)),
        ],
        ..place.config()
    };
    let app = App::open(config()).await.unwrap();
    let request = json!({ "source": TASK, "folder": place.folder() });
    let started = call(&app, "run_start", request).await.unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    let outcome = app.outcome(&run).await.unwrap();
    assert!(matches!(outcome, app::Outcome::Finished(_)), "{outcome:?}");
    app.close().await.unwrap();
    App::open(config()).await.unwrap().state(&run).await.unwrap()
}

fn step<'a>(state: &'a RunState, id: &str) -> (StepStatus, &'a str) {
    let step = &state.cycles[0].steps[id];
    (
        step.status,
        step.error.as_ref().map_or("", |error| error.message.as_str()),
    )
}

#[tokio::test]
async fn values_that_grow_too_deep_are_refused_in_words() {
    let place = Place::default();
    let nest = |id: &str, value: Value, after: &[&str]| tool(id, "nest", json!({ "value": value }), after);
    let steps = json!([nest("a", json!(1), &[]), nest("b", json!("{{a}}"), &["a"])]);
    let state = run(&place, steps, []).await;
    assert_eq!(step(&state, "a").0, StepStatus::Done);
    let (status, message) = step(&state, "b");
    assert_eq!(status, StepStatus::Failed);
    assert!(message.contains("nested too deep: more than 120 levels"), "{message}");
}

#[tokio::test]
async fn a_plan_that_is_nested_too_deep_is_refused_in_words() {
    for levels in [97, 110, 126, 200] {
        let place = Place::default();
        let steps = json!([tool("a", "echo", json!({ "value": nested(levels, json!(1)) }), &[])]);
        let again = Reply::Json(json!({ "steps": [] }));
        let state = run(&place, steps, [("cycle/1/plan#0/call/1", again)]).await;
        let result = state.result.unwrap();
        assert_eq!(
            result.stop_reason,
            contract::run::StopReason::Error,
            "{levels}: {}",
            result.feedback
        );
    }
}

#[tokio::test]
async fn replies_without_end_are_no_json() {
    let open: &'static str = Box::leak("{\"steps\":[".repeat(DEEP).into_boxed_str());
    let place = Place::default();
    let script = Script::new([(PLAN, Reply::Text(open)), ("cycle/1/plan#0/call/1", Reply::Text(open))]);
    let state = run_script(&place, script).await;
    assert_eq!(state.result.unwrap().stop_reason, contract::run::StopReason::Error);
}

#[tokio::test]
async fn a_file_that_is_nested_without_end_is_refused_in_words() {
    let place = Place::default();
    std::fs::write(place.work().join("deep.json"), "[".repeat(DEEP)).unwrap();
    std::fs::write(
        place.work().join("closed.json"),
        format!("{}{}", "[".repeat(DEEP), "]".repeat(DEEP)),
    )
    .unwrap();
    let parse = |id: &str, path: &str| {
        tool(
            id,
            "data_parse",
            json!({ "input": path, "format": "json", "fromFile": true }),
            &[],
        )
    };
    let state = run(&place, json!([parse("a", "deep.json"), parse("b", "closed.json")]), []).await;
    for id in ["a", "b"] {
        let (status, message) = step(&state, id);
        assert!(
            status == StepStatus::Failed && !message.is_empty(),
            "{id}: {status:?} {message}"
        );
    }
}

#[tokio::test]
async fn a_task_that_is_nested_without_end_is_refused_with_its_place() {
    let place = Place::default();
    let app = place.open().await;
    for source in [
        "[".repeat(DEEP),
        format!("goal: {}", "{a: ".repeat(DEEP)),
        "- ".repeat(DEEP),
        format!("goal: x\ncontext: {}", "{a: ".repeat(120)),
    ] {
        let error = call(&app, "run_start", json!({ "source": source, "folder": place.folder() }))
            .await
            .unwrap_err();
        assert!(!error.problems.is_empty() || !error.message.is_empty(), "{error:?}");
        assert_ne!(error.code, "internal", "{error:?}");
    }
}

#[tokio::test]
async fn ten_megabytes_go_from_step_to_step() {
    let place = Place::default();
    let echo = |id: &str, value: &str, after: &[&str]| tool(id, "echo", json!({ "value": value }), after);
    let steps = json!([
        tool("a", "big", json!({}), &[]),
        echo("b", "{{a}}", &["a"]),
        echo("c", "{{b}}", &["b"]),
        thought("d", &["c"]),
    ]);
    let state = run(&place, steps, [("cycle/1/step/d#0/call/0", Reply::Text("words"))]).await;
    for id in ["a", "b", "c", "d"] {
        assert_eq!(step(&state, id), (StepStatus::Done, ""), "{id}");
    }
    let output = state.cycles[0].steps["c"].output.as_ref().unwrap();
    assert_eq!(output.hash, state.cycles[0].steps["a"].output.as_ref().unwrap().hash);
    // Kept once, and packed.
    let size = std::fs::metadata(place.data().join("tepa.db")).unwrap().len();
    assert!(size < 4 * MEGABYTE as u64, "the store has {size} bytes");
}
