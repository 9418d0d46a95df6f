//! A step run again on its recorded input, and what came out held against what was stored (kernel
//! page, "Artifacts, snapshot, replay, recompute, diff").
//!
//! What is wrong with the new output is observed, and never keeps it from being compared. A run's
//! recorded leaves are recomputed in [`super::recompute_run`].

use std::fmt;

use contract::hash::Hash;
use contract::step::{StepError, code};
use serde::Serialize;
use serde_json::Value;

use super::audit::{AuditEvent, Keep, StepArtifact};
use super::command;
use super::diff::Diff;
use super::driver::Outcome;
use super::keyed::diff_by_id;
use super::run_step::{invalid, run_body};
use super::snapshot::{Snapshot, output_artifact, unnamed};
use super::step::{Place, Step, StepContext, StepResult};
use crate::schema::{self, Violation};

/// How a step is run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecomputeOptions {
    /// Whether input and output are held against the step's schemas.
    pub validate: bool,
    /// Whether a field that is absent at the top of the output is wrong.
    pub strict_output: bool,
    /// Whether the new output is captured, and how.
    pub capture: Option<Keep>,
}

impl Default for RecomputeOptions {
    fn default() -> Self {
        Self {
            validate: true,
            strict_output: false,
            capture: None,
        }
    }
}

/// How a recomputed output stands to the stored one, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecomputeStatus {
    /// It does not fit the step's schema.
    SchemaViolation,
    /// It fits, and is another.
    ValueChanged,
    /// It fits, and nothing that can be compared has changed.
    Clean,
}

impl fmt::Display for RecomputeStatus {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SchemaViolation => "schema_violation",
            Self::ValueChanged => "value_changed",
            Self::Clean => "clean",
        })
    }
}

/// What came of running a step again.
#[derive(Debug, Clone, PartialEq)]
pub struct Recomputed {
    /// The output as the body returned it.
    pub raw_output: Value,
    /// The output with defaults and without unknown keys; none when it does not fit.
    pub parsed_output: Option<Value>,
    /// The gravest thing that was found.
    pub status: RecomputeStatus,
    /// Whether there is a stored output to compare with.
    pub comparable: bool,
    /// What changed in the output.
    pub output_diff: Option<Diff>,
    /// What changed in the commands; does not count for the status.
    pub commands_diff: Option<Diff>,
    /// What is wrong with the new output.
    pub violations: Vec<Violation>,
    /// The new output as a snapshot would keep it.
    pub output_artifact: Option<StepArtifact>,
    /// Noted on the way; never compared.
    pub events: Vec<AuditEvent>,
}

/// Runs the step of a snapshot again, at a place of which the workflow's name and version are the
/// snapshot's.
///
/// # Errors
/// `input_hash_mismatch`, `input_validation`, `normalization_failed` (a list without the ids that the
/// step promises), or the body's own failure with its code.
pub async fn recompute<A: ?Sized + Sync>(
    snapshot: &Snapshot,
    step: &dyn Step<A>,
    place: Place<'_, A>,
    options: RecomputeOptions,
) -> Outcome<Recomputed> {
    let input = match input_of(snapshot, step, options) {
        Ok(input) => input,
        Err(error) => return Ok(Err(error)),
    };
    let context = StepContext::new(Place {
        workflow_id: &snapshot.workflow_id,
        workflow_version: &snapshot.workflow_version,
        ..place
    });
    let returned = match run_body(step, input.clone(), &context).await? {
        Ok(returned) => returned,
        Err(error) => return Ok(Err(error)),
    };
    let (mut events, artifacts) = context.take();
    events.extend(returned.events);
    let result = StepResult {
        input,
        output: returned.output,
        events,
        commands: returned.commands,
        artifacts,
        step_name: snapshot.step_name.clone(),
        workflow_id: snapshot.workflow_id.clone(),
        workflow_version: snapshot.workflow_version.clone(),
        run_id: context.run_id.clone(),
    };
    Ok(held_against(snapshot, step, result, options))
}

fn input_of<A: ?Sized + Sync>(
    snapshot: &Snapshot,
    step: &dyn Step<A>,
    options: RecomputeOptions,
) -> Result<Value, StepError> {
    let hash = Hash::of_value(&snapshot.input).map_err(unnamed)?;
    if hash != snapshot.input_hash {
        let message = format!(
            "Input hash mismatch: expected {}, got {}",
            snapshot.input_hash.as_str(),
            hash.as_str()
        );
        return Err(StepError::new(code::INPUT_HASH_MISMATCH, message));
    }
    if !options.validate {
        return Ok(snapshot.input.clone());
    }
    schema::normalise(&step.input_schema(), snapshot.input.clone())
        .map_err(|problems| invalid(code::INPUT_VALIDATION, step.name(), "input", &problems))
}

fn held_against<A: ?Sized + Sync>(
    snapshot: &Snapshot,
    step: &dyn Step<A>,
    result: StepResult,
    options: RecomputeOptions,
) -> Result<Recomputed, StepError> {
    let parsed = match (options.validate, options.strict_output) {
        (false, _) => None,
        (true, true) => Some(schema::observe(&step.output_schema(), result.output.clone())),
        (true, false) => Some(schema::observe_partial(&step.output_schema(), result.output.clone())),
    };
    let (parsed_output, violations) = match parsed {
        None => (None, Vec::new()),
        Some(Ok(parsed)) => (Some(parsed), Vec::new()),
        Some(Err(violations)) => (None, violations),
    };
    let baseline = snapshot.baseline();
    let output_diff = baseline
        .map(|before| diff_by_id(before, parsed_output.as_ref().unwrap_or(&result.output), &step.key_by()))
        .transpose()
        .map_err(|error| StepError::new(code::NORMALIZATION_FAILED, error.to_string()))?;
    let commands = command::normalise(result.commands.as_deref().unwrap_or_default()).map_err(unnamed)?;
    let commands_diff = snapshot
        .baseline_commands()
        .map(|before| Diff::between(&Value::Array(before), &Value::Array(commands)));
    let status = if !violations.is_empty() {
        RecomputeStatus::SchemaViolation
    } else if output_diff.as_ref().is_some_and(|diff| !diff.is_equal()) {
        RecomputeStatus::ValueChanged
    } else {
        RecomputeStatus::Clean
    };
    let output_artifact = match options.capture {
        Some(keep) => Some(output_artifact(&result, keep).map_err(unnamed)?),
        None => None,
    };
    Ok(Recomputed {
        raw_output: result.output,
        parsed_output,
        status,
        comparable: baseline.is_some(),
        output_diff,
        commands_diff,
        violations,
        output_artifact,
        events: result.events,
    })
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use contract::ids::{Key, RunId};
    use futures::executor::block_on;
    use serde_json::json;
    use tokio_util::sync::CancellationToken;

    use super::super::audit::STEP_OUTPUT;
    use super::super::command::Command;
    use super::super::keyed::KeyBy;
    use super::super::step::{Fault, StepReturn, fail};
    use super::*;

    /// Returns what it is told, whatever it is given.
    struct Says(Value, Option<Vec<Command>>);

    #[async_trait]
    impl Step<()> for Says {
        fn name(&self) -> &str {
            "says"
        }

        fn input_schema(&self) -> Value {
            json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "number" } } })
        }

        fn output_schema(&self) -> Value {
            json!({ "type": "object", "required": ["y", "list"], "properties": {
                "y": { "type": "number", "minimum": 0 }, "list": { "type": "array" },
            } })
        }

        fn key_by(&self) -> KeyBy {
            KeyBy::from([("list".to_owned(), "id".to_owned())])
        }

        async fn run(&self, _input: Value, _context: &StepContext<'_, ()>) -> Result<StepReturn, Fault> {
            Ok(StepReturn {
                commands: self.1.clone(),
                ..StepReturn::output(self.0.clone())
            })
        }
    }

    fn snapshot(stored: Value) -> Snapshot {
        let input = json!({"n": 1});
        Snapshot {
            workflow_id: "w".to_owned(),
            workflow_version: "1".to_owned(),
            step_name: "says".to_owned(),
            input_hash: Hash::of_value(&input).unwrap(),
            input,
            artifacts: vec![StepArtifact::capture(STEP_OUTPUT, stored, Keep::Content).unwrap()],
            captured_at: 0,
        }
    }

    fn go(snapshot: &Snapshot, step: &Says, options: RecomputeOptions) -> Result<Recomputed, StepError> {
        go_with(snapshot, step, options)
    }

    fn go_with(snapshot: &Snapshot, step: &dyn Step<()>, options: RecomputeOptions) -> Result<Recomputed, StepError> {
        let place = Place {
            workflow_id: "",
            workflow_version: "",
            run_id: &RunId::new("r"),
            key: &Key::new("k"),
            adapters: &(),
            cancel: &CancellationToken::new(),
            on_artifact: None,
        };
        block_on(recompute(snapshot, step, place, options)).unwrap()
    }

    fn check(stored: Value, now: Value, status: RecomputeStatus) {
        let recomputed = go(&snapshot(stored), &Says(now, None), RecomputeOptions::default());
        assert_eq!(recomputed.unwrap().status, status);
    }

    #[test]
    fn the_gravest_finding_is_the_status() {
        check(json!({"output": {"y": 1}}), json!({"y": 1.0}), RecomputeStatus::Clean);
        check(
            json!({"output": {"y": 1}}),
            json!({"y": 2}),
            RecomputeStatus::ValueChanged,
        );
        check(
            json!({"output": {"y": 1}}),
            json!({"y": "2"}),
            RecomputeStatus::SchemaViolation,
        );
        check(json!({"y": 1}), json!({"y": 2}), RecomputeStatus::Clean);
    }

    #[test]
    fn a_changed_decision_is_no_changed_value() {
        let stored = snapshot(json!({"output": {}, "commands": [{"type": "emit", "topic": "t", "payload": 1}]}));
        let recomputed = go(&stored, &Says(json!({}), None), RecomputeOptions::default()).unwrap();
        assert_eq!(recomputed.status, RecomputeStatus::Clean);
        assert_eq!(recomputed.commands_diff.map(|diff| diff.is_equal()), Some(false));
    }

    #[test]
    fn an_input_that_was_changed_is_not_run() {
        let mut stored = snapshot(json!({"output": {}}));
        stored.input = json!({"n": 2});
        let error = go(&stored, &Says(json!({}), None), RecomputeOptions::default()).unwrap_err();
        assert_eq!(error.code, code::INPUT_HASH_MISMATCH);
    }

    /// Fails as a step says that it does.
    struct Late;

    #[async_trait]
    impl Step<()> for Late {
        fn name(&self) -> &str {
            "says"
        }

        fn input_schema(&self) -> Value {
            json!({ "type": "object" })
        }

        fn output_schema(&self) -> Value {
            json!({ "type": "object" })
        }

        async fn run(&self, _input: Value, _context: &StepContext<'_, ()>) -> Result<StepReturn, Fault> {
            Err(fail("timeout", "late", true, None))
        }
    }

    #[test]
    fn a_failure_keeps_its_code_when_the_step_runs_again() {
        let stored = snapshot(json!({"output": {}}));
        let error = go_with(&stored, &Late, RecomputeOptions::default()).unwrap_err();
        assert_eq!(error, StepError::new("timeout", "late").retryable(true));
    }

    #[test]
    fn a_strict_output_has_all_its_fields() {
        let options = RecomputeOptions {
            strict_output: true,
            ..RecomputeOptions::default()
        };
        let recomputed = go(&snapshot(json!({})), &Says(json!({"y": 1}), None), options).unwrap();
        assert_eq!(recomputed.violations.len(), 1);
        let unchecked = RecomputeOptions {
            validate: false,
            ..options
        };
        let recomputed = go(&snapshot(json!({})), &Says(json!({"y": "x"}), None), unchecked).unwrap();
        assert_eq!((recomputed.violations.len(), recomputed.parsed_output), (0, None));
    }

    #[test]
    fn a_list_without_the_promised_ids_cannot_be_compared() {
        let says = Says(json!({"list": [{}]}), None);
        let error = go(&snapshot(json!({"output": {}})), &says, RecomputeOptions::default()).unwrap_err();
        assert_eq!(error.code, code::NORMALIZATION_FAILED);
    }

    #[test]
    fn the_new_output_is_captured_when_asked_for() {
        let options = |capture| RecomputeOptions {
            capture,
            ..RecomputeOptions::default()
        };
        let taken = |capture| {
            let recomputed = go(&snapshot(json!({})), &Says(json!({"y": 1}), None), options(capture));
            recomputed
                .unwrap()
                .output_artifact
                .map(|artifact| artifact.content.is_some())
        };
        assert_eq!(taken(None), None);
        assert_eq!(taken(Some(Keep::Content)), Some(true));
        assert_eq!(taken(Some(Keep::HashOnly)), Some(false));
    }
}
