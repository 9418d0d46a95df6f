//! The one function that runs a unit of work (seed *verist-steps*, "Step execution").
//!
//! Validate the input, run the body, validate the output, merge events, collect artifacts. A
//! returned failure keeps its code; a panic becomes `execution_failed`. Snapshot, recompute, diff
//! and commands are not here yet.

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::step::{StepError, code};
use futures::future::FutureExt;
use serde_json::Value;

use super::driver::{Driver, Halt, Outcome};
use crate::schema;

/// A unit of work with typed ends.
#[async_trait]
pub trait Step: Send + Sync {
    /// Unique; the default workflow id.
    fn name(&self) -> &str;

    /// JSON Schema of the input, strict.
    fn input_schema(&self) -> Value;

    /// JSON Schema of the output; only its top level is partial.
    fn output_schema(&self) -> Value;

    /// The work. It reaches nothing but its input and its context.
    async fn run(&self, input: Value, context: &StepContext<'_>) -> Result<StepReturn, Fault>;
}

/// Why a body did not return.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It failed.
    Failed(StepError),
    /// The drive stops.
    Halt(Halt),
}

impl From<StepError> for Fault {
    fn from(error: StepError) -> Self {
        Self::Failed(error)
    }
}

impl From<Halt> for Fault {
    fn from(halt: Halt) -> Self {
        Self::Halt(halt)
    }
}

/// Passes a halt through and hands a leaf's own failure on as the body's.
pub fn settle<T>(outcome: Outcome<T>) -> Result<T, Fault> {
    Ok(outcome??)
}

/// What a body returns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepReturn {
    /// A partial state update.
    pub output: Value,
    /// What to note for an audit.
    pub events: Vec<AuditEvent>,
}

impl StepReturn {
    /// An output and nothing else.
    pub fn output(output: Value) -> Self {
        Self {
            output,
            events: Vec::new(),
        }
    }
}

/// A note for an audit.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEvent {
    /// What kind, such as `llm.extracted`.
    pub kind: String,
    /// What belongs to it.
    pub payload: Value,
}

/// A value that an adapter handed on while the step ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepArtifact {
    /// `llm-input`, `llm-output`, `tool-input`, `tool-output`, `file-before` or `file-after`.
    pub kind: String,
    /// The value's address.
    pub hash: Hash,
}

/// What a body is given besides its input.
pub struct StepContext<'a> {
    /// Which run.
    pub run_id: &'a RunId,
    /// The step's own address in it.
    pub key: &'a Key,
    /// The outside world, leaf by leaf.
    pub adapters: &'a Driver,
    events: Mutex<Vec<AuditEvent>>,
    artifacts: Mutex<Vec<StepArtifact>>,
}

impl StepContext<'_> {
    /// Notes something for an audit; these come before the events that the body returns.
    pub fn emit_event(&self, event: AuditEvent) {
        lock(&self.events).push(event);
    }

    /// Hands on an artifact.
    pub fn on_artifact(&self, artifact: StepArtifact) {
        lock(&self.artifacts).push(artifact);
    }
}

/// What became of a step that succeeded.
#[derive(Debug, Clone, PartialEq)]
pub struct StepResult {
    /// The input, validated and defaulted.
    pub input: Value,
    /// The output, validated.
    pub output: Value,
    /// Emitted ones first, then returned ones.
    pub events: Vec<AuditEvent>,
    /// In the order they were handed on.
    pub artifacts: Vec<StepArtifact>,
    /// The step's name.
    pub step_name: String,
    /// The step's address in its run.
    pub key: Key,
    /// Which run.
    pub run_id: RunId,
}

/// Runs a step at an address of a run.
pub async fn run_step(step: &dyn Step, input: Value, key: &Key, driver: &Driver) -> Outcome<StepResult> {
    let input = match schema::normalise(&step.input_schema(), input) {
        Ok(input) => input,
        Err(problems) => return Ok(Err(invalid(code::INPUT_VALIDATION, step.name(), "input", &problems))),
    };
    let context = StepContext {
        run_id: driver.journal.run(),
        key,
        adapters: driver,
        events: Mutex::default(),
        artifacts: Mutex::default(),
    };
    let body = AssertUnwindSafe(step.run(input.clone(), &context)).catch_unwind().await;
    let returned = match body {
        Ok(Ok(returned)) => returned,
        Ok(Err(Fault::Failed(error))) => return Ok(Err(error)),
        Ok(Err(Fault::Halt(halt))) => return Err(halt),
        Err(_panic) => {
            let message = format!("the step \"{}\" broke down", step.name());
            return Ok(Err(StepError::new(code::EXECUTION_FAILED, message)));
        }
    };
    let output = match schema::normalise_partial(&step.output_schema(), returned.output) {
        Ok(output) => output,
        Err(problems) => return Ok(Err(invalid(code::OUTPUT_VALIDATION, step.name(), "output", &problems))),
    };
    let mut events = std::mem::take(&mut *lock(&context.events));
    events.extend(returned.events);
    let artifacts = std::mem::take(&mut *lock(&context.artifacts));
    Ok(Ok(StepResult {
        input,
        output,
        events,
        artifacts,
        step_name: step.name().to_owned(),
        key: key.clone(),
        run_id: driver.journal.run().clone(),
    }))
}

fn invalid(code: &str, name: &str, end: &str, problems: &[String]) -> StepError {
    StepError::new(
        code,
        format!("the {end} of \"{name}\" does not fit: {}", problems.join("; ")),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
