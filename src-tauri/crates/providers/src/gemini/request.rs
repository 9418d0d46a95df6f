//! A request in the words of `generateContent`.

use contract::llm::{ContentBlock, Effort, LlmRequest, Message, Role, ToolChoice, ToolSpec, ToolUse};
use serde_json::{Map, Value, json};

use crate::catalog::may_take_effort;
use crate::pieces::{OUR_CALL, asking_for_shape, exact};
use crate::refusal::Refusal;

/// In which terms a model is asked. Everything at first; less after it refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Terms {
    /// Whether a shape is demanded by its schema, or in words.
    schema: bool,
    /// Whether it is said how much to think, where a person said so.
    thinking: bool,
}

impl Terms {
    pub(super) const EVERYTHING: Self = Self {
        schema: true,
        thinking: true,
    };

    /// What to assume after a model refused a request as invalid and named the cause.
    pub(super) fn less(self, request: &LlmRequest, refusal: &Refusal) -> Option<Self> {
        if effort(request, self).is_some() && refusal.names("thinking") {
            return Some(Self {
                thinking: false,
                ..self
            });
        }
        let names_schema = ["schema", "response_mime_type", "json mode"]
            .iter()
            .any(|part| refusal.names(part));
        (self.schema && request.response_schema.is_some() && names_schema).then_some(Self { schema: false, ..self })
    }
}

/// How much the model is told to think.
pub(super) fn effort(request: &LlmRequest, terms: Terms) -> Option<Effort> {
    let says = terms.thinking && may_take_effort(super::NAME, &request.model);
    request.effort.filter(|_| says)
}

/// The models before the third generation.
fn thinks_by_tokens(model: &str) -> bool {
    let model = model.strip_prefix("models/").unwrap_or(model);
    model.starts_with("gemini-1") || model.starts_with("gemini-2")
}

/// By a level; before the third generation by so many tokens at most, which the newer ones refuse.
fn thinking(model: &str, effort: Effort) -> Value {
    let how = match thinks_by_tokens(model) {
        true => (
            "thinkingBudget",
            json!(match effort {
                Effort::Low => 1_024,
                Effort::Medium => 8_192,
                Effort::High => 24_576,
            }),
        ),
        false => ("thinkingLevel", json!(effort.word().to_uppercase())),
    };
    json!({ how.0: how.1, "includeThoughts": true })
}

/// The body to send.
pub(super) fn body(request: &LlmRequest, terms: Terms) -> Value {
    let mut body = Map::new();
    let mut put = |name: &str, value: Value| drop(body.insert(name.to_owned(), value));
    let system = match &request.response_schema {
        Some(shape) if !terms.schema => asking_for_shape(&request.system, &shape.schema),
        _ => request.system.clone(),
    };
    if !system.is_empty() {
        put("systemInstruction", json!({"parts": [{"text": system}]}));
    }
    let by_tokens = thinks_by_tokens(&request.model);
    let turns = request.messages.iter().filter_map(|message| turn(message, by_tokens));
    put("contents", turns.collect());
    if !request.tools.is_empty() {
        let declared: Value = request.tools.iter().map(declaration).collect();
        put("tools", json!([{ "functionDeclarations": declared }]));
        put(
            "toolConfig",
            json!({ "functionCallingConfig": calling(&request.tool_choice) }),
        );
    }
    let config = config(request, terms);
    if !config.is_empty() {
        put("generationConfig", Value::Object(config));
    }
    Value::Object(body)
}

fn config(request: &LlmRequest, terms: Terms) -> Map<String, Value> {
    let mut config = Map::new();
    let mut put = |name: &str, value: Value| drop(config.insert(name.to_owned(), value));
    if let Some(max_tokens) = request.max_tokens {
        put("maxOutputTokens", json!(max_tokens));
    }
    if let Some(temperature) = request.temperature {
        put("temperature", json!(exact(temperature)));
    }
    if let Some(effort) = effort(request, terms) {
        put("thinkingConfig", thinking(&request.model, effort));
    }
    // Beside tools an answer in JSON cannot be demanded.
    if let Some(shape) = request.response_schema.as_ref().filter(|_| request.tools.is_empty()) {
        put("responseMimeType", json!("application/json"));
        if terms.schema {
            put("responseJsonSchema", shape.schema.clone());
        }
    }
    config
}

fn declaration(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters})
}

fn calling(choice: &ToolChoice) -> Value {
    match choice {
        ToolChoice::Auto => json!({"mode": "AUTO"}),
        ToolChoice::Any => json!({"mode": "ANY"}),
        ToolChoice::None => json!({"mode": "NONE"}),
        ToolChoice::Tool(name) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    }
}

/// Stands for the signature of a call that another model made, as the vendor wants it: from the third generation on a
/// turn is refused whose first call has none.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// None for a turn without words, which the protocol refuses.
fn turn(message: &Message, by_tokens: bool) -> Option<Value> {
    let (role, parts) = match message.role {
        Role::User => ("user", user(&message.content)),
        Role::Assistant => ("model", model(&message.content, by_tokens)),
    };
    (!parts.is_empty()).then(|| json!({"role": role, "parts": parts}))
}

fn model(content: &[ContentBlock], by_tokens: bool) -> Vec<Value> {
    let mut parts: Vec<Value> = content.iter().filter_map(part).collect();
    let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
    if let Some(first) = first.filter(|first| !by_tokens && first.get("thoughtSignature").is_none()) {
        first["thoughtSignature"] = json!(NO_SIGNATURE);
    }
    parts
}

/// The results of tools first: they must follow the calls that they answer.
fn user(content: &[ContentBlock]) -> Vec<Value> {
    let is_result = |block: &&ContentBlock| matches!(block, ContentBlock::ToolResult { .. });
    let results = content.iter().filter(is_result);
    let others = content.iter().filter(|block| !is_result(block));
    results.chain(others).filter_map(part).collect()
}

fn part(block: &ContentBlock) -> Option<Value> {
    match block {
        ContentBlock::Text { text } => (!text.is_empty()).then(|| json!({ "text": text })),
        ContentBlock::ToolUse(call) => Some(called(call)),
        ContentBlock::ToolResult {
            tool_use_id,
            name,
            result,
            is_error,
        } => {
            let field = if *is_error { "error" } else { "output" };
            let mut response = json!({"name": name, "response": { field: result }});
            name_call(&mut response, tool_use_id);
            Some(json!({ "functionResponse": response }))
        }
    }
}

fn called(call: &ToolUse) -> Value {
    let args = match &call.input {
        Value::Object(_) => call.input.clone(),
        // Another provider's model may have called it so.
        other => json!({ "value": other }),
    };
    let mut function = json!({"name": call.name, "args": args});
    name_call(&mut function, &call.id);
    let mut part = json!({ "functionCall": function });
    if let Some(signature) = call.carried.as_ref().filter(|carried| carried.is_string()) {
        part["thoughtSignature"] = signature.clone();
    }
    part
}

/// The server's name of the call, where it gave one.
fn name_call(part: &mut Value, id: &str) {
    if !id.starts_with(OUR_CALL) {
        part["id"] = json!(id);
    }
}
