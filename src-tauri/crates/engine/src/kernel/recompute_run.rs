//! Recorded model calls of a run, made again: with the same question, by the same model or another
//! (kernel page, "recompute / try another model").
//!
//! Nothing is written to the run. The terminal's side:
//!
//! ```text
//! engine::kernel::recompute_run::recompute(&world, &run, "step_3", Some("openai:gpt-x"), &stop)
//!     .await -> Result<Vec<RecomputedCall>, StepError>
//! ```
//!
//! `what` is a step of the plan (`step_3`, in the last cycle that has it), `plan` or `judge`, or the
//! address of a call (`cycle/1/plan#0/call/0`) or of anything above it (`cycle/1`).

use std::collections::HashMap;

use contract::event::RunEvent;
use contract::hash::Hash;
use contract::ids::{Key, RunId};
use contract::llm::{LlmError, LlmRequest, LlmResponse, Usage};
use contract::ports::provider::Unheard;
use contract::step::{StepError, code};
use contract::value_ref::ValueRef;
use futures::future::{Either, select};
use serde::Serialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::diff::{Diff, Path, PathPart};
use super::keys;
use super::recompute::RecomputeStatus;
use crate::schema::{Violation, observe};
use crate::world::World;

/// A recorded model call that was made again.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecomputedCall {
    /// The call's address.
    pub key: Key,
    /// Who answered then, as `provider:model`.
    pub model_before: String,
    /// Who answered now.
    pub model_after: String,
    /// The answer then: `{ text, toolUses }`, the text read where it is JSON; none when it failed.
    pub before: Option<Value>,
    /// The answer now; none when there is an error.
    pub after: Option<Value>,
    /// Why there is no answer now: nothing was asked after it.
    pub error: Option<StepError>,
    /// The gravest thing that was found; none where there is no answer now.
    pub status: Option<RecomputeStatus>,
    /// Whether there is an answer of then to compare with.
    pub comparable: bool,
    /// What is wrong with the new answer: with its text, by the shape that was asked for, and with what it gives to
    /// tools, by their schemas. Observed, and never a reason not to compare.
    pub violations: Vec<Violation>,
    /// What changed; nothing where there is nothing to compare with.
    pub diff: Diff,
    /// What the new answer cost.
    pub usage: Usage,
    /// How long it took, in milliseconds.
    pub duration_ms: u64,
}

/// Makes the recorded model calls of a part of a run again.
///
/// # Errors
/// `not_found`: the run has no such part, or it asked no model. `input_hash_mismatch`: a recorded
/// question is not what its address says. Otherwise the failure of the first call, with its code; a later
/// one is the last entry, so that answers that were paid for are not lost with it.
pub async fn recompute(
    world: &World,
    run: &RunId,
    what: &str,
    model: Option<&str>,
    stop: &CancellationToken,
) -> Result<Vec<RecomputedCall>, StepError> {
    let recorded = Recorded::read(world, run).await?;
    let calls = recorded.calls(what);
    if calls.is_empty() {
        let message = format!("the run has no model calls at \"{what}\"");
        return Err(StepError::new(code::NOT_FOUND, message));
    }
    let mut made = Vec::with_capacity(calls.len());
    for key in calls {
        let again = std::pin::pin!(recorded.again(world, &key, model));
        let call = match select(std::pin::pin!(stop.cancelled()), again).await {
            Either::Left(_) => Err(StepError::new(code::CANCELLED, "you stopped it")),
            Either::Right((call, _)) => call,
        };
        match call {
            Ok(call) => made.push(call),
            Err(error) if made.is_empty() => return Err(error),
            Err(error) => {
                made.push(recorded.failed(&key, model, error));
                break;
            }
        }
    }
    Ok(made)
}

/// The model calls of a run, in the order in which they began.
struct Recorded {
    calls: Vec<Key>,
    entries: HashMap<Key, RunEvent>,
    last_cycle: u32,
}

impl Recorded {
    async fn read(world: &World, run: &RunId) -> Result<Self, StepError> {
        const PAGE: u32 = 1_000;
        let mut recorded = Self {
            calls: Vec::new(),
            entries: HashMap::new(),
            last_cycle: 0,
        };
        let mut next = 1;
        loop {
            let page = world.journal.read(run, next, PAGE).await.map_err(unread)?;
            let Some(last) = page.last() else {
                return Ok(recorded);
            };
            next = last.seq + 1;
            for record in page {
                recorded.take(record.key, record.event);
            }
        }
    }

    fn take(&mut self, key: Key, event: RunEvent) {
        match &event {
            RunEvent::CycleStarted { cycle } => self.last_cycle = *cycle,
            RunEvent::ModelCallStarted { .. } => {
                let call = key.as_str().strip_suffix(":started").unwrap_or(key.as_str());
                self.calls.push(Key::new(call));
            }
            RunEvent::ModelCallFinished { .. } => {}
            _ => return,
        }
        self.entries.insert(key, event);
    }

    /// The calls that a word means.
    fn calls(&self, what: &str) -> Vec<Key> {
        let below = |key: &Key, top: &str| {
            key.as_str()
                .strip_prefix(top)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#']))
        };
        let at = |top: &str| -> Vec<Key> { self.calls.iter().filter(|key| below(key, top)).cloned().collect() };
        let by_address = at(what);
        if !by_address.is_empty() {
            return by_address;
        }
        for cycle in (1..=self.last_cycle).rev() {
            let address = match what {
                "plan" => keys::planner(cycle),
                "judge" => keys::judge(cycle),
                step => keys::step(cycle, step),
            };
            let found = at(address.as_str());
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// A call that was not answered this time.
    fn failed(&self, key: &Key, model: Option<&str>, error: StepError) -> RecomputedCall {
        let model_before = match self.entries.get(&key.mark("started")) {
            Some(RunEvent::ModelCallStarted { model, .. }) => model.clone(),
            _ => String::new(),
        };
        RecomputedCall {
            key: key.clone(),
            model_after: model.map_or_else(|| model_before.clone(), str::to_owned),
            model_before,
            before: None,
            after: None,
            error: Some(error),
            status: None,
            comparable: false,
            violations: Vec::new(),
            diff: Diff::default(),
            usage: Usage::default(),
            duration_ms: 0,
        }
    }

    async fn again(&self, world: &World, key: &Key, model: Option<&str>) -> Result<RecomputedCall, StepError> {
        let Some(RunEvent::ModelCallStarted {
            model: model_before,
            request,
            ..
        }) = self.entries.get(&key.mark("started"))
        else {
            return Err(StepError::new(code::NOT_FOUND, format!("nothing is recorded at {key}")));
        };
        let before = match self.entries.get(key) {
            Some(RunEvent::ModelCallFinished {
                response: Some(response),
                ..
            }) => {
                let value = value_of(world, &response.value).await?;
                let response: LlmResponse = serde_json::from_value(value).map_err(|error| unread(&error))?;
                Some(in_short(&response))
            }
            _ => None,
        };
        let model_after = model.unwrap_or(model_before);
        let mut request: LlmRequest =
            serde_json::from_value(value_of(world, request).await?).map_err(|error| unread(&error))?;
        let (provider, name) = model_after.split_once(':').unwrap_or((model_after, ""));
        request.key = key.clone();
        request.model = name.to_owned();
        let Some(found) = world.providers.iter().find(|found| found.name() == provider) else {
            let message = format!("there is no model provider \"{provider}\"");
            return Err(StepError::new(code::PROVIDER_ERROR, message));
        };
        let started_at_ms = world.clock.now_ms();
        let asked_for = Shape::of(&request);
        let response = found
            .complete(request, &Unheard)
            .await
            .map_err(LlmError::into_step_error)?;
        let after = in_short(&response);
        let violations = asked_for.violations(&response, &after);
        let diff = before
            .as_ref()
            .map(|before| Diff::between(before, &after))
            .unwrap_or_default();
        let status = match (violations.is_empty(), diff.is_equal()) {
            (false, _) => RecomputeStatus::SchemaViolation,
            (true, false) => RecomputeStatus::ValueChanged,
            (true, true) => RecomputeStatus::Clean,
        };
        Ok(RecomputedCall {
            key: key.clone(),
            model_before: model_before.clone(),
            model_after: model_after.to_owned(),
            status: Some(status),
            comparable: before.is_some(),
            violations,
            diff,
            before,
            after: Some(after),
            error: None,
            usage: response.usage,
            duration_ms: u64::try_from(world.clock.now_ms() - started_at_ms).unwrap_or(0),
        })
    }
}

/// What an answer was asked to be.
struct Shape {
    text: Option<Value>,
    tools: HashMap<String, Value>,
}

impl Shape {
    fn of(request: &LlmRequest) -> Self {
        let tools = request.tools.iter();
        Self {
            text: request.response_schema.as_ref().map(|shape| shape.schema.clone()),
            tools: tools.map(|tool| (tool.name.clone(), tool.parameters.clone())).collect(),
        }
    }

    /// What is wrong with an answer, by the places of the answer in short.
    fn violations(&self, response: &LlmResponse, in_short: &Value) -> Vec<Violation> {
        let below = |place: Path, schema: &Value, value: &Value| {
            let found = observe(schema, value.clone()).err().unwrap_or_default().into_iter();
            found.map(move |violation| Violation {
                path: place.iter().cloned().chain(violation.path).collect(),
                ..violation
            })
        };
        let key = |name: &str| PathPart::Key(name.to_owned());
        // An answer that calls a tool is asked for no text.
        let text = self.text.as_ref().filter(|_| response.tool_uses.is_empty());
        let text = text
            .into_iter()
            .flat_map(|schema| below(vec![key("text")], schema, &in_short["text"]));
        let tools = response.tool_uses.iter().enumerate().filter_map(|(place, used)| {
            let schema = self.tools.get(&used.name)?;
            let path = vec![key("toolUses"), PathPart::Index(place), key("input")];
            Some(below(path, schema, &used.input).collect::<Vec<_>>())
        });
        text.chain(tools.flatten()).collect()
    }
}

/// What an answer says: its text, as JSON where it is, and the tools it called without their ids.
fn in_short(response: &LlmResponse) -> Value {
    let text = serde_json::from_str(&response.text).unwrap_or_else(|_| Value::String(response.text.clone()));
    let tools = response.tool_uses.iter();
    let tools: Vec<Value> = tools
        .map(|used| json!({ "name": used.name, "input": used.input }))
        .collect();
    json!({ "text": text, "toolUses": tools })
}

/// A recorded value, held against its address.
async fn value_of(world: &World, named: &ValueRef) -> Result<Value, StepError> {
    let value = match &named.inline {
        Some(value) => value.clone(),
        None => {
            let bytes = world.journal.artifact(&named.hash).await.map_err(unread)?;
            let bytes = bytes.ok_or_else(|| {
                let message = format!("the value {} is missing", named.hash.as_str());
                StepError::new(code::MISSING_OUTPUT, message)
            })?;
            serde_json::from_slice(&bytes).map_err(|error| unread(&error))?
        }
    };
    match Hash::of_value(&value) {
        Ok(hash) if hash == named.hash => Ok(value),
        _ => {
            let message = format!(
                "the recorded value is not what its address {} says",
                named.hash.as_str()
            );
            Err(StepError::new(code::INPUT_HASH_MISMATCH, message))
        }
    }
}

fn unread(error: impl std::fmt::Display) -> StepError {
    StepError::new(code::OUTPUT_CORRUPTED, format!("the history cannot be read: {error}"))
}
