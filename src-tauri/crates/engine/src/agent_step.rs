//! An agent step (`mode: free`): the model looks, acts and looks again, for work that cannot be planned
//! ahead (goal-pipeline page, "Executor").
//!
//! Bounded in every direction: rounds, calls of one reply, the length of what a tool's result shows, and
//! three identical calls with identical results in a row. A tool's failure goes back to the model; only a reply that is
//! no reply fails the step. With tools that may change something it holds its turn for its whole length.

use std::sync::Arc;

use contract::event::Purpose;
use contract::hash::Hash;
use contract::llm::{ContentBlock, LlmResponse, Message, Role, ToolChoice, ToolUse};
use contract::ports::tool::ToolInfo;
use contract::step::{StepError, code};
use serde_json::{Value, json};

use crate::kernel::model_call::ModelCall;
use crate::kernel::permit::is_a_persons_no;
use crate::kernel::run_step::{Fault, StepContext};
use crate::kernel::tool_call::ToolCall;
use crate::planner::hashes;
use crate::prompts;
use crate::schedule::Use;
use crate::step_work::{Asked, StepWork, Values};
use crate::tool_talk::Repeats;
use crate::whole::whole;
use crate::{references, schema, tool_talk};

/// The most rounds of a step that does not say.
pub(crate) const MAX_ROUNDS: u32 = 10;

/// What the step knows so far.
struct Talk {
    given: Values,
    /// How many tools were called.
    calls: u32,
    /// The address of everything said after the first question.
    said: Hash,
    repeats: Repeats,
}

impl StepWork<'_> {
    /// Lets the model work until it answers without calling a tool; that answer is the output.
    pub(crate) async fn act(&self, context: &StepContext<'_>) -> Result<Value, Fault> {
        if self.uses() == Use::Writes {
            self.turn.to_write().await?;
        }
        let tools = self.tool_infos(context)?;
        let most = self.max_rounds();
        let mut talk = Talk {
            given: self.given.clone(),
            calls: 0,
            said: Hash::of_bytes(b""),
            repeats: Repeats::default(),
        };
        let mut messages: Option<Vec<Message>> = None;
        for round in 0..most {
            let call = self.round(context, &tools, round, &talk, messages.take())?;
            let answer = self.ask(context, call).await?;
            let response = answer.response;
            whole(&response)?;
            if response.tool_uses.is_empty() {
                return match response.text.trim() {
                    "" => Err(silent().into()),
                    _ => Ok(Value::String(response.text)),
                };
            }
            if round + 1 == most {
                break;
            }
            let results = self.call_all(context, round, &response.tool_uses, &mut talk).await?;
            talk.said = next_said(&talk.said, &response, &results)?;
            let mut all = answer.request.messages;
            all.extend([
                said_by_model(response),
                Message {
                    role: Role::User,
                    content: results,
                },
            ]);
            messages = Some(all);
        }
        let message = format!("the model was not done after {most} rounds");
        Err(StepError::new(code::ROUND_LIMIT, message).into())
    }

    fn tool_infos(&self, context: &StepContext<'_>) -> Result<Vec<ToolInfo>, StepError> {
        let tools = &context.adapters.world.tools;
        let info = |name: &String| match tools.get(name) {
            Some(tool) => Ok(tool.info()),
            None => Err(StepError::new(
                code::TOOL_NOT_FOUND,
                format!("Tool \"{name}\" not found in registry"),
            )),
        };
        self.step.tools.iter().map(info).collect()
    }

    /// The question of a round: the first, or what was said so far.
    fn round(
        &self,
        context: &StepContext<'_>,
        tools: &[ToolInfo],
        round: u32,
        talk: &Talk,
        messages: Option<Vec<Message>>,
    ) -> Result<ModelCall, StepError> {
        let mut call = self.question(
            context,
            &Asked {
                prompt: &prompts::AGENT,
                purpose: Purpose::Agent,
                tools,
                choice: ToolChoice::Auto,
                given: &self.given,
                place: &format!("round/{round}/call"),
            },
        )?;
        if let Some(messages) = messages {
            call.request.messages = messages;
            call.inputs.insert("said".to_owned(), talk.said.clone());
        }
        Ok(call)
    }

    async fn call_all(
        &self,
        context: &StepContext<'_>,
        round: u32,
        calls: &[ToolUse],
        talk: &mut Talk,
    ) -> Result<Vec<ContentBlock>, Fault> {
        let limit = tool_talk::limit(calls.len());
        let mut results = Vec::with_capacity(calls.len());
        for (index, called) in calls.iter().enumerate() {
            talk.calls += 1;
            let name = format!("tool_{}", talk.calls);
            if index >= tool_talk::MOST_CALLS {
                results.push(tool_talk::result(called, &name, &Err(tool_talk::too_many()), limit));
                continue;
            }
            let outcome = self
                .call_one(context, &format!("round/{round}/tool/{index}/run"), called, talk)
                .await?;
            if let Some(no) = outcome.as_ref().err().filter(|error| is_a_persons_no(error)) {
                return Err(no.clone().into());
            }
            talk.repeats.notice(called, &outcome)?;
            results.push(tool_talk::result(called, &name, &outcome, limit));
            if let Ok(value) = outcome {
                talk.given.insert(name, Arc::new(value));
            }
        }
        Ok(results)
    }

    /// One call; what is wrong with it or fails in it is for the model to read.
    async fn call_one(
        &self,
        context: &StepContext<'_>,
        place: &str,
        called: &ToolUse,
        talk: &Talk,
    ) -> Result<Result<Value, StepError>, Fault> {
        let tool = context.adapters.world.tools.get(&called.name);
        let Some(tool) = tool.filter(|_| self.step.tools.contains(&called.name)) else {
            let offered = self.step.tools.join(", ");
            let message = format!("there is no tool \"{}\" in this step; it has {offered}", called.name);
            return Ok(Err(StepError::new(code::TOOL_NOT_FOUND, message)));
        };
        let args = match references::substitute(&called.input, &talk.given) {
            Ok(args) => args,
            Err(error) => return Ok(Err(error)),
        };
        let args = match schema::normalise(&tool.info().parameters, args) {
            Ok(args) => args,
            Err(problems) => {
                let message = format!("the arguments do not fit: {}", problems.join("; "));
                return Ok(Err(StepError::new(code::SCHEMA_ERROR, message)));
            }
        };
        let call = ToolCall {
            key: context.key.child(place),
            cycle: self.cycle,
            step: self.step.id.clone(),
            tool: Arc::clone(tool),
            name: called.name.clone(),
            args,
            inputs: self.hashes.clone(),
            turn: Some(self.turn.clone()),
        };
        self.call_tool(context, call).await
    }
}

fn next_said(before: &Hash, response: &LlmResponse, results: &[ContentBlock]) -> Result<Hash, StepError> {
    let said = json!({ "before": before, "text": response.text, "calls": response.tool_uses, "results": results });
    let mut named = hashes(&[("said", &said)])?;
    Ok(named.remove("said").unwrap_or_else(|| before.clone()))
}

fn said_by_model(response: LlmResponse) -> Message {
    let text = (!response.text.is_empty()).then_some(ContentBlock::Text { text: response.text });
    let calls = response.tool_uses.into_iter().map(ContentBlock::ToolUse);
    Message {
        role: Role::Assistant,
        content: text.into_iter().chain(calls).collect(),
    }
}

fn silent() -> StepError {
    StepError::new(code::PROVIDER_ERROR, "the model answered with nothing")
}
