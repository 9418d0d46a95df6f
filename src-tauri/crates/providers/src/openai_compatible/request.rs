//! A request in the words of `/v1/chat/completions`.

use contract::llm::{ContentBlock, Effort, LlmRequest, Message, ResponseSchema, Role, ToolChoice, ToolSpec, ToolUse};
use serde_json::{Map, Value, json};

use crate::pieces::{asking_for_shape, exact, result_text};
use crate::refusal::Refusal;

/// What a server was found to understand. Everything at first; less after it refused something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Understands {
    pub(super) format: Format,
    /// Whether one certain tool can be demanded by name (LM Studio takes `required` only).
    pub(super) named_choice: bool,
    /// Whether it can be said how much to think.
    pub(super) effort: bool,
    /// Whether it takes back what it sent along with its calls.
    carried: bool,
    /// Whether it takes marks of what to keep in its cache.
    caching: bool,
    /// Whether it knows the most tokens under their old name; OpenAI's newer models do not.
    old_limit: bool,
    /// Whether a temperature can be chosen.
    temperature: bool,
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
        carried: true,
        caching: true,
        old_limit: true,
        temperature: true,
    };

    /// What to assume after a server refused a request as invalid; none when nothing of the request can be left out.
    pub(super) fn less(self, request: &LlmRequest, refusal: &Refusal) -> Option<Self> {
        self.without_named(request, refusal)
            .or_else(|| self.simpler(request, refusal.param.as_deref()))
    }

    /// What is given up only where the server names it, in its place or in its words.
    fn without_named(self, request: &LlmRequest, refusal: &Refusal) -> Option<Self> {
        let names = |parts: &[&str]| parts.iter().any(|part| refusal.names(part));
        if self.carried && carries(request) && names(&["reasoning_content", "reasoning_details", "extra_content"]) {
            return Some(Self { carried: false, ..self });
        }
        if self.caching && is_claude(request) && names(&["cache_control"]) {
            return Some(Self { caching: false, ..self });
        }
        if self.old_limit && request.max_tokens.is_some() && names(&["max_completion_tokens"]) {
            return Some(Self {
                old_limit: false,
                ..self
            });
        }
        if self.temperature && request.temperature.is_some() && names(&["temperature"]) {
            return Some(Self {
                temperature: false,
                ..self
            });
        }
        None
    }

    /// `param` is what the server names as the cause; where it names none, everything may be it.
    fn simpler(self, request: &LlmRequest, param: Option<&str>) -> Option<Self> {
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
        let name = if understands.old_limit {
            "max_tokens"
        } else {
            "max_completion_tokens"
        };
        body.insert(name.to_owned(), json!(max_tokens));
    }
    if let Some(temperature) = request.temperature.filter(|_| understands.temperature) {
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
    let turns = request.messages.iter().flat_map(|message| turn(message, understands));
    let mut messages: Vec<Value> = system.into_iter().chain(turns).collect();
    if understands.caching && is_claude(request) {
        mark_for_the_cache(&mut messages);
    }
    Value::Array(messages)
}

/// Claude behind a service that gives names such as `anthropic/claude-…`: it caches only what it is told to.
fn is_claude(request: &LlmRequest) -> bool {
    request.model.starts_with("anthropic/")
}

/// What stays the same from call to call, and, in a conversation that goes on, what was said last.
fn mark_for_the_cache(messages: &mut [Value]) {
    let is = |message: &Value, role: &str| message.get("role").is_some_and(|said| said == role);
    let many = messages.len() > 2;
    let system = messages.iter().position(|message| is(message, "system"));
    let last = messages
        .iter()
        .rposition(|message| is(message, "user"))
        .filter(|_| many);
    for place in system.into_iter().chain(last) {
        let content = &mut messages[place]["content"];
        *content = json!([{"type": "text", "text": content.take(), "cache_control": {"type": "ephemeral"}}]);
    }
}

fn system(request: &LlmRequest, understands: Understands) -> String {
    match &request.response_schema {
        Some(shape) if understands.format != Format::Schema => asking_for_shape(&request.system, &shape.schema),
        _ => request.system.clone(),
    }
}

fn turn(message: &Message, understands: Understands) -> Vec<Value> {
    match message.role {
        Role::User => user(&message.content),
        Role::Assistant => vec![assistant(&message.content, understands)],
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

fn assistant(content: &[ContentBlock], understands: Understands) -> Value {
    let text = text(content);
    let calls: Vec<&ToolUse> = content.iter().filter_map(called).collect();
    if calls.is_empty() {
        return json!({"role": "assistant", "content": text});
    }
    let text = if text.is_empty() {
        Value::Null
    } else {
        Value::String(text)
    };
    let tool_calls: Vec<Value> = calls.iter().map(|call| tool_call(call, understands)).collect();
    let mut message = json!({"role": "assistant", "content": text, "tool_calls": tool_calls});
    for call in calls.into_iter().filter(|_| understands.carried) {
        put_back(&mut message, call, "message");
    }
    message
}

fn called(block: &ContentBlock) -> Option<&ToolUse> {
    match block {
        ContentBlock::ToolUse(call) => Some(call),
        ContentBlock::Text { .. } | ContentBlock::ToolResult { .. } => None,
    }
}

fn tool_call(call: &ToolUse, understands: Understands) -> Value {
    let function = json!({"name": call.name, "arguments": call.input.to_string()});
    let mut wire = json!({"id": call.id, "type": "function", "function": function});
    if understands.carried {
        put_back(&mut wire, call, "call");
    }
    wire
}

/// The server's own fields, as they came with the call, where they came.
fn put_back(place: &mut Value, call: &ToolUse, part: &str) {
    let fields = call.carried.as_ref().and_then(|carried| carried.get(part)?.as_object());
    for (name, value) in fields.into_iter().flatten() {
        place[name] = value.clone();
    }
}

fn carries(request: &LlmRequest) -> bool {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(called).any(|call| call.carried.is_some())
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
                made_by: None,
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
        let less = Understands::EVERYTHING.simpler(&request, None).unwrap();
        let body = body(&request, less);
        assert_eq!(
            (&body["tools"], &body["tool_choice"]),
            (&json!([wire_tool("write")]), &json!("required"))
        );
        assert_eq!(less.simpler(&request, None), None);
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
        let understands = understands.simpler(&request, None).unwrap();
        let by_json = body(&request, understands);
        assert_eq!(by_json["response_format"], json!({"type": "json_object"}));
        assert_eq!(by_json["messages"][0]["content"], json!(system));
        let understands = understands.simpler(&request, Some("response_format.type")).unwrap();
        let by_words = body(&request, understands);
        assert_eq!(by_words.get("response_format"), None);
        assert_eq!(by_words["messages"][0]["content"], json!(system));
        assert_eq!(understands.simpler(&request, None), None);
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
            let less = everything.simpler(&request, param).unwrap();
            let body = body(&request, less);
            assert_eq!((body.get("reasoning_effort"), effort(&request, less)), (None, None));
            // Nothing else is given up with it.
            assert!(body["response_format"]["json_schema"].is_object());
        }
        let other = everything.simpler(&request, Some("response_format")).unwrap();
        assert_eq!(effort(&request, other), Some(Effort::Medium));
    }

    #[test]
    fn gives_up_nothing_when_the_server_names_another_cause() {
        assert_eq!(
            Understands::EVERYTHING.simpler(&with_schema(), Some("max_tokens")),
            None
        );
        assert_eq!(Understands::EVERYTHING.simpler(&request(), None), None);
    }

    fn refused(words: &str) -> Refusal {
        let body = json!({"error": {"message": words, "type": "invalid_request_error"}});
        crate::refusal::refusal(
            &crate::endpoint::Host::of_a_person("http://host"),
            None,
            400,
            body.to_string().as_bytes(),
        )
    }

    #[test]
    fn names_the_most_tokens_as_newer_models_want_it_and_leaves_out_a_temperature_that_they_refuse() {
        let request = LlmRequest {
            max_tokens: Some(500),
            temperature: Some(0.2),
            ..request()
        };
        let words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        let less = Understands::EVERYTHING.less(&request, &refused(words)).unwrap();
        let words = "Unsupported value: 'temperature' does not support 0.2 with this model.";
        let body = body(&request, less.less(&request, &refused(words)).unwrap());
        assert_eq!(
            (
                body.get("max_tokens"),
                &body["max_completion_tokens"],
                body.get("temperature")
            ),
            (None, &json!(500), None)
        );
        assert_eq!(
            less.less(&request, &refused(words))
                .unwrap()
                .less(&request, &refused(words)),
            None
        );
    }

    #[test]
    fn tells_claude_behind_another_service_what_to_keep_in_its_cache() {
        let of = |model: &str, messages: Vec<Message>| LlmRequest {
            model: model.to_owned(),
            messages,
            ..request()
        };
        let marked = |text: &str| json!([{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]);
        let long = || vec![Message::user("Hello"), Message::assistant("Hi"), Message::user("Go on")];
        let claude = of("anthropic/claude-sonnet-5.5", long());
        let messages = body(&claude, Understands::EVERYTHING)["messages"].clone();
        assert_eq!(
            (
                &messages[0]["content"],
                &messages[1]["content"],
                &messages[3]["content"]
            ),
            (&marked("Be brief."), &json!("Hello"), &marked("Go on"))
        );
        let less = Understands::EVERYTHING
            .less(&claude, &refused("cache_control: extra field"))
            .unwrap();
        assert!(!body(&claude, less).to_string().contains("cache_control"));
        let other = body(&of("qwen3", long()), Understands::EVERYTHING);
        assert!(!other.to_string().contains("cache_control"));
    }

    #[test]
    fn sends_back_what_came_along_with_a_call_until_the_server_refuses_it() {
        let call = |carried: Value| {
            ContentBlock::ToolUse(ToolUse {
                id: "1".to_owned(),
                name: "look".to_owned(),
                input: json!({}),
                carried: Some(carried),
                made_by: None,
            })
        };
        let details = json!([{"type": "reasoning.encrypted", "data": "c2ln", "index": 0}]);
        let extra = json!({"google": {"thought_signature": "c2ln"}});
        let request = LlmRequest {
            messages: vec![Message {
                role: Role::Assistant,
                content: vec![
                    call(json!({"message": {"reasoning_details": details}, "call": {"extra_content": extra}})),
                    // Another protocol's, which is not sent here.
                    call(json!([{"type": "thinking"}])),
                ],
            }],
            system: String::new(),
            ..request()
        };
        let message = body(&request, Understands::EVERYTHING)["messages"][0].clone();
        assert_eq!(
            (
                &message["reasoning_details"],
                &message["tool_calls"][0]["extra_content"]
            ),
            (&details, &extra)
        );
        assert_eq!(message["tool_calls"][1].as_object().unwrap().len(), 3);
        let words = "messages.1.reasoning_details: extra fields not permitted";
        let less = Understands::EVERYTHING.less(&request, &refused(words)).unwrap();
        let body = body(&request, less).to_string();
        assert!(
            !body.contains("reasoning_details") && !body.contains("extra_content"),
            "{body}"
        );
    }
}
