//! A step runs, and this comes of it.

use contract::{Key, RunId};
use engine::kernel::run_step::{RunOptions, run, run_step};
use engine::kernel::step::Place;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::stub::{Stub, in_words};
use crate::case::{Case, Outcome};
use crate::expect::{fields, is_placeholder};
use crate::world::wait;

/// `entry: run` is the short way, with its defaults; without it `params` say where the step runs.
pub(super) fn runs(case: &Case) -> Result<Outcome, String> {
    let step = case.need("step")?;
    let body = step.get("body").ok_or("the step has no body")?;
    let stub = Stub::new(step, body.clone())?;
    let input = case.need("input")?.clone();
    let param = |name: &str| case.get("params").and_then(|params| params[name].as_str());
    let fresh = || RunId::new("fresh-run-id");
    let result = if case.text("entry") == Some("run") {
        let options = RunOptions {
            workflow_id: param("workflowId"),
            workflow_version: param("workflowVersion"),
            run_id: param("runId").map(RunId::new),
            on_artifact: None,
        };
        wait(run(&stub, input, &(), options, &fresh))
    } else {
        let place = Place {
            workflow_id: param("workflowId").unwrap_or("workflow"),
            workflow_version: param("workflowVersion").unwrap_or("1.0.0"),
            run_id: &param("runId").map_or_else(fresh, RunId::new),
            key: &Key::new("step"),
            adapters: &(),
            cancel: &CancellationToken::new(),
            on_artifact: None,
        };
        wait(run_step(&stub, input, place))
    };
    let actual = in_words(&result.map_err(|halt| format!("it halted: {halt:?}"))?);
    fields(&as_expected(case.need("expect")?), &with_counts(actual))?;
    Ok(Outcome::Passed)
}

/// A run id is whatever source was injected; a case may only say what kind it is.
fn as_expected(expected: &Value) -> Value {
    let mut expected = expected.clone();
    if let Some(map) = expected.as_object_mut() {
        let is_kind = |text: &str| {
            is_placeholder(text)
                || ["uuid", "any", "random"]
                    .iter()
                    .any(|word| text.to_lowercase() == *word)
        };
        if map.get("runId").and_then(Value::as_str).is_some_and(is_kind) {
            map.insert("runId".to_owned(), Value::from("<any>"));
        }
    }
    expected
}

/// Adds the kinds of the artifacts, which some cases expect alone.
fn with_counts(mut actual: Value) -> Value {
    let kinds: Vec<Value> = actual["artifacts"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|artifact| artifact["kind"].clone())
        .collect();
    if actual["ok"] == true {
        actual["artifactKinds"] = Value::from(kinds);
    }
    actual
}
