//! Templates, truth, conditions, mappings, the state that a flow begins with, and keys.

use engine::condition::Condition;
use engine::flow::input::{InputSchema, flow_output, initial_state, step_input};
use engine::flow::manifest;
use engine::template::{Mapping, Template, truthy};
use serde_json::Value;

use crate::case::{Case, Outcome};
use crate::expect::equal;

/// A text with everything put in.
pub(crate) fn templates(case: &Case) -> Result<Outcome, String> {
    let read = Template::parse(case.need_text("template")?);
    if is_refused(case) {
        return refused(&read);
    }
    let template = read.map_err(|error| error.to_string())?;
    let rendered = template.render(case.need("state")?).map_err(|error| error.message)?;
    passed(case, &Value::String(rendered))
}

/// Whether a value is true.
pub(crate) fn truthiness(case: &Case) -> Result<Outcome, String> {
    passed(case, &Value::Bool(truthy(case.need("value")?)))
}

/// Whether a condition holds.
pub(crate) fn conditions(case: &Case) -> Result<Outcome, String> {
    let read = Condition::parse(case.need_text("expr")?);
    if is_refused(case) {
        return refused(&read);
    }
    let condition = read.map_err(|error| error.to_string())?;
    passed(case, &Value::Bool(condition.holds(case.need("state")?)))
}

/// What a step is given.
pub(crate) fn input_mapping(case: &Case) -> Result<Outcome, String> {
    mapped(case, "upstream", step_input)
}

/// What a flow gives back.
pub(crate) fn output_mapping(case: &Case) -> Result<Outcome, String> {
    mapped(case, "last", flow_output)
}

type Map = fn(Option<&Mapping>, &dyn engine::template::Scope, &Value) -> Result<Value, contract::StepError>;

fn mapped(case: &Case, without: &str, map: Map) -> Result<Outcome, String> {
    let read = match case.get("map").filter(|map| !map.is_null()) {
        Some(map) => Mapping::parse(map).map(Some),
        None => Ok(None),
    };
    if is_refused(case) {
        return refused(&read);
    }
    let mapping = read.map_err(|errors| format!("{errors:?}"))?;
    let before = case
        .get(without)
        .or_else(|| case.get("upstream"))
        .unwrap_or(&Value::Null);
    let value = map(mapping.as_ref(), case.need("state")?, before).map_err(|error| error.message)?;
    passed(case, &value)
}

/// The state that a flow begins with.
pub(crate) fn state(case: &Case) -> Result<Outcome, String> {
    let schema = match case.get("schema").filter(|schema| !schema.is_null()) {
        Some(schema) => Some(InputSchema::read(schema).map_err(|problems| format!("{problems:?}"))?),
        None => None,
    };
    passed(
        case,
        &Value::Object(initial_state(schema.as_ref(), case.need("input")?)),
    )
}

/// Where the output of a step lands.
pub(crate) fn state_keys(case: &Case) -> Result<Outcome, String> {
    let step = case.need("step")?;
    let named = step.get("ref").and_then(Value::as_str);
    let referred = case.get("agents").zip(named).and_then(|(agents, id)| agents.get(id));
    let key = manifest::state_key(step, referred.or_else(|| case.get("agent")));
    passed(case, &Value::from(key))
}

fn passed(case: &Case, actual: &Value) -> Result<Outcome, String> {
    equal("expect", case.need("expect")?, actual).map(|()| Outcome::Passed)
}

/// Whether reading it is expected to fail.
fn is_refused(case: &Case) -> bool {
    case.text("expect").is_some_and(|expect| expect == "load_error")
}

fn refused<T, E>(read: &Result<T, E>) -> Result<Outcome, String> {
    match read {
        Err(_) => Ok(Outcome::Passed),
        Ok(_) => Err("it was read, and should have been refused".to_owned()),
    }
}
