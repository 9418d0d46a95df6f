//! The scratchpad's own entry: what happened in every cycle so far.

use contract::step::StepStatus;
use contract::value_ref::ValueRef;
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::executor::StepOutcome;

/// The name of the entry that the app writes after the steps of each cycle.
pub const EXECUTION_SUMMARY: &str = "_execution_summary";

/// The name under which the history keeps one cycle's part of it; the first has the seed's name.
pub fn summary_name(cycle: u32) -> String {
    match cycle {
        1 => EXECUTION_SUMMARY.to_owned(),
        _ => format!("{EXECUTION_SUMMARY}/{cycle}"),
    }
}

/// A cycle's part: the seed's shape with `cycle` added. A large output is named by its address and shown by its
/// beginning; it is kept once, as the step's result.
pub fn execution_summary(cycle: u32, outcomes: &[StepOutcome]) -> Vec<Value> {
    let entries = outcomes.iter().map(|outcome| {
        let mut entry = json!({
            "cycle": cycle,
            "stepId": outcome.step_id,
            "status": seed_status(outcome.status),
            "output": output(&outcome.output),
        });
        if let (Some(error), Some(map)) = (&outcome.error, entry.as_object_mut()) {
            map.insert("error".to_owned(), Value::String(error.message.clone()));
        }
        entry
    });
    entries.collect()
}

fn output(output: &Value) -> Value {
    match ValueRef::of("tool-output", output) {
        Ok((named, Some(_))) => json!({ "hash": named.hash, "bytes": named.bytes, "excerpt": named.excerpt }),
        Ok((_, None)) | Err(_) => output.clone(),
    }
}

/// The entry as steps read it: every cycle's part behind the ones before it.
pub fn joined(before: Option<&Value>, part: Vec<Value>) -> Value {
    let mut all = before.and_then(Value::as_array).cloned().unwrap_or_default();
    all.extend(part);
    Value::Array(all)
}

/// The entries that steps wrote: all but the app's own, which holds the outputs of all steps.
pub fn shown(entries: &IndexMap<String, Value>) -> Vec<(&String, &Value)> {
    entries.iter().filter(|(name, _)| *name != EXECUTION_SUMMARY).collect()
}

/// The seed knows two statuses.
pub fn seed_status(status: StepStatus) -> &'static str {
    if status.is_success() { "success" } else { "failure" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_output_is_named_and_not_repeated() {
        let large = Value::String("x".repeat(100_000));
        let outcome = StepOutcome {
            step_id: "a".to_owned(),
            status: StepStatus::Done,
            output: std::sync::Arc::new(large),
            hash: None,
            error: None,
            tokens_used: 0,
            duration_ms: 0,
            kept_from: None,
        };
        let summary = execution_summary(2, &[outcome]);
        assert!(summary[0].to_string().len() < 1_000, "{}", summary[0]);
        assert_eq!(
            (&summary[0]["cycle"], &summary[0]["output"]["bytes"]),
            (&json!(2), &json!(100_002))
        );
    }
}
