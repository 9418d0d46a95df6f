//! What a step gives to what it runs, held against what that needs (seed *agntz-pipeline-steps*, "input").

use contract::flow::{Dialect, FlowStep, StepKind};
use indexmap::IndexMap;
use serde_json::Value;

use super::Checker;
use crate::flow::input::{InputSchema, USER_QUERY};
use crate::flow::join;

/// Whether keys are given to a child of a manifest that declares none.
fn takes_one_value(checker: &Checker, step: &FlowStep) -> bool {
    let has_schema = match &step.kind {
        StepKind::Ref(_) => checker
            .referred(step)
            .is_none_or(|flow| flow.input.is_some() || flow.dialect == Dialect::Flow),
        _ => step.input.is_some(),
    };
    let names_keys = |given: &IndexMap<String, Value>| given.keys().any(|key| key != USER_QUERY);
    checker.is_manifest() && !has_schema && step.reads.as_ref().is_some_and(names_keys)
}

/// Whether a step gives its child the keys that it declares.
pub(super) fn check(checker: &mut Checker, step: &FlowStep, path: &str) {
    let reads = if checker.is_manifest() { "input" } else { "reads" };
    let referred = matches!(step.kind, StepKind::Ref(_));
    let place = match (checker.is_manifest(), referred) {
        (true, false) => join(path, "agent.inputSchema"),
        _ => join(path, "input"),
    };
    let schema = if referred {
        let written = checker.referred(step).and_then(|flow| flow.input.clone());
        written.and_then(|schema| InputSchema::read(&schema).ok())
    } else {
        checker.schema(step.input.as_ref(), &place)
    };
    let name = match &step.kind {
        StepKind::Ref(id) => id.as_str(),
        _ => step.id.as_str(),
    };
    let Some(schema) = schema else {
        if takes_one_value(checker, step) {
            let message = format!(
                "\"{name}\" has no inputSchema, so that it gets all of this as one value, {USER_QUERY}: declare an inputSchema to \
                 receive the keys by name"
            );
            checker.warn(&join(path, reads), message);
        }
        return;
    };
    let Some(given) = &step.reads else {
        let needed: Vec<String> = schema.required().map(|key| format!("\"{key}\"")).collect();
        if !needed.is_empty() {
            let needed = needed.join(", ");
            let message = format!(
                "\"{reads}\" is missing: what comes before does not provide key {needed}, and \"{name}\" requires input \
                 {needed}"
            );
            checker.wrong(path, message);
        }
        return;
    };
    let place = join(path, reads);
    for key in &schema.keys {
        let needed = key.required || (!referred && key.default.is_none());
        if needed && !given.contains_key(&key.name) {
            let missing = &key.name;
            checker.wrong(
                &place,
                format!("missing key \"{missing}\": \"{name}\" declares it in its input schema"),
            );
        }
    }
    let declared: std::collections::HashSet<&str> = schema.keys.iter().map(|key| key.name.as_str()).collect();
    for extra in given.keys().filter(|key| !declared.contains(key.as_str())) {
        let message =
            format!("extra key: \"{extra}\" is not declared in the input schema of \"{name}\", which never sees it");
        match referred {
            true => checker.warn(&join(&place, extra), message),
            false => checker.wrong(&join(&place, extra), message),
        }
    }
}
