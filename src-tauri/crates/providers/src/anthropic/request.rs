//! A request in the words of the Messages API. A temperature is never sent: this version of the protocol has none.

use contract::llm::{ContentBlock, Effort, LlmRequest, Message, ResponseSchema, Role, ToolChoice, ToolSpec, ToolUse};
use serde_json::{Map, Value, json};

use crate::catalog::{may_force_tools, may_take_effort, takes_shapes};
use crate::closed_shape::is_closed;
use crate::pieces::{asking_for_shape, result_text};
use crate::refusal::Refusal;
use crate::turn::put_together;

/// The room for an answer when nobody says how much; the protocol wants a number. Every model that is offered today
/// has at least this much.
const USUAL_ROOM: u64 = 32_000;

/// In which terms a model is asked. Everything at first; less after it refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// Whether a shape is demanded as such, where the model is known to take one.
    format: bool,
    force: Force,
    thinking: Thinking,
    /// The most that the model lets itself be asked for.
    most_room: u64,
}

/// How a certain tool is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Force {
    /// By its name.
    Named,
    /// By its name, with thinking switched off, since some models do not think about what they must.
    Unthinking,
    /// In words, with no other tool beside it.
    Asked,
}

/// What is said about thinking where a person said how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking {
    /// How much, and that its thoughts are to be told as they come.
    Told,
    /// How much.
    Silent,
    /// Nothing.
    Unsaid,
}

impl Terms {
    pub(super) const EVERYTHING: Self = Self {
        format: true,
        force: Force::Named,
        thinking: Thinking::Told,
        most_room: u64::MAX,
    };

    /// What to assume after a model refused a request as invalid and named the cause.
    pub(super) fn less(self, request: &LlmRequest, refusal: &Refusal) -> Option<Self> {
        if refusal.names("max_tokens")
            && let Some(most_room) = refusal.least_number()
            && (1..room(request, self)).contains(&most_room)
        {
            return Some(Self { most_room, ..self });
        }
        let names_format = || ["format", "schema"].iter().any(|part| refusal.names(part));
        if format(request, self).is_some() && names_format() {
            return Some(Self { format: false, ..self });
        }
        if effort(request, self).is_some() && (refusal.names("effort") || refusal.names("output_config")) {
            let thinking = Thinking::Unsaid;
            return Some(Self { thinking, ..self });
        }
        if tells_thoughts(request, self) && refusal.names("thinking") {
            let thinking = Thinking::Silent;
            return Some(Self { thinking, ..self });
        }
        if !forces(request, self) || !(refusal.names("tool_choice") || refusal.names("thinking")) {
            return None;
        }
        let force = match force(request, self) {
            Force::Named => Force::Unthinking,
            Force::Unthinking => Force::Asked,
            Force::Asked => return None,
        };
        Some(Self { force, ..self })
    }
}

/// The name of the tool whose arguments are the answer's text, where a shape is demanded so.
pub(super) fn shape_tool(request: &LlmRequest, terms: Terms) -> Option<String> {
    shape(request, terms).map(|shape| shape.name.clone())
}

/// A shape that is demanded as a tool. Only where no tools are offered: a shape and a tool cannot both be demanded.
fn shape(request: &LlmRequest, terms: Terms) -> Option<&ResponseSchema> {
    let shape = request.response_schema.as_ref()?;
    let is_object = shape.schema.get("type").is_some_and(|kind| kind == "object");
    (request.tools.is_empty() && is_object && format(request, terms).is_none()).then_some(shape)
}

/// A shape that is demanded as such: the model is known to take one, and this one says of every part what it is.
fn format(request: &LlmRequest, terms: Terms) -> Option<&ResponseSchema> {
    let shape = request.response_schema.as_ref()?;
    let may = terms.format && request.tools.is_empty() && takes_shapes(super::NAME, &request.model);
    (may && is_closed(&shape.schema, &|_| true)).then_some(shape)
}

/// How a tool is demanded of this model: some are known not to let one be forced.
fn force(request: &LlmRequest, terms: Terms) -> Force {
    match may_force_tools(super::NAME, &request.model) {
        true => terms.force,
        false => Force::Asked,
    }
}

/// Whether a tool is demanded, as itself or as the shape of the answer.
fn forces(request: &LlmRequest, terms: Terms) -> bool {
    let tool = !request.tools.is_empty() && matches!(request.tool_choice, ToolChoice::Tool(_) | ToolChoice::Any);
    tool || shape(request, terms).is_some()
}

/// Whether it is demanded of a model that is told not to think.
fn is_unthinking(request: &LlmRequest, terms: Terms) -> bool {
    forces(request, terms) && force(request, terms) == Force::Unthinking
}

/// How much the model is told to think: nothing where it is switched off so that a tool can be demanded.
pub(super) fn effort(request: &LlmRequest, terms: Terms) -> Option<Effort> {
    let is_off = is_unthinking(request, terms);
    let says = terms.thinking != Thinking::Unsaid && !is_off && may_take_effort(super::NAME, &request.model);
    request.effort.filter(|_| says)
}

/// A model that is told how much to think is told to think, also about a tool that it must call.
fn tells_thoughts(request: &LlmRequest, terms: Terms) -> bool {
    terms.thinking == Thinking::Told && effort(request, terms).is_some()
}

fn room(request: &LlmRequest, terms: Terms) -> u64 {
    request.max_tokens.map_or(USUAL_ROOM, u64::from).min(terms.most_room)
}

/// The body to send.
pub(super) fn body(request: &LlmRequest, terms: Terms) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(request.model));
    put("max_tokens", json!(room(request, terms)));
    put("stream", json!(true));
    let system = system(request, terms);
    if !system.trim().is_empty() {
        // What stays the same from call to call: the tools, which come before it, and this.
        put("system", json!([cached(json!({"type": "text", "text": system}))]));
    }
    put("messages", messages(request));
    if let Some(shape) = shape(request, terms) {
        let tool = json!({
            "name": shape.name,
            "description": "Call this once, with your whole answer.",
            "input_schema": shape.schema,
        });
        put("tools", json!([tool]));
        put(
            "tool_choice",
            match force(request, terms) {
                Force::Asked => json!({"type": "auto"}),
                Force::Named | Force::Unthinking => only(&shape.name),
            },
        );
    } else if !request.tools.is_empty() {
        put("tools", offered(request, terms).map(tool).collect());
        put("tool_choice", choice(request, terms));
    }
    if is_unthinking(request, terms) {
        put("thinking", json!({"type": "disabled"}));
    }
    let mut output = Map::new();
    if let Some(effort) = effort(request, terms) {
        output.insert("effort".to_owned(), json!(effort.word()));
    }
    if let Some(shape) = format(request, terms) {
        output.insert(
            "format".to_owned(),
            json!({"type": "json_schema", "schema": shape.schema}),
        );
    }
    if !output.is_empty() {
        put("output_config", Value::Object(output));
    }
    if tells_thoughts(request, terms) {
        put("thinking", json!({"type": "adaptive", "display": "summarized"}));
    }
    Value::Object(body)
}

fn system(request: &LlmRequest, terms: Terms) -> String {
    let system = &request.system;
    let is_asked = force(request, terms) == Force::Asked;
    match (&request.response_schema, &request.tool_choice) {
        (Some(_), _) if format(request, terms).is_some() => system.clone(),
        (Some(wanted), _) if shape(request, terms).is_none() => asking_for_shape(system, &wanted.schema),
        (Some(wanted), _) if is_asked => {
            let name = &wanted.name;
            format!("{system}\n\nCall the tool \"{name}\" exactly once, with your whole answer, and say nothing else.")
        }
        (None, ToolChoice::Tool(name)) if is_asked => {
            format!("{system}\n\nCall the tool \"{name}\" exactly once, and say nothing else.")
        }
        (None, ToolChoice::Any) if is_asked => {
            format!("{system}\n\nCall at least one of the tools.")
        }
        _ => system.clone(),
    }
}

fn offered(request: &LlmRequest, terms: Terms) -> impl Iterator<Item = &ToolSpec> {
    let only = match &request.tool_choice {
        ToolChoice::Tool(name) if force(request, terms) == Force::Asked => Some(name),
        _ => None,
    };
    let wanted = move |tool: &&ToolSpec| only.is_none_or(|name| tool.name == *name);
    request.tools.iter().filter(wanted)
}

fn choice(request: &LlmRequest, terms: Terms) -> Value {
    let is_asked = force(request, terms) == Force::Asked;
    match &request.tool_choice {
        ToolChoice::None => json!({"type": "none"}),
        ToolChoice::Any if !is_asked => json!({"type": "any"}),
        ToolChoice::Tool(name) if !is_asked => only(name),
        ToolChoice::Auto | ToolChoice::Any | ToolChoice::Tool(_) => json!({"type": "auto"}),
    }
}

/// One call of this tool.
fn only(name: &str) -> Value {
    json!({"type": "tool", "name": name, "disable_parallel_tool_use": true})
}

fn tool(tool: &ToolSpec) -> Value {
    let mut schema = match &tool.parameters {
        Value::Object(schema) => schema.clone(),
        _ => Map::new(),
    };
    // The protocol wants it written down.
    schema.entry("type").or_insert_with(|| json!("object"));
    json!({"name": tool.name, "description": tool.description, "input_schema": schema})
}

fn messages(request: &LlmRequest) -> Value {
    let mut turns: Vec<Value> = request.messages.iter().filter_map(turn).collect();
    // A conversation that goes on is sent again, and longer, each time.
    if turns.len() > 1
        && let Some(last) = turns
            .last_mut()
            .and_then(|turn| turn["content"].as_array_mut()?.last_mut())
    {
        *last = cached(last.take());
    }
    Value::Array(turns)
}

fn cached(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

/// None for a turn without words, which the protocol refuses; turns of the same side may follow each other.
fn turn(message: &Message) -> Option<Value> {
    let (role, content) = match message.role {
        Role::User => ("user", user(&message.content)),
        Role::Assistant => ("assistant", assistant(&message.content)),
    };
    (!content.is_empty()).then(|| json!({"role": role, "content": content}))
}

/// The results of tools first: they must follow the calls that they answer.
fn user(content: &[ContentBlock]) -> Vec<Value> {
    let results = content.iter().filter_map(tool_result);
    results.chain(content.iter().filter_map(text)).collect()
}

/// As it came.
fn assistant(content: &[ContentBlock]) -> Vec<Value> {
    put_together(content, content.iter().filter_map(text).collect(), tool_use)
}

fn text(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text { text } if !text.trim().is_empty() => Some(json!({"type": "text", "text": text})),
        ContentBlock::Text { .. } | ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. } => None,
    }
}

fn tool_use(call: &ToolUse) -> Value {
    let input = match &call.input {
        Value::Object(_) => call.input.clone(),
        // Another provider's model may have called it so.
        other => json!({ "value": other }),
    };
    json!({"type": "tool_use", "id": plain_id(&call.id), "name": call.name, "input": input})
}

fn tool_result(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolResult {
        tool_use_id,
        result,
        is_error,
        ..
    } = block
    else {
        return None;
    };
    let content = result_text(result, false);
    Some(json!({"type": "tool_result", "tool_use_id": plain_id(tool_use_id), "content": content, "is_error": is_error}))
}

/// Letters, digits, `_` and `-` are all that the protocol takes; another provider's ids may have more.
fn plain_id(id: &str) -> String {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || sign == '_' || sign == '-';
    id.chars().map(|sign| if is_plain(sign) { sign } else { '_' }).collect()
}
