//! What a step is (seed *verist-steps*, "Step definition"): a name, two schemas, and work that
//! reaches nothing but its input and its context.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use contract::ids::{Key, RunId};
use contract::step::StepError;
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::audit::{AuditEvent, StepArtifact};
use super::command::Command;
use super::driver::{Driver, Halt, Outcome};

/// A unit of work with typed ends. `A` is the outside world as the step sees it.
#[async_trait]
pub trait Step<A: ?Sized + Sync = Driver>: Send + Sync {
    /// Unique; the default workflow id.
    fn name(&self) -> &str;

    /// JSON Schema of the input, strict.
    fn input_schema(&self) -> Value;

    /// JSON Schema of the output; only its top level is partial.
    fn output_schema(&self) -> Value;

    /// Paths of lists in the output, each with the field that tells its items apart, such as
    /// `results.claims` and `id`. Matters when outputs are compared, and nowhere else.
    fn key_by(&self) -> IndexMap<String, String> {
        IndexMap::new()
    }

    /// The work.
    async fn run(&self, input: Value, context: &StepContext<'_, A>) -> Result<StepReturn, Fault>;
}

/// Why a body did not return.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It failed, and says how.
    Failed(StepError),
    /// It failed in words only; becomes `execution_failed`.
    Broke(String),
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

/// A failure that keeps its code; what a body returns in place of a [`StepReturn`].
pub fn fail(code: &str, message: impl Into<String>, retryable: bool, cause: Option<Value>) -> Fault {
    let error = StepError::new(code, message).retryable(retryable);
    Fault::Failed(match cause {
        Some(cause) => error.cause(cause),
        None => error,
    })
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
    /// What should happen next; absent is not empty.
    pub commands: Option<Vec<Command>>,
}

impl StepReturn {
    /// An output and nothing else.
    pub fn output(output: Value) -> Self {
        Self {
            output,
            ..Self::default()
        }
    }

    /// The same with commands.
    #[must_use]
    pub fn with_commands(mut self, commands: Vec<Command>) -> Self {
        self.commands = Some(commands);
        self
    }
}

/// Somebody who is handed each artifact as it comes.
pub type OnArtifact = dyn Fn(&StepArtifact) -> Result<(), StepError> + Send + Sync;

/// Where a step runs, and with what.
pub struct Place<'a, A: ?Sized = Driver> {
    /// Which workflow.
    pub workflow_id: &'a str,
    /// Which version of it.
    pub workflow_version: &'a str,
    /// Which run.
    pub run_id: &'a RunId,
    /// The step's own address in it.
    pub key: &'a Key,
    /// The outside world.
    pub adapters: &'a A,
    /// Cancelled when the step is to stop.
    pub cancel: &'a CancellationToken,
    /// Handed each artifact as it comes.
    pub on_artifact: Option<&'a OnArtifact>,
}

/// What a body is given besides its input.
pub struct StepContext<'a, A: ?Sized = Driver> {
    /// Which workflow.
    pub workflow_id: &'a str,
    /// Which version of it.
    pub workflow_version: &'a str,
    /// Which run.
    pub run_id: &'a RunId,
    /// The step's own address in it.
    pub key: &'a Key,
    /// The outside world.
    pub adapters: &'a A,
    /// Cancelled when the step is to stop.
    pub cancel: &'a CancellationToken,
    on_artifact: Option<&'a OnArtifact>,
    events: Mutex<Vec<AuditEvent>>,
    artifacts: Mutex<Vec<StepArtifact>>,
}

impl<'a, A: ?Sized> StepContext<'a, A> {
    /// The context of a step that runs here.
    pub fn new(place: Place<'a, A>) -> Self {
        Self {
            workflow_id: place.workflow_id,
            workflow_version: place.workflow_version,
            run_id: place.run_id,
            key: place.key,
            adapters: place.adapters,
            cancel: place.cancel,
            on_artifact: place.on_artifact,
            events: Mutex::default(),
            artifacts: Mutex::default(),
        }
    }

    /// Notes something for an audit; these come before the events that the body returns.
    pub fn emit_event(&self, event: AuditEvent) {
        lock(&self.events).push(event);
    }

    /// Hands on an artifact.
    ///
    /// # Errors
    /// Its kind is the kernel's own, or whoever is handed it fails.
    pub fn on_artifact(&self, artifact: StepArtifact) -> Result<(), StepError> {
        artifact.refuse_reserved()?;
        if let Some(listener) = self.on_artifact {
            listener(&artifact)?;
        }
        lock(&self.artifacts).push(artifact);
        Ok(())
    }

    /// All that was noted and handed on so far; the context is left without it.
    pub(super) fn take(&self) -> (Vec<AuditEvent>, Vec<StepArtifact>) {
        (
            std::mem::take(&mut *lock(&self.events)),
            std::mem::take(&mut *lock(&self.artifacts)),
        )
    }
}

/// What became of a step that succeeded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResult {
    /// The input, validated and defaulted.
    pub input: Value,
    /// The output, validated.
    pub output: Value,
    /// Emitted ones first, then returned ones.
    pub events: Vec<AuditEvent>,
    /// What should happen next, in the step's own order; absent is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<Vec<Command>>,
    /// In the order in which they were handed on; never the kernel's own kinds.
    pub artifacts: Vec<StepArtifact>,
    /// The step's name.
    pub step_name: String,
    /// Which workflow.
    pub workflow_id: String,
    /// Which version of it.
    pub workflow_version: String,
    /// Which run.
    pub run_id: RunId,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
