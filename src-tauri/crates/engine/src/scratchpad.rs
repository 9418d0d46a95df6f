//! The scratchpad's own entry: what happened in every cycle so far.

use contract::step::StepStatus;
use contract::value_ref::ValueRef;
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::executor::StepOutcome;
use crate::prompts;

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

/// The entries that steps wrote. A result is kept for the next cycle by these: the app's own entry changes with each.
pub fn of_steps(entries: &IndexMap<String, Value>) -> Vec<(&String, &Value)> {
    entries.iter().filter(|(name, _)| *name != EXECUTION_SUMMARY).collect()
}

/// How many results the entry names where it is shown to steps and judges.
const LAST: usize = 12;
/// How much is shown of an error there, in characters.
const ERROR: usize = 120;

/// The entry as it is shown to steps and judges (the seed's three readers): how the last steps ended, without their
/// outputs. It does not grow with the steps, since every question has it; the planner is shown more.
pub fn in_short(summary: &Value) -> String {
    let entries = summary.as_array().map_or(&[][..], Vec::as_slice);
    let last = entries.iter().rev().take(LAST).map(|entry| {
        let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
        let error = match text("error") {
            "" => String::new(),
            error => format!(": {}", prompts::excerpt(error, ERROR)),
        };
        let cycle = entry.get("cycle").and_then(Value::as_u64).unwrap_or(1);
        format!("{} in cycle {cycle}, {}{error}", text("stepId"), text("status"))
    });
    let mut lines: Vec<String> = last.collect();
    if entries.len() > LAST {
        lines.push(format!("{} before", entries.len() - LAST));
    }
    format!("newest first: {}", lines.join("; "))
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

    #[test]
    fn in_short_it_names_how_steps_ended_and_does_not_grow_with_them() {
        let entry =
            |n: usize| json!({ "cycle": 1 + n / 500, "stepId": format!("s{n}"), "status": "success", "output": "x" });
        let mut entries: Vec<Value> = (0..1_000).map(entry).collect();
        entries
            .push(json!({ "cycle": 2, "stepId": "b", "status": "failure", "output": null, "error": "no such file" }));
        let said = in_short(&Value::Array(entries));
        assert!(
            said.starts_with("newest first: b in cycle 2, failure: no such file; s999 in cycle 2, success; "),
            "{said}"
        );
        assert!(said.ends_with("; 989 before") && said.len() < 500, "{said}");
    }
}
