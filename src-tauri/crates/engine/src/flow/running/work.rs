//! What a step does: one function for each kind.

use contract::event::Purpose;
use contract::hash::Hash;
use contract::ids::Key;
use contract::llm::{LlmRequest, LlmResponse, ResponseSchema, ToolChoice, ToolSpec};
use contract::step::{StepError, code};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::prepared::{Job, Question};
use super::runner::{Place, Runner};
use super::visit::Visit;
use super::{agent, body, branches, task};
use crate::kernel::driver::Outcome;
use crate::kernel::model_call::ModelCall;
use crate::kernel::tool_call::ToolCall;
use crate::whole::whole;
use crate::{json_reply, schema};

/// What something came to.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Done {
    pub(super) output: Value,
    /// The answer, when this ends the flow with one.
    pub(super) text: Option<String>,
}

impl Done {
    /// A value and nothing else.
    pub(super) fn value(output: Value) -> Self {
        Self { output, text: None }
    }

    /// The last word.
    pub(super) fn said(words: String) -> Self {
        Self {
            output: Value::String(words.clone()),
            text: Some(words),
        }
    }
}

/// Does the work of a visit.
///
/// A question to a model is what most visits are, and hundreds of them may be under way: all other work lies in a box
/// of its own, so that a question does not take the room that the largest of them would need.
pub(super) async fn perform<'a>(runner: &Runner<'a>, visit: &Visit<'a>, job: Job<'a>) -> Outcome<Done> {
    let schema = visit.stage.output.as_ref();
    let outcome = match job {
        Job::Ask(question) => {
            let answers = question.purpose == Purpose::Answer;
            let key = visit.key.child("call/0");
            let call = ModelCall {
                // The end of this step is recorded next.
                goes_on: true,
                ..model_call(question, key, &visit.path, Vec::new(), ToolChoice::None)
            };
            let answer = runner.driver.ask_model(call).await?.map(|answer| answer.response);
            let done = |value| match value {
                Value::String(words) if answers => Done::said(words),
                value if answers => Done::said(value.to_string()),
                value => Done::value(value),
            };
            return Ok(answer.and_then(|answer| reply(&answer, schema)).map(done));
        }
        Job::Tool { tool, args, texts } => Box::pin(call_tool(runner, visit, tool, args, texts)).await?,
        Job::Agent {
            question,
            tools,
            mode,
            args,
        } => return Box::pin(agent::run(runner, visit, question, tools, mode, args)).await,
        Job::Body { body, given, items } => {
            let inner = match runner.deeper(&visit.path) {
                Ok(inner) => inner,
                Err(error) => return Ok(Err(error)),
            };
            match items {
                Some((items, most)) => {
                    let each = branches::for_each(&inner, body, given, items, most, &visit.inside, &visit.path);
                    Box::pin(each).await?
                }
                None => {
                    let place = Place::inside(&visit.inside, &visit.path);
                    let ended = body::run(inner, body, given, None, place).await?;
                    ended.result.map(|done| done.output)
                }
            }
        }
        Job::Gate { text, question } => {
            let asking = runner.driver.ask_until_it_fits(
                runner.turn.as_ref(),
                &visit.key,
                (0, visit.path.as_str()),
                &text,
                question,
            );
            Box::pin(asking).await?
        }
        Job::Answer(words) => return Ok(Ok(Done::said(words))),
        Job::Task {
            goal,
            context,
            expected,
        } => Box::pin(task::run(runner, visit, goal, context, expected)).await?,
    };
    let outcome = outcome.and_then(|value| match schema {
        Some(schema) => fits(schema, value),
        None => Ok(value),
    });
    Ok(outcome.map(Done::value))
}

/// Asks a model once.
pub(super) async fn ask(runner: &Runner<'_>, question: Question, key: Key, path: &str) -> Outcome<LlmResponse> {
    let call = model_call(question, key, path, Vec::new(), ToolChoice::None);
    Ok(runner.driver.ask_model(call).await?.map(|answer| answer.response))
}

/// A question as a leaf.
pub(super) fn model_call(
    question: Question,
    key: Key,
    path: &str,
    tools: Vec<ToolSpec>,
    tool_choice: ToolChoice,
) -> ModelCall {
    let prompt_hash = Hash::of_bytes(question.system.as_bytes());
    ModelCall {
        cycle: 0,
        purpose: question.purpose,
        step: Some(path.to_owned()),
        model: question.model.to_string(),
        part: None,
        request: LlmRequest {
            key: key.clone(),
            model: String::new(),
            system: question.system,
            messages: question.messages,
            tools,
            tool_choice,
            response_schema: question.schema.map(|schema| ResponseSchema {
                name: "output".to_owned(),
                schema,
            }),
            max_tokens: Some(question.max_tokens),
            temperature: Some(question.temperature),
            ..LlmRequest::default()
        },
        prompt_hash,
        definition: question.definition,
        inputs: question.inputs,
        key,
        goes_on: false,
    }
}

/// What a model's answer means: its words, or the value that fits the schema.
///
/// # Errors
/// `json_error` for what is no JSON, `schema_error` for what does not fit, `truncated` and
/// `provider_error` for what is no answer.
pub(super) fn reply(response: &LlmResponse, wanted: Option<&Value>) -> Result<Value, StepError> {
    whole(response)?;
    match wanted {
        Some(schema) => {
            let value = json_reply::value_in(&response.text);
            fits(
                schema,
                value.map_err(|message| StepError::new(code::JSON_ERROR, message).retryable(true))?,
            )
        }
        None => Ok(Value::String(response.text.clone())),
    }
}

pub(super) fn fits(schema: &Value, value: Value) -> Result<Value, StepError> {
    schema::normalise(schema, value).map_err(|problems| {
        let message = format!("the answer does not fit: {}", problems.join("; "));
        StepError::new(code::SCHEMA_ERROR, message)
    })
}

async fn call_tool(
    runner: &Runner<'_>,
    visit: &Visit<'_>,
    name: &str,
    args: Value,
    texts: Option<Value>,
) -> Outcome<Value> {
    let Some(tool) = runner.driver.world.tools.get(name) else {
        let message = format!("Tool \"{name}\" not found in registry");
        return Ok(Err(StepError::new(code::TOOL_NOT_FOUND, message)));
    };
    let info = tool.info();
    // A manifest gives texts; a tool that wants a number is given the number all the same.
    let as_texts = texts.and_then(|texts| schema::normalise(&info.parameters, texts).ok());
    let args = match as_texts {
        Some(args) => args,
        None => match schema::normalise(&info.parameters, args) {
            Ok(args) => args,
            Err(problems) => {
                let message = format!("the arguments for \"{name}\" do not fit: {}", problems.join("; "));
                return Ok(Err(StepError::new(code::SCHEMA_ERROR, message)));
            }
        },
    };
    let call = ToolCall {
        key: visit.key.child("run"),
        cycle: 0,
        step: visit.path.clone(),
        tool: Arc::clone(tool),
        name: name.to_owned(),
        args,
        inputs: BTreeMap::new(),
        turn: runner.turn.clone(),
    };
    runner.driver.call_tool(call).await
}
