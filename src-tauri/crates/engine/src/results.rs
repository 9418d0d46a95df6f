//! Results of steps as hooks see them: the seed's `ExecutionResult`, and back.

use std::sync::Arc;

use contract::hash::{Hash, canonical};
use contract::step::{StepError, StepStatus, code};
use contract::value_ref::Artifact;
use serde_json::{Value, json};

use crate::executor::StepOutcome;
use crate::scratchpad::seed_status;

/// `{ stepId, status, output, error?, tokensUsed, durationMs }`.
pub fn to_value(outcome: &StepOutcome) -> Value {
    let mut value = json!({
        "stepId": outcome.step_id, "status": seed_status(outcome.status), "output": *outcome.output,
        "tokensUsed": outcome.tokens_used, "durationMs": outcome.duration_ms,
    });
    if let (Some(error), Some(map)) = (&outcome.error, value.as_object_mut()) {
        map.insert("error".to_owned(), Value::String(error.message.clone()));
    }
    value
}

/// The result of one step as a hook left it. What it cost and how long it took stay as they were.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read(value: &Value, before: &StepOutcome) -> Result<StepOutcome, String> {
    if *value == to_value(before) {
        return Ok(before.clone());
    }
    let id = &before.step_id;
    if value.get("stepId").and_then(Value::as_str) != Some(id.as_str()) {
        return Err(format!("the result of the step \"{id}\" must keep its stepId"));
    }
    let mut after = before.clone();
    match value.get("status").and_then(Value::as_str) {
        Some("success") => {
            let output = value.get("output").cloned().unwrap_or_default();
            after.hash = Some(Hash::of_value(&output).map_err(|error| error.to_string())?);
            after.output = Arc::new(output);
            after.error = None;
            if after.status != StepStatus::Kept {
                after.status = StepStatus::Done;
            }
        }
        Some("failure") => {
            let message = value
                .get("error")
                .and_then(Value::as_str)
                .unwrap_or("a hook failed the step");
            let kept = before.error.clone().filter(|error| error.message == message);
            after.error = Some(kept.unwrap_or_else(|| StepError::new(code::CALLBACK_ERROR, message)));
            if before.error.is_none() {
                after.status = StepStatus::Failed;
            }
            after.output = Arc::default();
            after.hash = None;
        }
        _ => {
            return Err(format!(
                "the result of the step \"{id}\" needs a status, success or failure"
            ));
        }
    }
    Ok(after)
}

/// The results of a cycle as a hook left them: one for each step, in any order.
///
/// # Errors
/// Everything that is wrong with them.
pub fn read_all(value: &Value, before: &[StepOutcome]) -> Result<Vec<StepOutcome>, Vec<String>> {
    let Some(entries) = value.as_array() else {
        return Err(vec![
            "\"results\" must be an array with one entry for each step".to_owned(),
        ]);
    };
    let by_id: std::collections::HashMap<&str, &Value> = entries
        .iter()
        .filter_map(|entry| Some((entry.get("stepId")?.as_str()?, entry)))
        .collect();
    let mut problems = Vec::new();
    if entries.len() != before.len() {
        problems.push(format!("there must be {} results, one for each step", before.len()));
    }
    let mut after = Vec::with_capacity(before.len());
    for outcome in before {
        match by_id.get(outcome.step_id.as_str()) {
            None => problems.push(format!("the result of the step \"{}\" is missing", outcome.step_id)),
            Some(entry) => match read(entry, outcome) {
                Ok(outcome) => after.push(outcome),
                Err(problem) => problems.push(problem),
            },
        }
    }
    if problems.is_empty() { Ok(after) } else { Err(problems) }
}

/// The outputs that hooks put in the place of others, under the addresses that later steps are given: nothing else
/// holds them.
pub fn replaced_outputs(before: &[StepOutcome], after: &[StepOutcome]) -> Vec<Artifact> {
    let known: std::collections::HashSet<&Hash> = before.iter().filter_map(|outcome| outcome.hash.as_ref()).collect();
    let new = after
        .iter()
        .filter(|outcome| outcome.hash.as_ref().is_some_and(|hash| !known.contains(hash)));
    new.filter_map(|outcome| canonical(&outcome.output).ok())
        .map(|text| Artifact::new("tool-output", text.into_bytes()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> StepOutcome {
        StepOutcome {
            step_id: "a".to_owned(),
            status: StepStatus::Done,
            output: Arc::new(json!("old")),
            hash: None,
            error: None,
            tokens_used: 3,
            duration_ms: 4,
            kept_from: None,
        }
    }

    #[test]
    fn a_changed_output_has_its_own_address() {
        let after = read(
            &json!({ "stepId": "a", "status": "success", "output": "new" }),
            &outcome(),
        )
        .unwrap();
        assert_eq!((&*after.output, after.tokens_used), (&json!("new"), 3));
        assert_eq!(after.hash, Hash::of_value(&json!("new")).ok());
        let kept = replaced_outputs(&[outcome()], std::slice::from_ref(&after));
        assert_eq!(
            kept.iter().map(|artifact| &artifact.hash).collect::<Vec<_>>(),
            [after.hash.as_ref().unwrap()]
        );
        assert_eq!(
            replaced_outputs(std::slice::from_ref(&after), std::slice::from_ref(&after)),
            []
        );
    }

    #[test]
    fn a_success_can_be_failed() {
        let after = read(
            &json!({ "stepId": "a", "status": "failure", "error": "too short" }),
            &outcome(),
        )
        .unwrap();
        assert_eq!(
            (after.status, after.error.unwrap().message.as_str()),
            (StepStatus::Failed, "too short")
        );
    }

    #[test]
    fn nonsense_is_refused_in_words() {
        assert!(read(&json!({ "stepId": "b", "status": "success" }), &outcome()).is_err());
        assert!(read(&json!({ "stepId": "a", "status": "fine" }), &outcome()).is_err());
        let problems = read_all(&json!([]), &[outcome()]).unwrap_err();
        assert_eq!(problems.len(), 2, "{problems:?}");
    }
}
