//! A request in the words of `/v1/chat/completions`.

use contract::llm::{ContentBlock, Effort, LlmRequest, Message, ResponseSchema, Role, ToolChoice, ToolSpec, ToolUse};
use serde_json::{Map, Value, json};

use crate::pieces::{asking_for_shape, exact, result_text};

/// What a server was found to understand. Everything at first; less after it refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Understands {
    pub(super) format: Format,
    /// Whether one certain tool can be demanded by name (LM Studio takes `required` only).
    pub(super) named_choice: bool,
    /// Whether it can be said how much to think.
    pub(super) effort: bool,
}

/// How the shape of an answer is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// By the schema itself.
    Schema,
    /// As some JSON; the schema stands in the system prompt.
    Json,
    /// In the system prompt only.
    Words,
}

impl Understands {
    pub(super) const EVERYTHING: Self = Self {
        format: Format::Schema,
        named_choice: true,
        effort: true,
    };

    /// What to assume after a server refused a request as invalid; none when nothing of the request
    /// can be left out. `param` is what the server names as the cause.
    pub(super) fn less(self, request: &LlmRequest, param: Option<&str>) -> Option<Self> {
        let may_be = |name: &str| param.is_none_or(|param| param.starts_with(name));
        if effort(request, self).is_some() && (may_be("reasoning") || may_be("think")) {
            return Some(Self { effort: false, ..self });
        }
        let names_tool = matches!(request.tool_choice, ToolChoice::Tool(_)) && !request.tools.is_empty();
        if self.named_choice && names_tool && may_be("tool_choice") {
            return Some(Self {
                named_choice: false,
                ..self
            });
        }
        let format = match self.format {
            Format::Schema => Format::Json,
            Format::Json => Format::Words,
            Format::Words => return None,
        };
        (request.response_schema.is_some() && may_be("response_format")).then_some(Self { format, ..self })
    }
}

/// How much the model is told to think.
pub(super) fn effort(request: &LlmRequest, understands: Understands) -> Option<Effort> {
    request.effort.filter(|_| understands.effort)
}

/// The body to send.
pub(super) fn body(request: &LlmRequest, understands: Understands) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("messages".to_owned(), messages(request, understands));
    body.insert("stream".to_owned(), json!(true));
    body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    if !request.tools.is_empty() {
        let (tools, choice) = tools(request, understands);
        body.insert("tools".to_owned(), tools);
        body.insert("tool_choice".to_owned(), choice);
    }
    if let Some(schema) = &request.response_schema {
        match understands.format {
            Format::Schema => body.insert("response_format".to_owned(), by_schema(schema)),
            Format::Json => body.insert("response_format".to_owned(), json!({"type": "json_object"})),
            Format::Words => None,
        };
    }
    if let Some(effort) = effort(request, understands) {
        body.insert("reasoning_effort".to_owned(), json!(effort.word()));
    }
    if let Some(max_tokens) = request.max_tokens {
        body.insert("max_tokens".to_owned(), json!(max_tokens));
    }
    if let Some(temperature) = request.temperature {
        body.insert("temperature".to_owned(), json!(exact(temperature)));
    }
    Value::Object(body)
}

fn by_schema(schema: &ResponseSchema) -> Value {
    json!({
        "type": "json_schema",
        "json_schema": {"name": schema.name, "schema": schema.schema, "strict": false},
    })
}

fn tools(request: &LlmRequest, understands: Understands) -> (Value, Value) {
    let only = match &request.tool_choice {
        ToolChoice::Tool(name) if !understands.named_choice => Some(name),
        _ => None,
    };
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::None => json!("none"),
        ToolChoice::Any => json!("required"),
        // Demanding some tool where only one is offered demands that one.
        ToolChoice::Tool(_) if only.is_some() => json!("required"),
        ToolChoice::Tool(name) => json!({"type": "function", "function": {"name": name}}),
    };
    let offered = request
        .tools
        .iter()
        .filter(|tool| only.is_none_or(|name| tool.name == *name));
    (offered.map(tool).collect(), choice)
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
    })
}

fn messages(request: &LlmRequest, understands: Understands) -> Value {
    let system = system(request, understands);
    let system = (!system.is_empty()).then(|| json!({"role": "system", "content": system}));
    let turns = request.messages.iter().flat_map(turn);
    system.into_iter().chain(turns).collect()
}

fn system(request: &LlmRequest, understands: Understands) -> String {
    match &request.response_schema {
        Some(shape) if understands.format != Format::Schema => asking_for_shape(&request.system, &shape.schema),
        _ => request.system.clone(),
    }
}

fn turn(message: &Message) -> Vec<Value> {
    match message.role {
        Role::User => user(&message.content),
        Role::Assistant => vec![assistant(&message.content)],
    }
}

/// The results of tools first: they must follow the calls that they answer.
fn user(content: &[ContentBlock]) -> Vec<Value> {
    let mut messages: Vec<Value> = content.iter().filter_map(tool_result).collect();
    let text = text(content);
    if !text.is_empty() || messages.is_empty() {
        messages.push(json!({"role": "user", "content": text}));
    }
    messages
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
    let content = result_text(result, *is_error);
    Some(json!({"role": "tool", "tool_call_id": tool_use_id, "content": content}))
}

fn assistant(content: &[ContentBlock]) -> Value {
    let text = text(content);
    let calls: Vec<Value> = content.iter().filter_map(tool_call).collect();
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let text = if text.is_empty() {
        Value::Null
    } else {
        Value::String(text)
    };
    json!({"role": "assistant", "content": text, "tool_calls": calls})
}

fn tool_call(block: &ContentBlock) -> Option<Value> {
    let ContentBlock::ToolUse(ToolUse { id, name, input, .. }) = block else {
        return None;
    };
    let function = json!({"name": name, "arguments": input.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

fn text(content: &[ContentBlock]) -> String {
    let texts = content.iter().filter_map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use contract::Key;

    use super::*;

    fn request() -> LlmRequest {
        LlmRequest {
            key: Key::new("k"),
            model: "qwen3".to_owned(),
            system: "Be brief.".to_owned(),
            messages: vec![Message::user("Hello")],
            ..LlmRequest::default()
        }
    }

    fn with_tools(choice: ToolChoice) -> LlmRequest {
        let tools = ["look", "write"].map(|name| ToolSpec {
            name: name.to_owned(),
            description: format!("to {name}"),
            parameters: json!({"type": "object"}),
        });
        LlmRequest {
            tools: tools.to_vec(),
            tool_choice: choice,
            ..request()
        }
    }

    fn with_schema() -> LlmRequest {
        LlmRequest {
            response_schema: Some(ResponseSchema {
                name: "plan".to_owned(),
                schema: json!({"type": "object"}),
            }),
            ..request()
        }
    }

    fn wire_tool(name: &str) -> Value {
        let function = json!({"name": name, "description": format!("to {name}"), "parameters": {"type": "object"}});
        json!({"type": "function", "function": function})
    }

    #[test]
    fn asks_for_text() {
        let request = LlmRequest {
            max_tokens: Some(500),
            temperature: Some(0.2),
            ..request()
        };
        let expected = json!({
            "model": "qwen3",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 500,
            "temperature": 0.2,
        });
        assert_eq!(body(&request, Understands::EVERYTHING), expected);
    }

    #[test]
    fn leaves_out_an_empty_system_prompt() {
        let request = LlmRequest {
            system: String::new(),
            ..request()
        };
        let body = body(&request, Understands::EVERYTHING);
        assert_eq!(body["messages"], json!([{"role": "user", "content": "Hello"}]));
    }

    #[test]
    fn tells_a_conversation_with_tools_in_the_order_the_protocol_wants() {
        let call = |id: &str| {
            ContentBlock::ToolUse(ToolUse {
                id: id.to_owned(),
                name: "look".to_owned(),
                input: json!({"at": 1}),
                carried: None,
            })
        };
        let result = |id: &str, result: Value, is_error| ContentBlock::ToolResult {
            tool_use_id: id.to_owned(),
            name: "look".to_owned(),
            result,
            is_error,
        };
        let text = |text: &str| ContentBlock::Text { text: text.to_owned() };
        let turn = |role, content| Message { role, content };
        let request = LlmRequest {
            messages: vec![
                turn(Role::Assistant, vec![text("I look."), call("1"), call("2")]),
                turn(
                    Role::User,
                    vec![
                        text("Go on."),
                        result("1", json!("seen"), false),
                        result("2", json!("no such file"), true),
                    ],
                ),
                turn(Role::Assistant, vec![call("3")]),
                turn(Role::User, vec![result("3", json!({"rows": [1]}), false)]),
                turn(Role::Assistant, vec![text("a"), text("b")]),
            ],
            system: String::new(),
            ..request()
        };
        let wire_call =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}});
        let expected = json!([
            {"role": "assistant", "content": "I look.", "tool_calls": [wire_call("1"), wire_call("2")]},
            {"role": "tool", "tool_call_id": "1", "content": "seen"},
            {"role": "tool", "tool_call_id": "2", "content": "{\"error\":\"no such file\"}"},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": null, "tool_calls": [wire_call("3")]},
            {"role": "tool", "tool_call_id": "3", "content": "{\"rows\":[1]}"},
            {"role": "assistant", "content": "a\nb"},
        ]);
        assert_eq!(body(&request, Understands::EVERYTHING)["messages"], expected);
    }

    #[test]
    fn offers_tools_and_says_whether_one_must_be_called() {
        let check = |choice, expected: Value| {
            let body = body(&with_tools(choice), Understands::EVERYTHING);
            assert_eq!(body["tools"], json!([wire_tool("look"), wire_tool("write")]));
            assert_eq!(body["tool_choice"], expected);
        };
        check(ToolChoice::Auto, json!("auto"));
        check(ToolChoice::Any, json!("required"));
        check(ToolChoice::None, json!("none"));
        let named = json!({"type": "function", "function": {"name": "write"}});
        check(ToolChoice::Tool("write".to_owned()), named);
    }

    #[test]
    fn demands_one_tool_by_offering_no_other_where_names_are_not_understood() {
        let request = with_tools(ToolChoice::Tool("write".to_owned()));
        let less = Understands::EVERYTHING.less(&request, None).unwrap();
        let body = body(&request, less);
        assert_eq!(
            (&body["tools"], &body["tool_choice"]),
            (&json!([wire_tool("write")]), &json!("required"))
        );
        assert_eq!(less.less(&request, None), None);
    }

    #[test]
    fn demands_a_shape_in_three_ways() {
        let request = with_schema();
        let understands = Understands::EVERYTHING;
        let shape = json!({
            "type": "json_schema",
            "json_schema": {"name": "plan", "schema": {"type": "object"}, "strict": false},
        });
        assert_eq!(body(&request, understands)["response_format"], shape);
        let system = "Be brief.\n\nAnswer with one JSON object that matches this JSON Schema, and with nothing else:\n\
                      {\"type\":\"object\"}";
        let understands = understands.less(&request, None).unwrap();
        let by_json = body(&request, understands);
        assert_eq!(by_json["response_format"], json!({"type": "json_object"}));
        assert_eq!(by_json["messages"][0]["content"], json!(system));
        let understands = understands.less(&request, Some("response_format.type")).unwrap();
        let by_words = body(&request, understands);
        assert_eq!(by_words.get("response_format"), None);
        assert_eq!(by_words["messages"][0]["content"], json!(system));
        assert_eq!(understands.less(&request, None), None);
    }

    #[test]
    fn says_how_much_to_think_until_the_server_refuses_it() {
        let request = LlmRequest {
            effort: Some(Effort::Medium),
            ..with_schema()
        };
        let everything = Understands::EVERYTHING;
        assert_eq!(body(&request, everything)["reasoning_effort"], json!("medium"));
        for param in [None, Some("reasoning_effort"), Some("think")] {
            let less = everything.less(&request, param).unwrap();
            let body = body(&request, less);
            assert_eq!((body.get("reasoning_effort"), effort(&request, less)), (None, None));
            // Nothing else is given up with it.
            assert!(body["response_format"]["json_schema"].is_object());
        }
        let other = everything.less(&request, Some("response_format")).unwrap();
        assert_eq!(effort(&request, other), Some(Effort::Medium));
    }

    #[test]
    fn gives_up_nothing_when_the_server_names_another_cause() {
        assert_eq!(Understands::EVERYTHING.less(&with_schema(), Some("max_tokens")), None);
        assert_eq!(Understands::EVERYTHING.less(&request(), None), None);
    }
}
