//! A step that does what a case says, and what came of it as JSON.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use contract::StepError;
use engine::kernel::audit::{Keep, StepArtifact};
use engine::kernel::command::Command;
use engine::kernel::keyed::KeyBy;
use engine::kernel::step::{Fault, Step, StepContext, StepResult, StepReturn, fail};
use serde_json::{Value, json};

/// A step of a case: `{ name, input, output, keyBy?, body }`.
pub(super) struct Stub {
    name: String,
    input: Value,
    output: Value,
    key_by: KeyBy,
    body: Value,
    /// The inputs that it was given, in order.
    pub(super) given: Mutex<Vec<Value>>,
}

impl Stub {
    /// The step of a case with this body.
    pub(super) fn new(step: &Value, body: Value) -> Result<Self, String> {
        let schema = |field: &str| step.get(field).cloned().unwrap_or_else(|| json!({ "type": "object" }));
        Ok(Self {
            name: step["name"].as_str().ok_or("the step has no name")?.to_owned(),
            input: schema("input"),
            output: schema("output"),
            key_by: key_by(step.get("keyBy"))?,
            body,
            given: Mutex::default(),
        })
    }
}

/// Paths of lists with the field that tells items apart.
pub(super) fn key_by(value: Option<&Value>) -> Result<KeyBy, String> {
    match value {
        None | Some(Value::Null) => Ok(KeyBy::new()),
        Some(value) => serde_json::from_value(value.clone()).map_err(|error| format!("`keyBy`: {error}")),
    }
}

#[async_trait]
impl<A: ?Sized + Sync> Step<A> for Stub {
    fn name(&self) -> &str {
        &self.name
    }

    fn input_schema(&self) -> Value {
        self.input.clone()
    }

    fn output_schema(&self) -> Value {
        self.output.clone()
    }

    fn key_by(&self) -> KeyBy {
        self.key_by.clone()
    }

    async fn run(&self, input: Value, context: &StepContext<'_, A>) -> Result<StepReturn, Fault> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).push(input);
        for event in list(&self.body, "emit") {
            context.emit_event(serde_json::from_value(event).map_err(|error| Fault::Broke(error.to_string()))?);
        }
        for value in list(&self.body, "artifacts") {
            context.on_artifact(artifact(&value).map_err(Fault::Broke)?)?;
        }
        outcome(&self.body)
    }
}

fn list(value: &Value, field: &str) -> Vec<Value> {
    value[field].as_array().cloned().unwrap_or_default()
}

/// An artifact of a case: `{ kind, content?, hash? }`; `<correct>` is the content's own address.
pub(super) fn artifact(value: &Value) -> Result<StepArtifact, String> {
    let kind = value["kind"].as_str().ok_or("the artifact has no kind")?;
    let content = value.get("content").cloned();
    let captured = StepArtifact::capture(kind, content.clone().unwrap_or_default(), Keep::Content);
    let mut artifact = captured.map_err(|error| error.to_string())?;
    artifact.content = content;
    if let Some(hash) = value["hash"].as_str().filter(|hash| *hash != "<correct>") {
        artifact.hash.0 = hash.to_owned();
    }
    Ok(artifact)
}

/// What a body does at its end.
#[allow(clippy::panic, reason = "a case may say that the body panics")]
fn outcome(body: &Value) -> Result<StepReturn, Fault> {
    if let Some(thrown) = body.get("throw") {
        let words = thrown.get("message").unwrap_or(thrown);
        panic!("{}", words.as_str().map_or_else(|| words.to_string(), str::to_owned));
    }
    if let Some(thrown) = body.get("throw_value") {
        let words = thrown.as_str().map_or_else(|| thrown.to_string(), str::to_owned);
        return Err(Fault::Broke(words));
    }
    if let Some(failure) = body.get("fail") {
        let text = |field: &str| failure[field].as_str().unwrap_or_default();
        let retryable = failure["retryable"].as_bool().unwrap_or_default();
        return Err(fail(
            text("code"),
            text("message"),
            retryable,
            failure.get("cause").cloned(),
        ));
    }
    let returned = ["return", "return_raw"]
        .iter()
        .find_map(|field| body.get(field))
        .unwrap_or(body);
    let commands = match returned.get("commands") {
        None | Some(Value::Null) => None,
        Some(commands) => {
            let commands = commands.as_array().into_iter().flatten().map(Command::parse);
            Some(commands.collect::<Result<_, _>>().map_err(Fault::Broke)?)
        }
    };
    let events = returned.get("events").cloned().unwrap_or_else(|| json!([]));
    Ok(StepReturn {
        output: returned.get("output").cloned().unwrap_or_default(),
        events: serde_json::from_value(events).map_err(|error| Fault::Broke(error.to_string()))?,
        commands,
    })
}

/// What came of a step, as cases expect it.
pub(super) fn in_words(outcome: &Result<StepResult, StepError>) -> Value {
    match outcome {
        Ok(result) => {
            let mut value = json!(result);
            value["ok"] = json!(true);
            value
        }
        Err(error) => failed(error),
    }
}

/// A failure, as cases expect it; it carries no events.
pub(super) fn failed(error: &StepError) -> Value {
    json!({
        "ok": false, "code": error.code, "message": error.message, "retryable": error.retryable,
        "cause": error.cause,
    })
}
