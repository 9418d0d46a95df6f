//! Small things that every protocol's requests and answers are made of.

use contract::llm::{Delta, LlmError, LlmErrorCode, ToolUse};
use contract::ports::provider::Sink;
use serde_json::{Map, Value};

use crate::endpoint::Host;

/// Begins the name of a call that the server did not name, or named as it had named another one.
pub(crate) const OUR_CALL: &str = "tepa_call_";

/// Says a piece of the answer, unless there is nothing in it.
pub(crate) fn say(sink: &dyn Sink, delta: Delta) {
    let (Delta::Text { text } | Delta::Reasoning { text } | Delta::ToolArguments { text }) = &delta else {
        return;
    };
    if !text.is_empty() {
        sink.delta(delta);
    }
}

/// A field's text; none when it is missing, empty or no text.
pub(crate) fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A tool call whose arguments have all arrived. `place` names a call that the server did not name, `out_of_room` is
/// whether the model had to stop in the middle: a call without arguments is then one whose arguments had not begun.
///
/// # Errors
/// In words, when it is no call that can be made.
pub(crate) fn tool_use(
    id: &str,
    name: &str,
    arguments: &str,
    place: usize,
    out_of_room: bool,
) -> Result<ToolUse, String> {
    if name.is_empty() {
        return Err(
            "the model called a tool without saying which: try again, or choose a model made for tools".to_owned(),
        );
    }
    let input = match arguments.trim() {
        "" if out_of_room => None,
        "" => Some(Value::Object(Map::new())),
        text => serde_json::from_str(text).ok(),
    };
    let input = input.ok_or_else(|| match out_of_room {
        true => half_a_call(name),
        false => format!(
            "the model called \"{name}\" with arguments that are not JSON: try again, or choose a model made for tools"
        ),
    })?;
    Ok(ToolUse {
        id: if id.is_empty() {
            format!("call_{place}")
        } else {
            id.to_owned()
        },
        name: name.to_owned(),
        input,
        carried: None,
        made_by: None,
    })
}

/// The words for a call in whose middle the model had to stop.
pub(crate) fn half_a_call(name: &str) -> String {
    format!("the model ran out of room while it was calling \"{name}\": raise the most tokens it may answer with")
}

/// The error for JSON in which a model says nothing.
pub(crate) fn not_an_answer(server: &Host) -> LlmError {
    let message = format!("{server} answered with nothing that a model says: {}", server.look());
    LlmError::new(LlmErrorCode::BadResponse, message).remedy(server.remedy())
}

/// A number through its text, so that 0.2 does not become 0.20000000298.
pub(crate) fn exact(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// A system prompt that asks for a shape, for servers that cannot be told it in another way.
pub(crate) fn asking_for_shape(system: &str, schema: &Value) -> String {
    let between = if system.is_empty() { "" } else { "\n\n" };
    format!(
        "{system}{between}Answer with one JSON object that matches this JSON Schema, and with nothing else:\n{schema}"
    )
}

/// What a tool returned, as text. `is_error` is told where the protocol has no field for it.
pub(crate) fn result_text(result: &Value, is_error: bool) -> String {
    match result {
        _ if is_error => serde_json::json!({"error": result}).to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
