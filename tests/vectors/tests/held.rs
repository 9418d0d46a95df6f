//! Rules of the kernel that hold whoever drives: a call goes on only as the call that it was, a plan that goes in a circle
//! runs no step, and whoever listens to a flow hears it while it runs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::flow::FlowRun;
use contract::ids::Key;
use contract::llm::{
    AttemptStatus, Delta, FinishReason, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo, Usage,
};
use contract::plan::Plan;
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::step::code;
use engine::executor::{self, Earlier};
use engine::flow::session::Session;
use engine::kernel::{Driver, Halt, Outcome, ToolCall};
use engine::plan_rules::{self, Known};
use engine::{Registry, World};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use vectors::stage::{PROVIDER, Stage, Theatre, Throws, header, run_of};
use vectors::world::{Place, wait};

fn info(name: &str) -> ToolInfo {
    ToolInfo {
        name: name.to_owned(),
        description: "is there to be called".to_owned(),
        parameters: json!({ "type": "object" }),
        has_effects: false,
    }
}

/// Returns what it is given, and keeps it.
#[derive(Default)]
struct Echo(Mutex<Vec<Value>>);

#[async_trait]
impl Tool for Echo {
    fn info(&self) -> ToolInfo {
        info("echo")
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.0.lock().unwrap().push(args.clone());
        Ok(ToolOutput::value(args))
    }
}

async fn call(driver: &Driver, echo: &Arc<Echo>, args: Value) -> Outcome<Value> {
    let call = ToolCall {
        key: Key::new("cycle/1/step/a#0/tool/0/run"),
        cycle: 1,
        step: "a".to_owned(),
        tool: Arc::clone(echo) as Arc<dyn Tool>,
        name: "echo".to_owned(),
        args,
        inputs: BTreeMap::new(),
        turn: None,
    };
    driver.call_tool(call).await
}

#[test]
fn a_tool_that_the_history_called_with_something_else_is_not_called() {
    let echo = Arc::new(Echo::default());
    wait(async {
        let place = Place::new().await.unwrap();
        let first = place.driver().await.unwrap();
        assert_eq!(
            call(&first, &echo, json!({ "a": 1 })).await.unwrap(),
            Ok(json!({ "a": 1 }))
        );
        // A driver that knows only the journal returns what was returned, to the same call alone.
        let again = place.driver().await.unwrap();
        assert_eq!(
            call(&again, &echo, json!({ "a": 1 })).await.unwrap(),
            Ok(json!({ "a": 1 }))
        );
        let other = place.driver().await.unwrap();
        let Err(Halt::Failed(error)) = call(&other, &echo, json!({ "a": 2 })).await else {
            panic!("it went on with another call");
        };
        assert_eq!(error.code, code::INPUT_HASH_MISMATCH);
    });
    assert_eq!(*echo.0.lock().unwrap(), [json!({ "a": 1 })]);
}

#[test]
fn a_tool_may_return_nothing() {
    let echo = Arc::new(Echo::default());
    wait(async {
        let place = Place::new().await.unwrap();
        let first = place.driver().await.unwrap();
        assert_eq!(call(&first, &echo, Value::Null).await.unwrap(), Ok(Value::Null));
        let again = place.driver().await.unwrap();
        assert_eq!(call(&again, &echo, Value::Null).await.unwrap(), Ok(Value::Null));
    });
}

#[test]
fn the_executor_itself_refuses_a_circle_before_any_step_runs() {
    let step = |id: &str, needs: &str| {
        json!({ "id": id, "description": "d", "expectedOutcome": "o", "tools": ["echo"], "dependencies": [needs],
            "args": { "echo": {} } })
    };
    let free = json!({ "id": "free", "description": "d", "expectedOutcome": "o", "tools": ["echo"], "dependencies": [],
        "args": { "echo": {} } });
    let plan = json!({ "reasoning": "r", "estimatedTokens": 1, "steps": [free, step("a", "b"), step("b", "a")] });
    let plan: Plan = serde_json::from_value(plan).unwrap();
    wait(async {
        let place = Place::new().await.unwrap();
        let driver = place.driver().await.unwrap();
        let refused = executor::execute(&driver, 1, &plan, &Earlier::new()).await.unwrap();
        let error = refused.unwrap_err();
        assert_eq!(error.code, code::PLAN_INVALID);
        assert_eq!(error.message, "Circular dependency detected in plan steps: a, b");
        let journal = place.world().journal.as_ref();
        let entries = journal.read(&contract::RunId::new("vectors"), 1, 100).await.unwrap();
        assert_eq!(entries.len(), 1, "something was begun: {entries:?}");
    });
}

#[test]
fn plans_are_checked_and_carried_out_with_one_registry() {
    let step = json!({ "id": "a", "description": "d", "expectedOutcome": "o", "tools": ["echo"], "dependencies": [],
        "args": { "echo": { "said": "yes" } } });
    let plan = json!({ "reasoning": "r", "estimatedTokens": 1, "steps": [step] });
    for is_there in [true, false] {
        let echo = Arc::new(Echo::default());
        wait(async {
            let place = Place::new().await.unwrap();
            let with_it = Registry::of_tools(vec![Arc::clone(&echo) as Arc<dyn Tool>]);
            let world = World {
                tools: with_it.only(|_| is_there),
                own_tools: with_it,
                ..place.world().clone()
            };
            let known = Known {
                tools: &world.tools,
                models: &[],
                earlier: &[],
            };
            let problems = plan_rules::read(&plan, &known).err().unwrap_or_default().join("; ");
            assert_eq!(problems.contains("unknown tool \"echo\""), !is_there, "{problems}");
            let plan: Plan = serde_json::from_value(plan.clone()).unwrap();
            let run = contract::RunId::new("vectors");
            let driver = Driver::open(&run, &world, &CancellationToken::new()).await.unwrap();
            let outcomes = executor::execute(&driver, 1, &plan, &Earlier::new()).await.unwrap();
            let outcome = outcomes.unwrap().remove(0);
            let expected = match is_there {
                true => None,
                false => Some(code::TOOL_NOT_FOUND.to_owned()),
            };
            assert_eq!(outcome.error.map(|error| error.code), expected);
        });
        assert_eq!(echo.0.lock().unwrap().len(), usize::from(is_there));
    }
}

/// Returns when somebody was told that its phase has begun.
struct Patient(Arc<Notify>);

#[async_trait]
impl Tool for Patient {
    fn info(&self) -> ToolInfo {
        info("patient")
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, _args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let heard = tokio::time::timeout(Duration::from_secs(20), self.0.notified()).await;
        heard.map_err(|_elapsed| ToolError::new("nobody heard that it had begun"))?;
        Ok(ToolOutput::value(json!("heard")))
    }
}

#[tokio::test]
async fn a_flow_is_heard_while_it_runs() {
    let theatre = Theatre::open(Stage::new(Throws::AsError), &[]).await.unwrap();
    let heard = Arc::new(Notify::new());
    let world = World {
        tools: Registry::of_tools(vec![Arc::new(Patient(Arc::clone(&heard)))]),
        ..theatre.world().clone()
    };
    let flow = json!({ "id": "f", "steps": [
        { "id": "work", "tool": { "tool": "patient" } },
        { "id": "say", "answer": { "text": "{{work}}" } },
    ] });
    let flow: FlowRun = run_of(
        engine::flow::reading::read(&flow, None).flow.unwrap(),
        Value::Null,
        Vec::new(),
    );
    let mut head = header(flow);
    head.task.limits.tool_timeout = 30_000;
    let session = Session::new(head);
    let hear = move |event: engine::flow::events::FlowEvent| {
        if event.to_string() == "PhaseStarted:work:0" {
            heard.notify_one();
        }
    };
    let run = theatre.new_run();
    let outcome = session
        .stream(&world, &run, Vec::new(), &CancellationToken::new(), hear)
        .await
        .unwrap();
    assert_eq!(outcome.text.as_deref(), Some("heard"), "{:?}", outcome.error);
}

/// Says one word, and the next when somebody has heard the first.
struct Speaker(Arc<Notify>);

#[async_trait]
impl LlmProvider for Speaker {
    fn name(&self) -> &str {
        PROVIDER
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        for word in ["one ", "two"] {
            sink.delta(Delta::Text { text: word.to_owned() });
            let heard = tokio::time::timeout(Duration::from_secs(60), self.0.notified()).await;
            heard.map_err(|_elapsed| LlmError::new(LlmErrorCode::Connection, "nobody heard it"))?;
        }
        let usage = Usage::default();
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            text: "one two".to_owned(),
            tool_uses: Vec::new(),
            finish_reason: FinishReason::EndTurn,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn what_a_model_thinks_is_heard_word_by_word_and_once() {
    let theatre = Theatre::open(Stage::new(Throws::AsError), &[]).await.unwrap();
    let said = Arc::new(Notify::new());
    let world = World {
        providers: vec![Arc::new(Speaker(Arc::clone(&said)))],
        ..theatre.world().clone()
    };
    let flow = json!({ "id": "f", "model": format!("{PROVIDER}:m"), "steps": [
        { "id": "think", "ask": { "instructions": "Think." } },
        { "id": "say", "answer": { "text": "{{think}}" } },
    ] });
    let flow = engine::flow::reading::read(&flow, None).flow.unwrap();
    let session = Session::new(header(run_of(flow, Value::Null, Vec::new())));
    let thoughts = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&thoughts);
    let hear = move |event: engine::flow::events::FlowEvent| {
        if let engine::flow::events::FlowEvent::ReasoningDelta { text } = event {
            kept.lock().unwrap().push(text);
            said.notify_one();
        }
    };
    let run = theatre.new_run();
    let outcome = session
        .stream(&world, &run, Vec::new(), &CancellationToken::new(), hear)
        .await
        .unwrap();
    assert_eq!(outcome.text.as_deref(), Some("one two"), "{:?}", outcome.error);
    assert_eq!(*thoughts.lock().unwrap(), ["one ", "two"]);
}
