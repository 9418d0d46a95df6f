//! What is kept of a step that ran, to look at it or run it again later (kernel page, "Artifacts,
//! snapshot, replay, recompute, diff").
//!
//! [`Snapshot::of`] takes it, [`Snapshot::load`] gives the stored output back without running
//! anything, [`compare`] holds two against each other.

use contract::hash::{Hash, NotCanonical};
use contract::step::{StepError, code};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::audit::{Keep, STEP_COMMANDS, STEP_OUTPUT, StepArtifact};
use super::command;
use super::diff::Diff;
use super::keyed::{KeyBy, KeyError, diff_by_id};
use super::step::StepResult;

/// A step that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// Which workflow.
    pub workflow_id: String,
    /// Which version of it.
    pub workflow_version: String,
    /// Which step.
    pub step_name: String,
    /// Its input; always kept.
    pub input: Value,
    /// The input's address.
    pub input_hash: Hash,
    /// Its output and commands, then what adapters handed on. Of one kind the first counts.
    pub artifacts: Vec<StepArtifact>,
    /// When, in milliseconds since 1970, UTC.
    pub captured_at: i64,
}

/// What a snapshot keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Capture {
    /// The output whole, or only its address.
    pub output: Keep,
    /// The commands apart from the output, whole or only their address; none for not at all.
    pub commands: Option<Keep>,
    /// What else to keep; never of a kind that is the kernel's own.
    pub artifacts: Vec<StepArtifact>,
}

impl Default for Capture {
    fn default() -> Self {
        Self {
            output: Keep::Content,
            commands: Some(Keep::Content),
            artifacts: Vec::new(),
        }
    }
}

impl Snapshot {
    /// Takes a snapshot of a result.
    ///
    /// # Errors
    /// An artifact of a kind that is the kernel's own, or a value without a canonical form.
    pub fn of(result: &StepResult, capture: Capture, now_ms: i64) -> Result<Self, StepError> {
        for artifact in &capture.artifacts {
            artifact.refuse_reserved()?;
        }
        let commands = result.commands.as_deref().unwrap_or_default();
        let mut artifacts = vec![output_artifact(result, capture.output).map_err(unnamed)?];
        if let (Some(keep), false) = (capture.commands, commands.is_empty()) {
            let normal = command::normalise(commands).map_err(unnamed)?;
            artifacts.push(StepArtifact::capture(STEP_COMMANDS, Value::Array(normal), keep).map_err(unnamed)?);
        }
        artifacts.extend(capture.artifacts);
        Ok(Self {
            workflow_id: result.workflow_id.clone(),
            workflow_version: result.workflow_version.clone(),
            step_name: result.step_name.clone(),
            input: result.input.clone(),
            input_hash: Hash::of_value(&result.input).map_err(unnamed)?,
            artifacts,
            captured_at: now_ms,
        })
    }

    /// The first artifact of a kind.
    pub fn artifact(&self, kind: &str) -> Option<&StepArtifact> {
        self.artifacts.iter().find(|artifact| artifact.kind == kind)
    }

    /// The stored output with its events and commands, verified. Nothing runs.
    ///
    /// # Errors
    /// `missing_output`: it was not kept, or only its address. `output_corrupted`: it is not what its
    /// address says.
    pub fn load(&self) -> Result<Value, StepError> {
        let name = &self.step_name;
        let missing = |why: &str| StepError::new(code::MISSING_OUTPUT, format!("{why} for step \"{name}\""));
        let artifact = self
            .artifact(STEP_OUTPUT)
            .ok_or_else(|| missing("No step-output artifact"))?;
        let content = artifact
            .content
            .as_ref()
            .ok_or_else(|| missing("Step output content not available (hash-only capture)"))?;
        match Hash::of_value(content) {
            Ok(hash) if hash == artifact.hash => Ok(content.clone()),
            found => {
                let found = found.map_or_else(|error| error.to_string(), |hash| hash.0);
                let expected = artifact.hash.as_str();
                Err(StepError::new(
                    code::OUTPUT_CORRUPTED,
                    format!("Output hash mismatch for step \"{name}\": expected {expected}, got {found}"),
                ))
            }
        }
    }

    /// The stored output alone, when there is one to compare with.
    pub(super) fn baseline(&self) -> Option<&Value> {
        self.artifact(STEP_OUTPUT)?.content.as_ref()?.as_object()?.get("output")
    }

    /// The stored commands as they are compared: kept apart they outrank those in the output.
    pub(super) fn baseline_commands(&self) -> Option<Vec<Value>> {
        let apart = self
            .artifact(STEP_COMMANDS)
            .and_then(|artifact| artifact.content.as_ref());
        let inside = || self.artifact(STEP_OUTPUT)?.content.as_ref()?.get("commands");
        let list = apart.filter(|list| are_commands(list)).or_else(inside)?;
        if !are_commands(list) {
            return None;
        }
        command::normalise_values(list.as_array()?).ok()
    }
}

fn are_commands(list: &Value) -> bool {
    list.as_array().is_some_and(|list| {
        list.iter()
            .all(|command| command.get("type").is_some_and(Value::is_string))
    })
}

/// The artifact of a result's output, events and commands.
pub(super) fn output_artifact(result: &StepResult, keep: Keep) -> Result<StepArtifact, NotCanonical> {
    let mut content = json!({ "output": result.output, "events": result.events });
    if let Some(commands) = &result.commands {
        content["commands"] = json!(commands);
    }
    StepArtifact::capture(STEP_OUTPUT, content, keep)
}

/// A value that cannot be named by its content.
pub(super) fn unnamed(error: NotCanonical) -> StepError {
    StepError::new(code::OUTPUT_VALIDATION, error.to_string())
}

/// Two snapshots held against each other. Events are never compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What changed in the input.
    pub input: Diff,
    /// What changed in the output; none when one of them did not keep it.
    pub output: Option<Diff>,
    /// What changed in the commands; none when one of them has none stored.
    pub commands: Option<Diff>,
}

/// Compares two snapshots.
///
/// # Errors
/// A list without the ids that `key_by` promises.
pub fn compare(original: &Snapshot, updated: &Snapshot, key_by: &KeyBy) -> Result<Comparison, KeyError> {
    let output = match (original.baseline(), updated.baseline()) {
        (Some(before), Some(after)) => Some(diff_by_id(before, after, key_by)?),
        _ => None,
    };
    let commands = original.baseline_commands().zip(updated.baseline_commands());
    Ok(Comparison {
        input: Diff::between(&original.input, &updated.input),
        output,
        commands: commands.map(|(before, after)| Diff::between(&Value::Array(before), &Value::Array(after))),
    })
}

#[cfg(test)]
mod tests {
    use contract::ids::RunId;

    use super::super::command::Command;
    use super::*;

    fn result(commands: Option<Vec<Command>>) -> StepResult {
        StepResult {
            input: json!({"a": 1}),
            output: json!({"x": 1}),
            events: Vec::new(),
            commands,
            artifacts: Vec::new(),
            step_name: "s".to_owned(),
            workflow_id: "w".to_owned(),
            workflow_version: "1".to_owned(),
            run_id: RunId::new("r"),
        }
    }

    fn snapshot(capture: Capture) -> Snapshot {
        Snapshot::of(&result(Some(vec![Command::emit("t", json!(1))])), capture, 5).unwrap()
    }

    #[test]
    fn keeps_the_output_then_the_commands_then_the_rest() {
        let extra = StepArtifact::capture("llm-output", json!("x"), Keep::Content).unwrap();
        let taken = snapshot(Capture {
            artifacts: vec![extra],
            ..Capture::default()
        });
        let kinds: Vec<&str> = taken.artifacts.iter().map(|artifact| artifact.kind.as_str()).collect();
        assert_eq!(kinds, [STEP_OUTPUT, STEP_COMMANDS, "llm-output"]);
    }

    #[test]
    fn a_result_without_commands_has_no_artifact_of_them() {
        for commands in [None, Some(Vec::new())] {
            let taken = Snapshot::of(&result(commands), Capture::default(), 5).unwrap();
            assert_eq!(taken.artifacts.len(), 1);
        }
    }

    #[test]
    fn the_stored_output_comes_back_unless_it_is_gone_or_changed() {
        let mut taken = snapshot(Capture::default());
        let stored = taken.load().unwrap();
        assert_eq!(stored["output"], json!({"x": 1}));
        taken.artifacts[0].content = Some(json!({"output": {"x": 2}, "events": []}));
        assert_eq!(taken.load().unwrap_err().code, code::OUTPUT_CORRUPTED);
        taken.artifacts[0].content = None;
        assert_eq!(taken.load().unwrap_err().code, code::MISSING_OUTPUT);
        taken.artifacts.clear();
        assert_eq!(taken.load().unwrap_err().code, code::MISSING_OUTPUT);
    }

    #[test]
    fn outputs_that_were_not_kept_are_not_compared() {
        let hash_only = snapshot(Capture {
            output: Keep::HashOnly,
            ..Capture::default()
        });
        let found = compare(&snapshot(Capture::default()), &hash_only, &KeyBy::new()).unwrap();
        assert_eq!((found.output, found.commands), (None, Some(Diff::default())));
    }
}
