//! A step of a snapshot runs again.

use contract::hash::Hash;
use contract::{Key, RunId};
use engine::kernel::audit::{Keep, STEP_COMMANDS, STEP_OUTPUT, StepArtifact};
use engine::kernel::recompute::{RecomputeOptions, Recomputed};
use engine::kernel::snapshot::Snapshot;
use engine::kernel::step::Place;
use engine::schema::observe;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::stub::{Stub, failed};
use crate::case::{Case, Outcome};
use crate::expect::{equal, fields};
use crate::world::wait;

/// `baseline` is what was stored, `rerun` what the body does now.
pub(super) fn recompute(case: &Case) -> Result<Outcome, String> {
    let nothing = json!({ "output": {} });
    let body = case.get("rerun").unwrap_or(&nothing);
    let step = Stub::new(case.need("step")?, body.clone())?;
    let snapshot = snapshot_of(case)?;
    let place = Place {
        workflow_id: "",
        workflow_version: "",
        run_id: &RunId::new("run"),
        key: &Key::new("step"),
        adapters: &(),
        cancel: &CancellationToken::new(),
        on_artifact: None,
    };
    let options = options_of(case.get("options"))?;
    let outcome = wait(engine::kernel::recompute::recompute(&snapshot, &step, place, options));
    let actual = match outcome.map_err(|halt| format!("it halted: {halt:?}"))? {
        Ok(recomputed) => in_words(&recomputed),
        Err(error) => failed(&error),
    };
    fields(case.need("expect")?, &actual)?;
    Ok(Outcome::Passed)
}

fn snapshot_of(case: &Case) -> Result<Snapshot, String> {
    let input = case.need("input")?.clone();
    let field = |names: &[&str]| names.iter().find_map(|name| case.get(name));
    let flag = |names: &[&str]| field(names).is_some_and(|value| *value == Value::Bool(true));
    let hash_only = flag(&["baselineHashOnly", "baseline_hash_only", "hashOnly", "outputHashOnly"]);
    let mut artifacts = Vec::new();
    let mut keep = |kind: &str, content: &Value, hash_only: bool| -> Result<(), String> {
        let keep = if hash_only { Keep::HashOnly } else { Keep::Content };
        artifacts.push(StepArtifact::capture(kind, content.clone(), keep).map_err(|error| error.to_string())?);
        Ok(())
    };
    match case.get("baseline") {
        None | Some(Value::Null) => {}
        Some(Value::String(word)) if word.contains("hash") => keep(STEP_OUTPUT, &json!({}), true)?,
        Some(baseline) if baseline["hashOnly"] == true => keep(STEP_OUTPUT, baseline, true)?,
        Some(baseline) => keep(STEP_OUTPUT, baseline, hash_only)?,
    }
    if let Some(commands) = field(&["baselineCommandsArtifact", "baseline_commands_artifact"]) {
        keep(STEP_COMMANDS, commands, false)?;
    }
    let mut input_hash = Hash::of_value(&input).map_err(|error| error.to_string())?;
    let names = [
        "inputHash",
        "snapshotInputHash",
        "storedInputHash",
        "input_hash",
        "stored_input_hash",
    ];
    if let Some(stored) = field(&names)
        .and_then(Value::as_str)
        .filter(|hash| *hash != "<correct>")
    {
        input_hash = Hash(stored.to_owned());
    }
    let original = ["originalInput", "capturedInput", "hashedInput", "inputAtCapture"];
    if let Some(original) = field(&original) {
        input_hash = Hash::of_value(original).map_err(|error| error.to_string())?;
    }
    let is_flagged = ["tampered", "inputTampered", "inputHashMismatch", "corruptedInput"];
    if flag(&is_flagged) {
        input_hash = Hash::of_value(&json!({ "another": input })).map_err(|error| error.to_string())?;
    }
    let tampered = field(&["tamperedInput", "tampered_input", "snapshotInput", "inputTamperedTo"]).cloned();
    Ok(Snapshot {
        workflow_id: "workflow".to_owned(),
        workflow_version: "1.0.0".to_owned(),
        step_name: case.need("step")?["name"].as_str().unwrap_or_default().to_owned(),
        input: tampered.unwrap_or(input),
        input_hash,
        artifacts,
        captured_at: 1_000,
    })
}

fn options_of(options: Option<&Value>) -> Result<RecomputeOptions, String> {
    let mut known = RecomputeOptions::default();
    for (name, value) in options.and_then(Value::as_object).into_iter().flatten() {
        let is_on = *value != Value::Bool(false) && !value.is_null();
        match name.as_str() {
            "validate" => known.validate = is_on,
            "strictOutput" => known.strict_output = is_on,
            "captureArtifacts" if value["hashOnly"] == true => known.capture = Some(Keep::HashOnly),
            "captureArtifacts" => known.capture = is_on.then_some(Keep::Content),
            _ => return Err(format!("nothing is known about the option `{name}`")),
        }
    }
    Ok(known)
}

fn in_words(recomputed: &Recomputed) -> Value {
    let is_equal = |diff: &Option<engine::kernel::diff::Diff>| diff.as_ref().map(engine::kernel::diff::Diff::is_equal);
    json!({
        "ok": true, "status": recomputed.status, "comparable": recomputed.comparable,
        "rawOutput": recomputed.raw_output, "parsedOutput": recomputed.parsed_output,
        "outputDiff": recomputed.output_diff, "outputEqual": is_equal(&recomputed.output_diff),
        "commandsDiff": recomputed.commands_diff, "commandsEqual": is_equal(&recomputed.commands_diff),
        "schemaViolations": recomputed.violations, "outputArtifact": recomputed.output_artifact,
    })
}

/// Each kind of issue, made with a schema that has it.
pub(super) fn violation_kinds(case: &Case) -> Result<Outcome, String> {
    let issue = case.need_text("issue")?.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| issue.contains(word));
    let mut made: Vec<(Value, Value)> = Vec::new();
    if says(&["absent", "missing", "undefined"]) {
        made.push((
            json!({ "required": ["a"], "properties": { "a": { "type": "number" } } }),
            json!({}),
        ));
    } else if says(&["type"]) {
        made.push((
            json!({ "properties": { "a": { "type": "number" } } }),
            json!({ "a": "x" }),
        ));
        made.push((
            json!({ "properties": { "a": { "type": "number" } } }),
            json!({ "a": null }),
        ));
    }
    if says(&["small"]) {
        made.push((json!({ "properties": { "a": { "minimum": 1 } } }), json!({ "a": 0 })));
        made.push((json!({ "properties": { "a": { "minLength": 1 } } }), json!({ "a": "" })));
    }
    if says(&["big", "large"]) {
        made.push((json!({ "properties": { "a": { "maxItems": 0 } } }), json!({ "a": [1] })));
    }
    if says(&["custom", "refine", "rule"]) {
        made.push((
            json!({ "properties": { "a": { "not": { "const": 1 } } } }),
            json!({ "a": 1 }),
        ));
    }
    if made.is_empty() || says(&["enum", "else", "other", "any", "format", "union", "literal"]) {
        made.push((json!({ "properties": { "a": { "enum": ["x"] } } }), json!({ "a": "y" })));
        made.push((
            json!({ "properties": { "a": { "anyOf": [{ "const": 1 }, { "const": 2 }] } } }),
            json!({ "a": 3 }),
        ));
        made.push((
            json!({ "properties": { "a": { "pattern": "^b" } } }),
            json!({ "a": "c" }),
        ));
    }
    for (schema, value) in made {
        let found = observe(&schema, value).err().unwrap_or_default();
        let kind = found.first().map_or(Value::Null, |violation| json!(violation.kind));
        equal(&format!("kind in {schema}"), case.need("expect")?, &kind)?;
    }
    Ok(Outcome::Passed)
}
