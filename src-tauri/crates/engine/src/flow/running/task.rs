//! A whole task as one step: its plan, its cycles and its verdict lie under the step's address.

use contract::ValueRef;
use contract::run::{OutputArtifact, RunStatus};
use contract::step::{StepError, code};
use contract::task::{ExpectedOutput, Task};
use serde_json::{Map, Value, json};

use super::runner::Runner;
use super::visit::Visit;
use crate::kernel::driver::Outcome;
use crate::task_loop;

/// Carries a task out. The output is what it produced; a task that did not pass has failed.
pub(super) async fn run(
    runner: &Runner<'_>,
    visit: &Visit<'_>,
    goal: String,
    context: Value,
    expected: Value,
) -> Outcome<Value> {
    let expected_output: ExpectedOutput = match serde_json::from_value(expected) {
        Ok(expected) => expected,
        Err(error) => return Ok(Err(StepError::new(code::INPUT_VALIDATION, error.to_string()))),
    };
    let outer = &runner.driver.header.task;
    let task = Task {
        goal,
        context: match context {
            Value::Object(context) => context,
            _ => Map::new(),
        },
        expected_output,
        name: Some(visit.path.clone()),
        ..outer.clone()
    };
    let nested = runner.driver.nested(&visit.key, task, runner.turn.clone());
    let (result, artifacts) = task_loop::run_nested(&nested).await?;
    if result.status != RunStatus::Pass {
        let message = format!("\"{}\" did not pass: {}", visit.path, result.feedback);
        return Ok(Err(StepError::new(code::EXECUTION_FAILED, message)));
    }
    let value = |named: &ValueRef| {
        let kept = || artifacts.iter().find(|artifact| artifact.hash == named.hash);
        let read = || serde_json::from_slice(&kept()?.bytes).ok();
        named.inline.clone().or_else(read)
    };
    let output = |output: &OutputArtifact| {
        json!({
            "path": output.path,
            "description": output.description,
            "value": output.value.as_ref().and_then(value),
        })
    };
    let outputs: Vec<Value> = result.outputs.iter().map(output).collect();
    Ok(Ok(json!({ "feedback": result.feedback, "outputs": outputs })))
}
