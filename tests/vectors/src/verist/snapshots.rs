//! Snapshots: what they keep, what comes back, and what changed between two.

use contract::RunId;
use contract::hash::Hash;
use engine::kernel::audit::{Keep, STEP_COMMANDS, STEP_OUTPUT, StepArtifact};
use engine::kernel::command::{Command, normalise_values};
use engine::kernel::snapshot::{self, Capture, Snapshot};
use engine::kernel::step::StepResult;
use serde_json::{Value, json};

use super::stub::{artifact, failed, key_by};
use crate::case::{Case, Outcome};
use crate::expect::{error_likeness, fields};

/// Takes a snapshot of a result and looks at what is in it.
pub(super) fn snapshots(case: &Case) -> Result<Outcome, String> {
    let expected = case.need("expect")?;
    let result = result_of(case.need("result")?, case.get("input"))?;
    let taken = Snapshot::of(&result, capture_of(case.get("options"))?, 1_000);
    let snapshot = match (taken, expected["error"].as_str()) {
        (Ok(snapshot), None) => snapshot,
        (Err(error), Some(wanted)) => {
            let likeness = error_likeness(wanted, &error.message);
            let likeness = likeness.ok_or_else(|| format!("it failed with {error}, not with: {wanted}"))?;
            return Ok(Outcome::by(likeness));
        }
        (Ok(_), Some(wanted)) => return Err(format!("it was taken, and should fail with: {wanted}")),
        (Err(error), None) => return Err(format!("it failed: {error}")),
    };
    let kinds: Vec<&str> = snapshot
        .artifacts
        .iter()
        .map(|artifact| artifact.kind.as_str())
        .collect();
    let content = |kind: &str| snapshot.artifact(kind).and_then(|artifact| artifact.content.clone());
    let mut actual = json!(snapshot);
    actual["kinds"] = json!(kinds);
    actual["step_output"] = json!(content(STEP_OUTPUT));
    actual["step_commands"] = json!(content(STEP_COMMANDS));
    actual["input_still_stored"] = json!(snapshot.input == result.input);
    let absent = kinds.iter().filter(|kind| content(kind).is_none());
    actual["content_absent"] = json!(absent.collect::<Vec<_>>());
    let has_hashes = snapshot
        .artifacts
        .iter()
        .all(|artifact| artifact.hash.as_str().starts_with("sha256:"));
    actual["hashes_present"] = json!(has_hashes);
    fields(expected, &actual)?;
    Ok(Outcome::Passed)
}

fn result_of(result: &Value, input: Option<&Value>) -> Result<StepResult, String> {
    let commands = match result.get("commands") {
        None | Some(Value::Null) => None,
        Some(commands) => Some(
            commands
                .as_array()
                .ok_or("`commands` is no list")?
                .iter()
                .map(Command::parse)
                .collect::<Result<_, _>>()?,
        ),
    };
    let text = |field: &str, otherwise: &str| result[field].as_str().unwrap_or(otherwise).to_owned();
    let events = result.get("events").cloned().unwrap_or_else(|| json!([]));
    let input = result.get("input").or(input).cloned();
    Ok(StepResult {
        input: input.unwrap_or_else(|| json!({ "documentId": "doc-1" })),
        output: result.get("output").cloned().ok_or("the result has no output")?,
        events: serde_json::from_value(events).map_err(|error| error.to_string())?,
        commands,
        artifacts: Vec::new(),
        step_name: text("stepName", "step"),
        workflow_id: text("workflowId", "workflow"),
        workflow_version: text("workflowVersion", "1.0.0"),
        run_id: RunId::new(text("runId", "run")),
    })
}

fn capture_of(options: Option<&Value>) -> Result<Capture, String> {
    let mut capture = Capture::default();
    let options = options.and_then(Value::as_object).into_iter().flatten();
    for (name, value) in options {
        let keep = if *value == Value::Bool(true) {
            Keep::HashOnly
        } else {
            Keep::Content
        };
        match name.as_str() {
            "outputHashOnly" => capture.output = keep,
            "commandsHashOnly" => capture.commands = capture.commands.map(|_| keep),
            "captureCommands" if *value == Value::Bool(false) => capture.commands = None,
            "captureCommands" => {}
            "artifacts" => {
                let artifacts = value.as_array().into_iter().flatten().map(artifact);
                capture.artifacts = artifacts.collect::<Result<_, _>>()?;
            }
            _ => return Err(format!("nothing is known about the option `{name}`")),
        }
    }
    Ok(capture)
}

/// Loads the stored output of a snapshot with these artifacts.
pub(super) fn load(case: &Case) -> Result<Outcome, String> {
    let artifacts = case.need_list("artifacts")?.iter().map(artifact);
    let snapshot = Snapshot {
        workflow_id: "workflow".to_owned(),
        workflow_version: "1.0.0".to_owned(),
        step_name: case.text("stepName").unwrap_or("step").to_owned(),
        input: json!({}),
        input_hash: Hash::of_bytes(b"{}"),
        artifacts: artifacts.collect::<Result<_, _>>()?,
        captured_at: 1_000,
    };
    let actual = match snapshot.load() {
        Ok(value) => json!({ "ok": true, "value": value, "output": value["output"] }),
        Err(error) => failed(&error),
    };
    fields(case.need("expect")?, &actual)?;
    Ok(Outcome::Passed)
}

/// What changed between two snapshots.
pub(super) fn compare(case: &Case) -> Result<Outcome, String> {
    let [a, b] = ["a", "b"].map(|side| case.need(side).and_then(snapshot_of));
    let key_by = key_by(case.get("keyBy").or_else(|| case.get("options")?.get("keyBy")))?;
    let expected = case.need("expect")?;
    let found = match (snapshot::compare(&a?, &b?, &key_by), expected["error"].as_str()) {
        (Ok(found), None) => found,
        (Err(error), Some(wanted)) => {
            let likeness = error_likeness(wanted, &error.to_string());
            let likeness = likeness.ok_or_else(|| format!("it failed with {error}, not with: {wanted}"))?;
            return Ok(Outcome::by(likeness));
        }
        (found, wanted) => return Err(format!("it came to {found:?}, not to the error {wanted:?}")),
    };
    let is_equal = |diff: &Option<engine::kernel::diff::Diff>| diff.as_ref().map(engine::kernel::diff::Diff::is_equal);
    let actual = json!({
        "inputDiff": found.input, "outputDiff": found.output, "commandsDiff": found.commands,
        "inputEqual": found.input.is_equal(), "outputEqual": is_equal(&found.output),
        "commandsEqual": is_equal(&found.commands), "comparable": found.output.is_some(),
    });
    fields(expected, &actual)?;
    Ok(Outcome::Passed)
}

/// `{ input, output, commands?, outputHashOnly?, artifacts? }`, or the stored content as it is under
/// `content`.
fn snapshot_of(side: &Value) -> Result<Snapshot, String> {
    let input = side.get("input").cloned().unwrap_or_default();
    let mut artifacts = Vec::new();
    let mut keep = |kind: &str, content: Value, hash_only: bool| -> Result<(), String> {
        let keep = if hash_only { Keep::HashOnly } else { Keep::Content };
        artifacts.push(StepArtifact::capture(kind, content, keep).map_err(|error| error.to_string())?);
        Ok(())
    };
    let flag = |names: &[&str]| names.iter().any(|name| side[*name] == true);
    let hash_only = flag(&["outputHashOnly", "hashOnly", "output_hash_only", "hash_only"]);
    if side["malformed"] == true {
        keep(STEP_OUTPUT, side.get("output").cloned().unwrap_or_default(), hash_only)?;
    } else if let Some(content) = ["content", "stepOutput", "step_output"]
        .iter()
        .find_map(|field| side.get(field))
    {
        keep(STEP_OUTPUT, content.clone(), hash_only)?;
    } else if let Some(output) = side.get("output") {
        let mut content =
            json!({ "output": output, "events": side.get("events").cloned().unwrap_or_else(|| json!([])) });
        if let Some(commands) = side.get("commands").filter(|commands| !commands.is_null()) {
            content["commands"] = commands.clone();
        }
        keep(STEP_OUTPUT, content, hash_only)?;
    }
    let named = ["commandsArtifact", "stepCommands", "step_commands", "commands"];
    let commands = named.iter().find_map(|field| side[*field].as_array());
    let commands = commands.filter(|commands| !commands.is_empty());
    if let (Some(commands), false) = (commands, side["captureCommands"] == false) {
        let normal = normalise_values(commands).map_err(|error| error.to_string())?;
        keep(STEP_COMMANDS, Value::from(normal), flag(&["commandsHashOnly"]))?;
    }
    for value in side["artifacts"].as_array().into_iter().flatten() {
        artifacts.push(artifact(value)?);
    }
    Ok(Snapshot {
        workflow_id: "workflow".to_owned(),
        workflow_version: "1.0.0".to_owned(),
        step_name: "step".to_owned(),
        input_hash: Hash::of_value(&input).map_err(|error| error.to_string())?,
        input,
        artifacts,
        captured_at: 1_000,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_nobody_knows_fails() {
        assert!(capture_of(Some(&json!({ "outputHashOny": true }))).is_err());
    }
}
