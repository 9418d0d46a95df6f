//! The scratchpad's own entry: what happened in every cycle so far.

use contract::step::StepStatus;
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::executor::StepOutcome;

/// The name of the entry that the app writes after the steps of each cycle.
pub const EXECUTION_SUMMARY: &str = "_execution_summary";

/// The entry after a cycle: the seed's shape with `cycle` added, behind what was there before.
pub fn execution_summary(before: Option<&Value>, cycle: u32, outcomes: &[StepOutcome]) -> Value {
    let mut all = before.and_then(Value::as_array).cloned().unwrap_or_default();
    all.extend(outcomes.iter().map(|outcome| {
        let mut entry = json!({
            "cycle": cycle,
            "stepId": outcome.step_id,
            "status": seed_status(outcome.status),
            "output": *outcome.output,
        });
        if let (Some(error), Some(map)) = (&outcome.error, entry.as_object_mut()) {
            map.insert("error".to_owned(), Value::String(error.message.clone()));
        }
        entry
    }));
    Value::Array(all)
}

/// The entries that steps wrote: all but the app's own, which holds the outputs of all steps.
pub fn shown(entries: &IndexMap<String, Value>) -> Vec<(&String, &Value)> {
    entries.iter().filter(|(name, _)| *name != EXECUTION_SUMMARY).collect()
}

/// The seed knows two statuses.
pub fn seed_status(status: StepStatus) -> &'static str {
    match status {
        StepStatus::Done | StepStatus::Kept => "success",
        StepStatus::Waiting
        | StepStatus::Running
        | StepStatus::Failed
        | StepStatus::Skipped
        | StepStatus::WaitingForPerson
        | StepStatus::Uncertain => "failure",
    }
}
