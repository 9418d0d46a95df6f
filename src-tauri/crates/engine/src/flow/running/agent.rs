//! A model with tools (latent `@subagent`; a tool step of a plan). Its words on the way are reasoning;
//! what it says without calling a tool is the output.

use contract::flow::AgentMode;
use contract::llm::{ContentBlock, LlmResponse, Message, Role, ToolChoice, ToolSpec, ToolUse};
use contract::step::{StepError, code};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

use super::body;
use super::declared::Given;
use super::prepared::{Fixed, Question};
use super::runner::{Place, Runner};
use super::visit::Visit;
use super::work::{self, Done};
use crate::flow::from_plan::result_name;
use crate::flow::input::{InputSchema, USER_QUERY};
use crate::kernel::driver::Outcome;
use crate::kernel::permit::is_a_persons_no;
use crate::kernel::tool_call::ToolCall;
use crate::schedule::Use;
use crate::tool_talk::Repeats;
use crate::whole::whole;
use crate::{schema, tool_talk};

/// Lets a model work.
pub(super) async fn run<'a>(
    runner: &Runner<'a>,
    visit: &Visit<'a>,
    question: Question,
    tools: &'a [String],
    mode: AgentMode,
    args: Fixed<'a>,
) -> Outcome<Done> {
    let specs: Result<Vec<ToolSpec>, StepError> = tools.iter().map(|name| spec(runner, name)).collect();
    let specs = match specs {
        Ok(specs) => specs,
        Err(error) => return Ok(Err(error)),
    };
    // Who looks and acts as they like is in the middle of something from the beginning to the end.
    if let (Some(turn), AgentMode::Free { .. }) = (&runner.turn, mode)
        && runner.effects.of_tools(tools).uses == Use::Writes
    {
        runner.driver.journal.write_paid().await?;
        turn.to_write().await?;
    }
    match mode {
        AgentMode::EachOnce => each_once(runner, visit, question, &specs, &args).await,
        AgentMode::Free { max_rounds } => freely(runner, visit, question, specs, max_rounds).await,
    }
}

/// A tool, or a flow that is one, as the model sees it.
fn spec(runner: &Runner<'_>, name: &str) -> Result<ToolSpec, StepError> {
    if let Some(tool) = runner.driver.world.tools.get(name) {
        let info = tool.info();
        return Ok(ToolSpec {
            name: info.name,
            description: info.description,
            parameters: info.parameters,
        });
    }
    let Some(flow) = runner.program.refs.get(name) else {
        let message = format!("Tool \"{name}\" not found in registry");
        return Err(StepError::new(code::TOOL_NOT_FOUND, message));
    };
    // A server takes JSON Schema only, whatever spelling the file has.
    let parameters = flow.input.as_ref().map_or_else(
        || {
            json!({
                "type": "object",
                "properties": { USER_QUERY: { "type": "string" } },
                "required": [USER_QUERY],
            })
        },
        InputSchema::to_json_schema,
    );
    Ok(ToolSpec {
        name: name.to_owned(),
        description: flow.description.clone(),
        parameters,
    })
}

async fn freely<'a>(
    runner: &Runner<'a>,
    visit: &Visit<'a>,
    mut question: Question,
    specs: Vec<ToolSpec>,
    max_rounds: u32,
) -> Outcome<Done> {
    let wanted = question.schema.take();
    if let (Some(schema), false) = (&wanted, specs.is_empty()) {
        // With tools there, a server is not asked for a form: the model has to know it.
        question
            .system
            .push_str("\n\nWhen you are done, answer with JSON that fits this schema, and nothing else:\n");
        question.system.push_str(&schema.to_string());
    }
    let definition = question.definition.clone();
    let mut calls = 0;
    let mut repeats = Repeats::default();
    for round in 0..max_rounds {
        let at = visit.key.child("round").child(round);
        question.schema = specs.is_empty().then(|| wanted.clone()).flatten();
        let choice = if specs.is_empty() {
            ToolChoice::None
        } else {
            ToolChoice::Auto
        };
        let call = work::model_call(question.clone(), at.child("call"), &visit.path, specs.clone(), choice);
        let response = match runner.driver.ask_model(call).await? {
            Ok(answer) => answer.response,
            Err(error) => return Ok(Err(error)),
        };
        if response.tool_uses.is_empty() {
            return Ok(work::reply(&response, wanted.as_ref()).map(Done::value));
        }
        if let Err(error) = whole(&response) {
            return Ok(Err(error));
        }
        // What no later round could read is not done.
        if round + 1 == max_rounds {
            break;
        }
        let limit = tool_talk::limit(response.tool_uses.len());
        let mut results = Vec::with_capacity(response.tool_uses.len());
        for (index, used) in response.tool_uses.iter().enumerate() {
            let place = at.child("tool").child(index);
            let outcome = match index < tool_talk::MOST_CALLS {
                true => use_tool(runner, visit, place, used, &specs).await?,
                false => Err(tool_talk::too_many()),
            };
            if let Some(no) = outcome.as_ref().err().filter(|error| is_a_persons_no(error)) {
                return Ok(Err(no.clone()));
            }
            // What was not done is no failure of the tool.
            if index < tool_talk::MOST_CALLS
                && let Err(stopped) = repeats.notice(used, &outcome)
            {
                return Ok(Err(stopped));
            }
            calls += 1;
            results.push(tool_talk::result(used, &format!("tool_{calls}"), &outcome, limit));
        }
        question.messages.push(turn_of(response));
        question.messages.push(Message {
            role: Role::User,
            content: results,
        });
        question.definition = json!({ "of": definition, "round": round + 1 });
    }
    let message = format!("\"{}\" did not come to an answer in {max_rounds} rounds", visit.path);
    Ok(Err(StepError::new(code::ROUND_LIMIT, message)))
}

fn turn_of(response: LlmResponse) -> Message {
    let mut content = Vec::new();
    if !response.text.is_empty() {
        content.push(ContentBlock::Text { text: response.text });
    }
    content.extend(response.tool_uses.into_iter().map(ContentBlock::ToolUse));
    Message {
        role: Role::Assistant,
        content,
    }
}

async fn use_tool<'a>(
    runner: &Runner<'a>,
    visit: &Visit<'a>,
    place: contract::ids::Key,
    used: &ToolUse,
    specs: &[ToolSpec],
) -> Outcome<Value> {
    let Some(spec) = specs.iter().find(|spec| spec.name == used.name) else {
        let message = format!("Tool \"{}\" not found in registry", used.name);
        return Ok(Err(StepError::new(code::TOOL_NOT_FOUND, message)));
    };
    let args = match schema::normalise(&spec.parameters, used.input.clone()) {
        Ok(args) => args,
        Err(problems) => {
            let message = format!(
                "the arguments for \"{}\" do not fit: {}",
                used.name,
                problems.join("; ")
            );
            return Ok(Err(StepError::new(code::SCHEMA_ERROR, message)));
        }
    };
    if let Some(tool) = runner.driver.world.tools.get(&used.name) {
        let call = ToolCall {
            key: place.child("run"),
            cycle: 0,
            step: visit.path.clone(),
            tool: Arc::clone(tool),
            name: used.name.clone(),
            args,
            inputs: BTreeMap::new(),
            turn: runner.turn.clone(),
        };
        return runner.driver.call_tool(call).await;
    }
    let Some(flow) = runner.program.refs.get(&used.name) else {
        let message = format!("Tool \"{}\" not found in registry", used.name);
        return Ok(Err(StepError::new(code::TOOL_NOT_FOUND, message)));
    };
    let path = format!("{}/{}", visit.path, used.name);
    let inner = match runner.deeper(&path) {
        Ok(inner) => inner,
        Err(error) => return Ok(Err(error)),
    };
    let given = match (args, &flow.input) {
        (Value::Object(mut map), None) => Given::Upstream(map.remove(USER_QUERY).unwrap_or_default()),
        (Value::Object(map), Some(_)) => Given::Explicit(map),
        (other, _) => Given::Upstream(other),
    };
    let ended = body::run(inner, &flow.body, given, None, Place::inside(&place, &path)).await?;
    Ok(ended.result.map(|done| done.output))
}

/// A result that no call of the model's led to, in words.
fn told(shown: ContentBlock) -> Option<Message> {
    match shown {
        ContentBlock::ToolResult {
            result: Value::String(text),
            ..
        } => Some(Message::user(text)),
        _ => None,
    }
}

/// Each tool once, in order; the model makes the arguments that are not fixed, and sees the results before.
async fn each_once<'a>(
    runner: &Runner<'a>,
    visit: &Visit<'a>,
    mut question: Question,
    specs: &[ToolSpec],
    args: &Fixed<'a>,
) -> Outcome<Done> {
    let wanted = question.schema.take();
    let definition = question.definition.clone();
    let mut results = Map::new();
    for (index, spec) in specs.iter().enumerate() {
        let at = visit.key.child("tool").child(index);
        let name = result_name(index + 1);
        if let Some(args) = args.of_tool(&spec.name, &results) {
            let given = match args {
                Ok(input) => ToolUse {
                    id: name.clone(),
                    name: spec.name.clone(),
                    input,
                    carried: None,
                    made_by: None,
                },
                Err(error) => return Ok(Err(error)),
            };
            let output = match use_tool(runner, visit, at, &given, specs).await? {
                Ok(output) => output,
                Err(error) => return Ok(Err(error)),
            };
            // Whoever makes the next arguments sees it as data.
            let shown = tool_talk::result(&given, &name, &Ok(output.clone()), tool_talk::limit(specs.len()));
            question.messages.extend(told(shown));
            results.insert(name, output);
            continue;
        }
        let choice = ToolChoice::Tool(spec.name.clone());
        let call = work::model_call(
            question.clone(),
            at.child("call"),
            &visit.path,
            vec![spec.clone()],
            choice,
        );
        let response = match runner.driver.ask_model(call).await? {
            Ok(answer) => answer.response,
            Err(error) => return Ok(Err(error)),
        };
        let Some(used) = response.tool_uses.iter().find(|used| used.name == spec.name).cloned() else {
            let message = format!(
                "LLM did not call tool \"{}\" — no tool_use block in response",
                spec.name
            );
            return Ok(Err(StepError::new(code::TOOL_NOT_CALLED, message)));
        };
        let outcome = use_tool(runner, visit, at, &used, specs).await?;
        let result = tool_talk::result(&used, &name, &outcome, tool_talk::limit(specs.len()));
        let output = match outcome {
            Ok(output) => output,
            Err(error) => return Ok(Err(error)),
        };
        question.messages.push(turn_of(LlmResponse {
            tool_uses: vec![used],
            ..response
        }));
        question.messages.push(Message {
            role: Role::User,
            content: vec![result],
        });
        question.definition = json!({ "of": definition, "tool": index + 1 });
        results.insert(name, output);
    }
    let mut outputs = results.into_iter().map(|(_, output)| output);
    let output = match outputs.len() {
        1 => outputs.next().unwrap_or_default(),
        _ => outputs.collect(),
    };
    Ok(match &wanted {
        Some(schema) => work::fits(schema, output).map(Done::value),
        None => Ok(Done::value(output)),
    })
}
