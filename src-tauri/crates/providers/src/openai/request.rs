//! A request in the words of the Responses API.

use std::collections::HashSet;

use contract::llm::{ContentBlock, Effort, LlmRequest, Message, ResponseSchema, Role, ToolChoice, ToolSpec, ToolUse};
use serde_json::{Map, Value, json};

use crate::catalog::may_take_effort;
use crate::closed_shape::is_closed;
use crate::pieces::{asking_for_shape, exact, result_text};
use crate::refusal::Refusal;
use crate::turn::put_together;

/// In which terms a model is asked. Everything at first; less after it refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    temperature: bool,
    reasoning: Reasoning,
    shape: Shape,
}

/// What is said about reasoning where a person said how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reasoning {
    /// How much, and that a summary of it is to be told as it comes.
    Told,
    /// How much; summaries want an organisation that was verified.
    Silent,
    /// Nothing.
    Unsaid,
}

/// How the shape of an answer is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// By the schema, strictly where it can be.
    Strict,
    /// By the schema, which the model tries to keep.
    Loose,
    /// In words.
    Words,
}

impl Terms {
    pub(super) const EVERYTHING: Self = Self {
        temperature: true,
        reasoning: Reasoning::Told,
        shape: Shape::Strict,
    };

    /// What to assume after a model refused a request as invalid and named the cause.
    pub(super) fn less(self, request: &LlmRequest, refusal: &Refusal) -> Option<Self> {
        if self.temperature && request.temperature.is_some() && refusal.names("temperature") {
            return Some(Self {
                temperature: false,
                ..self
            });
        }
        if effort(request, self).is_some() && refusal.names("reasoning") {
            let is_summary = self.reasoning == Reasoning::Told && refusal.names("reasoning.summary");
            let reasoning = match is_summary {
                true => Reasoning::Silent,
                false => Reasoning::Unsaid,
            };
            return Some(Self { reasoning, ..self });
        }
        let names_shape = refusal.names("text.format") || refusal.names("response_format");
        let wanted = request.response_schema.as_ref().filter(|_| names_shape)?;
        let shape = match self.shape {
            Shape::Strict if is_strict(&wanted.schema) => Shape::Loose,
            Shape::Strict | Shape::Loose => Shape::Words,
            Shape::Words => return None,
        };
        Some(Self { shape, ..self })
    }
}

/// How much the model is told to think.
pub(super) fn effort(request: &LlmRequest, terms: Terms) -> Option<Effort> {
    let says = terms.reasoning != Reasoning::Unsaid && may_take_effort(super::NAME, &request.model);
    request.effort.filter(|_| says)
}

/// The body to send.
pub(super) fn body(request: &LlmRequest, terms: Terms) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    put("model", json!(request.model));
    put("stream", json!(true));
    put("store", json!(false));
    let (instructions, format) = match &request.response_schema {
        Some(shape) if terms.shape == Shape::Words => (asking_for_shape(&request.system, &shape.schema), None),
        Some(shape) => (request.system.clone(), Some(format(shape, terms))),
        None => (request.system.clone(), None),
    };
    if !instructions.is_empty() {
        put("instructions", json!(instructions));
    }
    put("input", request.messages.iter().flat_map(turn).collect());
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
        put("tool_choice", choice(&request.tool_choice));
        if matches!(request.tool_choice, ToolChoice::Tool(_)) {
            put("parallel_tool_calls", json!(false));
        }
    }
    if let Some(format) = format {
        put("text", json!({ "format": format }));
    }
    if let Some(effort) = effort(request, terms) {
        let reasoning = match terms.reasoning {
            Reasoning::Told => json!({"effort": effort.word(), "summary": "auto"}),
            Reasoning::Silent | Reasoning::Unsaid => json!({"effort": effort.word()}),
        };
        put("reasoning", reasoning);
    }
    if let Some(max_tokens) = request.max_tokens {
        // The protocol refuses less.
        put("max_output_tokens", json!(max_tokens.max(16)));
    }
    if let Some(temperature) = request.temperature.filter(|_| terms.temperature) {
        put("temperature", json!(exact(temperature)));
    }
    Value::Object(body)
}

fn format(shape: &ResponseSchema, terms: Terms) -> Value {
    let strict = terms.shape == Shape::Strict && is_strict(&shape.schema);
    json!({"type": "json_schema", "name": shape.name, "schema": shape.schema, "strict": strict})
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.parameters,
        // Strict unless it is said otherwise.
        "strict": is_strict(&tool.parameters),
    })
}

fn choice(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Any => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Tool(name) => json!({"type": "function", "name": name}),
    }
}

/// Whether a schema is inside the strict subset: plain types, every object closed and all of its fields required.
fn is_strict(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object") && is_closed(schema, &says_all)
}

/// Whether a part says what it is, and demands all of its fields.
fn says_all(part: &Map<String, Value>) -> bool {
    let says_what = ["type", "enum", "const", "anyOf"]
        .iter()
        .any(|name| part.contains_key(*name));
    let Some(properties) = part.get("properties").and_then(Value::as_object) else {
        return says_what;
    };
    let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    // One that has no fields says so, too.
    says_what && part.contains_key("required") && properties.keys().all(|name| required.contains(name.as_str()))
}

fn turn(message: &Message) -> Vec<Value> {
    match message.role {
        Role::User => user(&message.content),
        Role::Assistant => assistant(&message.content),
    }
}

/// The results of tools first: they must follow the calls that they answer.
fn user(content: &[ContentBlock]) -> Vec<Value> {
    let results = content.iter().filter_map(tool_result);
    results.chain(said("user", content)).collect()
}

/// As it came.
fn assistant(content: &[ContentBlock]) -> Vec<Value> {
    put_together(content, said("assistant", content).into_iter().collect(), called)
}

fn said(role: &str, content: &[ContentBlock]) -> Option<Value> {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. } => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then(|| json!({"role": role, "content": text}))
}

fn called(call: &ToolUse) -> Value {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.input.to_string()})
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
    let output = result_text(result, *is_error);
    Some(json!({"type": "function_call_output", "call_id": tool_use_id, "output": output}))
}
