//! Pipelines that cannot be built.

use engine::flow::reading;
use serde_json::{Map, Value, json};

use crate::case::{Case, Outcome};
use crate::wording::likest;

/// Whether a pipeline is refused, and for the reason that is expected.
pub(crate) fn build_errors(case: &Case) -> Result<Outcome, String> {
    let mut flow = Map::from_iter([("id".to_owned(), Value::from("pipeline"))]);
    if let Some(initial) = case.get("initial") {
        flow.insert("initial".to_owned(), initial.clone());
    }
    let steps = case
        .need_list("phases")?
        .iter()
        .map(step)
        .collect::<Result<Vec<_>, _>>()?;
    flow.insert("steps".to_owned(), Value::Array(steps));
    let reading = reading::read(&Value::Object(flow), None);
    let errors: Vec<String> = reading
        .problems
        .iter()
        .filter(|problem| !problem.warning)
        .map(ToString::to_string)
        .collect();
    let wanted = case.need_text("expect")?;
    match likest(wanted, &errors) {
        Some(likeness) => Ok(Outcome::by(likeness)),
        None => Err(format!("no problem is \"{wanted}\" in {errors:?}")),
    }
}

/// A phase as a step.
fn step(phase: &Value) -> Result<Value, String> {
    let name = phase.get("name").cloned().unwrap_or_default();
    let (kind, body) = match phase.get("type").and_then(Value::as_str) {
        Some("prompt") => ("ask", json!({ "instructions": "i" })),
        Some("function") => ("tool", json!({ "tool": name })),
        Some("react") => ("agent", json!({ "instructions": "i", "tools": [] })),
        Some("respond") => ("answer", json!({ "text": "t" })),
        other => return Err(format!("there is no type {other:?}")),
    };
    let mut step = Map::from_iter([("id".to_owned(), name), (kind.to_owned(), body)]);
    if let Some(transitions) = phase.get("transitions").and_then(Value::as_array) {
        step.insert("routes".to_owned(), transitions.iter().map(route).collect());
    }
    Ok(Value::Object(step))
}

fn route(transition: &Value) -> Value {
    let mut route = match transition.get("respond") {
        Some(text) => json!({ "finish": { "text": text } }),
        None => json!({ "to": transition["to"] }),
    };
    if let Some(when) = transition.get("when").filter(|when| !when.is_null()) {
        route["when"] = when.clone();
    }
    route
}
