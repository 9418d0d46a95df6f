//! Flows: steps with fixed routes, where code decides what is next (flows page; seeds
//! *latent-pipeline-agents* and *agntz-pipeline-steps*).
//!
//! Start at [`run`]. A flow is read once (`program`), its steps work on one state (`state`) one after
//! the other (`sequence`), at once (`branches`) or in the order of what they read (`reads`); whatever is
//! beside something has its turn in one order (`together`, by what `effects` knows of it). A step is
//! prepared against the state (`prepared`) and then does its work (`work`, `agent`, `task`) without
//! looking at it again; `visit` keeps what became of it. Every model call, tool execution and answer of
//! a person is a leaf, so that a run that was killed repeats none of them.
//!
//! Deliberately not here: reading files, and what a person who writes a flow is told about it.

mod agent;
mod body;
mod branches;
mod declared;
mod effects;
pub mod events;
mod forgetting;
mod guardrails;
mod outcome;
mod paths;
mod prepared;
mod program;
mod reads;
mod runner;
mod sequence;
pub mod session;
mod state;
mod task;
mod together;
mod visit;
mod work;

use std::sync::Arc;

use contract::event::RunEvent;
use contract::flow::{Dialect, Flow, FlowRun, Guardrail, Timing};
use contract::ids::Key;
use contract::ports::journal::{Durability, JournalError};
use contract::run::{OutputArtifact, OutputKind, RunResult, RunStatus, StopReason};
use contract::step::{StepError, code};
use serde_json::Value;

use self::body::Ended;
use self::declared::Given;
use self::effects::Effects;
pub use self::outcome::{FlowOutcome, agntz_code};
use self::program::{Mode, Program};
pub(crate) use self::reads::BY_CHANCE;
use self::runner::{Chat, Place, Runner, Steps};
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::outputs;

/// Which outputs are held until the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outputs {
    /// All, for whoever looks at the outcome closer.
    Kept,
    /// Those that a later step may still refer to: the others are in the journal, and a long flow would fill the memory
    /// with them.
    Needed,
}

/// Runs the flow of a run from where its journal stands to its end.
///
/// # Errors
/// What halts the drive; a failure of the flow itself is in the outcome.
pub async fn run(driver: &Driver, flow: Box<FlowRun>, outputs: Outputs) -> Result<FlowOutcome, Halt> {
    let read = Program::of(&flow).and_then(|program| Ok((program, Chat::of(&flow.messages)?)));
    let (program, chat) = match read {
        Ok(read) => read,
        Err(error) => return Ok(FlowOutcome::failed(error)),
    };
    let Written {
        model,
        rails,
        dialect,
        input,
    } = Written::of(*flow);
    let model = model.as_deref().unwrap_or(&driver.header.roles.executor_high);
    let (effects, steps_had) = (Effects::of(&program, &driver.world.tools), Steps::default());
    let runner = Runner {
        driver,
        program: &program,
        chat: &chat,
        effects: &effects,
        steps: &steps_had,
        outputs,
        model: Arc::from(model),
        depth: 0,
        turn: None,
    };
    let input = match (input, chat.last_words()) {
        (Value::Null, Some(words)) => Value::String(words.to_owned()),
        (input, _) => input,
    };
    let prompt = chat
        .last_words()
        .map_or_else(|| prepared::text_of(&input), str::to_owned);
    match guardrails::look(&runner, &rails, Timing::Pre, &prompt, None).await? {
        Ok(None) => {}
        Ok(Some(message)) => {
            let blocked = FlowOutcome::failed(blocked(&message));
            return answered(driver, blocked, Some(message), None).await;
        }
        Err(error) => return Ok(FlowOutcome::failed(error)),
    }
    let outcome = match steps(&runner, &program, dialect, input).await? {
        Ok(ended) => FlowOutcome::of(ended),
        Err(error) => FlowOutcome::failed(error),
    };
    if outcome.error.is_some() {
        return Ok(outcome);
    }
    let answer = match &outcome.text {
        Some(text) => Value::String(text.clone()),
        None => outcome.output.clone(),
    };
    match guardrails::look(&runner, &rails, Timing::Post, &prompt, Some(&answer)).await? {
        Ok(None) => {
            let text = outcome.text.clone();
            answered(driver, outcome, text, None).await
        }
        Ok(Some(message)) => {
            let outcome = FlowOutcome {
                error: Some(blocked(&message)),
                output: Value::Null,
                ..outcome
            };
            answered(driver, outcome, Some(message), Some(answer)).await
        }
        Err(error) => Ok(FlowOutcome {
            error: Some(error),
            text: None,
            output: Value::Null,
            ..outcome
        }),
    }
}

/// What is needed of a flow as it was written once its program is made; the rest is let go of.
struct Written {
    model: Option<String>,
    rails: Vec<Guardrail>,
    dialect: Dialect,
    input: Value,
}

impl Written {
    fn of(run: FlowRun) -> Self {
        let Flow {
            model,
            guardrails: rails,
            dialect,
            ..
        } = run.flow;
        Self {
            model,
            rails,
            dialect,
            input: run.input,
        }
    }
}

/// Runs the steps of the flow itself.
async fn steps(runner: &Runner<'_>, program: &Program, dialect: Dialect, input: Value) -> Outcome<Ended> {
    if let Some(declared) = &program.root.declared {
        let problems = declared.problems(&input);
        if !problems.is_empty() {
            let message = format!("the input does not fit: {}", problems.join("; "));
            return Ok(Err(StepError::new(code::INPUT_VALIDATION, message)));
        }
    }
    let given = match (dialect, input) {
        (Dialect::Flow | Dialect::Plan, Value::Object(map)) => Given::Explicit(map),
        (_, input) => Given::Upstream(input),
    };
    let body = &program.root;
    let Mode::ForEach { items, concurrency } = &body.mode else {
        let ended = body::run(runner.clone(), body, given, None, Place::outermost());
        return Ok(Ok(ended.await?));
    };
    let scope = declared::begin(body.declared.as_ref(), body.dialect, given.clone());
    let items = match items.value(&scope) {
        Ok(Value::Array(items)) => items,
        Ok(_) => {
            let message = format!("\"{}\" works through a list, and what it is given is none", body.id);
            return Ok(Err(StepError::new(code::INPUT_VALIDATION, message)));
        }
        Err(error) => return Ok(Err(error)),
    };
    let key = Key::new("flow");
    let output = branches::for_each(runner, body, given, items, *concurrency, &key, "").await?;
    Ok(output.map(|output| Ended {
        state: state::State::new(body.dialect, scope, Value::Null, &[], &runner.chat.value),
        result: Ok(work::Done::value(output)),
    }))
}

fn blocked(message: &str) -> StepError {
    StepError::new(code::BLOCKED_BY_GUARDRAIL, message)
}

/// Records the answer, when there is one.
async fn answered(
    driver: &Driver,
    outcome: FlowOutcome,
    text: Option<String>,
    instead_of: Option<Value>,
) -> Result<FlowOutcome, Halt> {
    let Some(text) = text else { return Ok(outcome) };
    let mut artifacts = Vec::new();
    let mut name = |value: &Value| Driver::name_value("tool-output", value, &mut artifacts).map_err(Halt::Failed);
    let event = RunEvent::AnswerGiven {
        text: name(&Value::String(text.clone()))?,
        instead_of: instead_of.as_ref().map(&mut name).transpose()?,
    };
    driver
        .journal
        .record_all(vec![(Key::new("answer"), event)], artifacts, Durability::Commit)
        .await?;
    Ok(FlowOutcome {
        text: Some(text),
        ..outcome
    })
}

/// Why a flow's run ended, and its result for the journal; what it produced is kept.
///
/// # Errors
/// The journal's.
pub(crate) async fn result(
    driver: &Driver,
    ended: Result<&FlowOutcome, (StopReason, String)>,
) -> Result<(RunResult, Vec<contract::value_ref::Artifact>), JournalError> {
    let (mut made, mut artifacts) = outputs::collect(driver, None).await;
    let (stop_reason, feedback, error) = match ended {
        Ok(outcome) => {
            let value = match &outcome.text {
                Some(text) => Value::String(text.clone()),
                None => outcome.output.clone(),
            };
            if !value.is_null()
                && let Ok(value) = Driver::name_value("tool-output", &value, &mut artifacts)
            {
                made.push(OutputArtifact {
                    path: "answer".to_owned(),
                    description: "The answer".to_owned(),
                    kind: if outcome.text.is_some() {
                        OutputKind::Report
                    } else {
                        OutputKind::Data
                    },
                    value: Some(value),
                });
            }
            match &outcome.error {
                None => (StopReason::Passed, String::new(), None),
                Some(error) => {
                    let reason = if error.code == code::REJECTED {
                        StopReason::Rejected
                    } else {
                        StopReason::Error
                    };
                    (reason, error.message.clone(), Some(error.clone()))
                }
            }
        }
        Err((reason, words)) => (reason, words, None),
    };
    let status: RunStatus = stop_reason.status();
    let result = RunResult {
        status,
        stop_reason,
        cycles: 0,
        tokens_used: driver.journal.tokens_used(),
        cost: (driver.header.recording.is_none()).then(|| driver.journal.cost()),
        feedback,
        outputs: made,
        error,
    };
    Ok((result, artifacts))
}
