//! The one function that runs a unit of work (seed *verist-steps*, "Step execution").
//!
//! Validate the input, build the context, run the body, validate the output, merge events, collect
//! artifacts. A returned failure keeps its code; a panic becomes `execution_failed`. Whoever calls
//! commits what comes out: the executor a plan's step, [`super::work`] a workflow's.

use std::any::Any;
use std::panic::AssertUnwindSafe;

use contract::ids::{Key, RunId};
use contract::step::{StepError, code};
use futures::future::FutureExt;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::driver::{Driver, Outcome};
use super::step::OnArtifact;
pub use super::step::{Fault, Place, Step, StepContext, StepResult, StepReturn, fail, settle};
use crate::schema;

/// The version of a workflow that nobody gave one.
pub const NO_VERSION: &str = "0.0.0";

/// What [`run`] may be told besides the step and its input.
#[derive(Default)]
pub struct RunOptions<'a> {
    /// The step's name when absent.
    pub workflow_id: Option<&'a str>,
    /// [`NO_VERSION`] when absent.
    pub workflow_version: Option<&'a str>,
    /// A fresh one when absent.
    pub run_id: Option<RunId>,
    /// Handed each artifact as it comes.
    pub on_artifact: Option<&'a OnArtifact>,
}

/// Runs a step by itself. `fresh` makes run ids.
pub async fn run<A: ?Sized + Sync>(
    step: &dyn Step<A>,
    input: Value,
    adapters: &A,
    options: RunOptions<'_>,
    fresh: &(dyn Fn() -> RunId + Sync),
) -> Outcome<StepResult> {
    let run_id = options.run_id.unwrap_or_else(fresh);
    let place = Place {
        workflow_id: options.workflow_id.unwrap_or_else(|| step.name()),
        workflow_version: options.workflow_version.unwrap_or(NO_VERSION),
        run_id: &run_id,
        key: &Key::new(step.name()),
        adapters,
        cancel: &CancellationToken::new(),
        on_artifact: options.on_artifact,
    };
    run_step(step, input, place).await
}

/// Runs a step at a place.
pub async fn run_step<A: ?Sized + Sync>(step: &dyn Step<A>, input: Value, place: Place<'_, A>) -> Outcome<StepResult> {
    let input = match schema::normalise(&step.input_schema(), input) {
        Ok(input) => input,
        Err(problems) => return Ok(Err(invalid(code::INPUT_VALIDATION, step.name(), "input", &problems))),
    };
    let context = StepContext::new(place);
    let returned = match run_body(step, input.clone(), &context).await? {
        Ok(returned) => returned,
        Err(error) => return Ok(Err(error)),
    };
    let output = match schema::normalise_partial(&step.output_schema(), returned.output) {
        Ok(output) => output,
        Err(problems) => return Ok(Err(invalid(code::OUTPUT_VALIDATION, step.name(), "output", &problems))),
    };
    let (mut events, artifacts) = context.take();
    events.extend(returned.events);
    Ok(Ok(StepResult {
        input,
        output,
        events,
        commands: returned.commands,
        artifacts,
        step_name: step.name().to_owned(),
        workflow_id: context.workflow_id.to_owned(),
        workflow_version: context.workflow_version.to_owned(),
        run_id: context.run_id.clone(),
    }))
}

/// Runs the body alone; whatever goes wrong in it becomes a failure with a code.
pub(super) async fn run_body<A: ?Sized + Sync>(
    step: &dyn Step<A>,
    input: Value,
    context: &StepContext<'_, A>,
) -> Outcome<StepReturn> {
    match AssertUnwindSafe(step.run(input, context)).catch_unwind().await {
        Ok(Ok(returned)) => Ok(Ok(returned)),
        Ok(Err(Fault::Failed(error))) => Ok(Err(as_returned(error))),
        Ok(Err(Fault::Broke(message))) => Ok(Err(StepError::new(code::EXECUTION_FAILED, message))),
        Ok(Err(Fault::Halt(halt))) => Err(halt),
        Err(panic) => Ok(Err(StepError::new(
            code::EXECUTION_FAILED,
            words_of(panic.as_ref()).unwrap_or_else(|| format!("the step \"{}\" broke down", step.name())),
        ))),
    }
}

/// The kernel's own codes are never safe to repeat, whoever uses them.
fn as_returned(error: StepError) -> StepError {
    let is_kernels = [code::INPUT_VALIDATION, code::OUTPUT_VALIDATION, code::EXECUTION_FAILED].contains(&&*error.code);
    let retryable = error.retryable && !is_kernels;
    error.retryable(retryable)
}

/// What a panic said.
fn words_of(panic: &(dyn Any + Send)) -> Option<String> {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    said.map(str::to_owned)
}

/// What is said of something of the outside that broke down: what it is, and its own words.
pub(super) fn broke_down(what: &str, panic: &(dyn Any + Send)) -> StepError {
    let said = words_of(panic).map(|said| format!(": {said}")).unwrap_or_default();
    StepError::new(code::EXECUTION_FAILED, format!("{what} broke down{said}"))
}

pub(super) fn invalid(code: &str, name: &str, end: &str, problems: &[String]) -> StepError {
    StepError::new(
        code,
        format!(
            "{end} validation failed: the {end} of \"{name}\" does not fit: {}",
            problems.join("; ")
        ),
    )
    .cause(Value::from(problems))
}

impl Driver {
    /// Runs a step at an address of the run that is driven.
    pub async fn run_step(&self, step: &dyn Step, input: Value, key: &Key) -> Outcome<StepResult> {
        let place = Place {
            workflow_id: step.name(),
            workflow_version: NO_VERSION,
            run_id: self.journal.run(),
            key,
            adapters: self,
            cancel: &self.stop,
            on_artifact: None,
        };
        run_step(step, input, place).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use async_trait::async_trait;
    use futures::executor::block_on;
    use serde_json::json;

    use super::super::audit::{AuditEvent, Keep, StepArtifact};
    use super::super::command::Command;
    use super::*;

    type Body = fn(&StepContext<'_, ()>) -> Result<StepReturn, Fault>;

    struct Stub(Body);

    #[async_trait]
    impl Step<()> for Stub {
        fn name(&self) -> &str {
            "stub"
        }

        fn input_schema(&self) -> Value {
            json!({ "type": "object", "required": ["x"], "properties": {
                "x": { "type": "number" }, "unit": { "type": "string", "default": "kg" },
            } })
        }

        fn output_schema(&self) -> Value {
            json!({ "type": "object", "required": ["y", "z"], "properties": {
                "y": { "type": "number" }, "z": { "type": "object", "required": ["a"], "properties": { "a": {} } },
            } })
        }

        async fn run(&self, _input: Value, context: &StepContext<'_, ()>) -> Result<StepReturn, Fault> {
            (self.0)(context)
        }
    }

    fn go(body: Body) -> Result<StepResult, StepError> {
        let fresh = || RunId::new("fresh");
        block_on(run(&Stub(body), json!({"x": 1}), &(), RunOptions::default(), &fresh)).unwrap()
    }

    fn check_fails(body: Body, expected: &StepError) {
        assert_eq!(go(body).as_ref(), Err(expected));
    }

    #[test]
    fn a_step_by_itself_has_its_name_no_version_and_a_fresh_run() {
        let result = go(|_| Ok(StepReturn::output(json!({"y": 1, "more": 2})))).unwrap();
        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({
                "input": {"x": 1, "unit": "kg"}, "output": {"y": 1}, "events": [], "artifacts": [],
                "stepName": "stub", "workflowId": "stub", "workflowVersion": "0.0.0", "runId": "fresh",
            })
        );
    }

    #[test]
    fn a_step_at_a_place_has_what_the_place_says_and_nothing_by_default() {
        let body: Body = |context| {
            let ids = [context.workflow_id, context.workflow_version, context.run_id.as_str()];
            Ok(StepReturn::output(json!({"z": {"a": ids}})))
        };
        let (run_id, key) = (RunId::new("run"), Key::new("here"));
        let place = Place {
            workflow_id: "monthly",
            workflow_version: "2.1.0",
            run_id: &run_id,
            key: &key,
            adapters: &(),
            cancel: &CancellationToken::new(),
            on_artifact: None,
        };
        let result = block_on(run_step(&Stub(body), json!({"x": 1}), place))
            .unwrap()
            .unwrap();
        let ids = ["monthly", "2.1.0", "run"];
        assert_eq!(result.output, json!({"z": {"a": ids}}));
        assert_eq!(
            [&result.workflow_id, &result.workflow_version, result.run_id.as_str()],
            ids
        );
    }

    #[test]
    fn only_the_top_level_of_the_output_is_partial() {
        let error = go(|_| Ok(StepReturn::output(json!({"z": {}})))).unwrap_err();
        assert_eq!((&*error.code, error.retryable), (code::OUTPUT_VALIDATION, false));
    }

    #[test]
    fn a_failure_keeps_its_code_and_its_cause() {
        check_fails(
            |_| Err(fail("timeout", "late", true, Some(json!("why")))),
            &StepError::new("timeout", "late").retryable(true).cause(json!("why")),
        );
    }

    #[test]
    fn a_panic_is_an_execution_that_failed_in_its_own_words() {
        let failed = |words: &str| StepError::new(code::EXECUTION_FAILED, words);
        check_fails(|_| panic!("step {}", "failed"), &failed("step failed"));
        check_fails(|_| Err(Fault::Broke("no".to_owned())), &failed("no"));
        check_fails(|_| std::panic::panic_any(7_u8), &failed("the step \"stub\" broke down"));
    }

    #[test]
    fn a_code_of_the_kernel_is_never_safe_to_repeat() {
        let bodies: [(Body, &str); 3] = [
            (
                |_| Err(fail(code::EXECUTION_FAILED, "x", true, None)),
                code::EXECUTION_FAILED,
            ),
            (
                |_| Err(fail(code::INPUT_VALIDATION, "x", true, None)),
                code::INPUT_VALIDATION,
            ),
            (
                |_| Err(fail(code::OUTPUT_VALIDATION, "x", true, None)),
                code::OUTPUT_VALIDATION,
            ),
        ];
        for (body, code) in bodies {
            check_fails(body, &StepError::new(code, "x"));
        }
    }

    #[test]
    fn the_body_never_sees_an_input_that_does_not_fit() {
        let stub = Stub(|_| panic!("the body ran"));
        for input in [json!({}), json!({"x": "1"}), json!(null)] {
            let options = RunOptions::default();
            let ran = block_on(run(&stub, input.clone(), &(), options, &|| RunId::new("r"))).unwrap();
            let error = ran.unwrap_err();
            assert_eq!(
                (&*error.code, error.retryable),
                (code::INPUT_VALIDATION, false),
                "{input}"
            );
            assert!(error.cause.is_some(), "{input}");
        }
    }

    #[test]
    fn artifacts_are_in_the_result_and_were_handed_on_as_they_came() {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&seen);
        let listener = move |artifact: &StepArtifact| {
            heard.lock().unwrap().push(artifact.clone());
            Ok(())
        };
        let options = RunOptions {
            on_artifact: Some(&listener),
            ..RunOptions::default()
        };
        let stub = Stub(|context| {
            context.on_artifact(StepArtifact::capture("a", json!(1), Keep::Content).unwrap())?;
            context.on_artifact(StepArtifact::capture("b", json!(2), Keep::HashOnly).unwrap())?;
            Ok(StepReturn::output(json!({})))
        });
        let result = block_on(run(&stub, json!({"x": 1}), &(), options, &|| RunId::new("r"))).unwrap();
        let artifacts = result.unwrap().artifacts;
        assert_eq!(artifacts, *seen.lock().unwrap());
        let found: Vec<_> = artifacts
            .into_iter()
            .map(|artifact| (artifact.kind, artifact.content))
            .collect();
        assert_eq!(found, [("a".to_owned(), Some(json!(1))), ("b".to_owned(), None)]);
    }

    #[test]
    fn emitted_events_come_before_returned_ones() {
        let result = go(|context| {
            context.emit_event(AuditEvent::new("first"));
            Ok(StepReturn {
                events: vec![AuditEvent::new("second")],
                ..StepReturn::output(json!({}))
            })
        });
        let kinds: Vec<String> = result.unwrap().events.into_iter().map(|event| event.kind).collect();
        assert_eq!(kinds, ["first", "second"]);
    }

    #[test]
    fn a_reserved_artifact_fails_the_step() {
        let error = go(|context| {
            let artifact = StepArtifact::capture("step-output", json!(1), Keep::Content);
            context.on_artifact(artifact.unwrap())?;
            Ok(StepReturn::output(json!({})))
        });
        assert_eq!(
            error.unwrap_err().message,
            "Artifact kind \"step-output\" is reserved by the kernel."
        );
    }

    #[test]
    fn commands_keep_their_order_and_no_commands_are_not_an_empty_list() {
        let emit = |topic: &str| Command::emit(topic, json!(null));
        let result = go(|_| {
            let emit = |topic: &str| Command::emit(topic, json!(null));
            Ok(StepReturn::output(json!({})).with_commands(vec![emit("b"), emit("a")]))
        });
        assert_eq!(result.unwrap().commands, Some(vec![emit("b"), emit("a")]));
        assert_eq!(go(|_| Ok(StepReturn::output(json!({})))).unwrap().commands, None);
    }
}
