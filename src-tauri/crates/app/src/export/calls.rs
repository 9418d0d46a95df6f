//! Every attempt to ask a model as a line of JSON (the reference's `LlmLogEntry`; models page, *Retry*). What was asked
//! and answered is not in it: only what the two look like. The run's own journal has their words.

use std::collections::BTreeMap;

use contract::ids::RunId;
use contract::llm::{AttemptStatus, LlmRequest, LlmResponse, ResponseSchema, ToolSpec};
use contract::run_state::RunState;
use serde_json::{Value, json};

/// What calls look like, by their keys.
pub(super) type CallShapes = BTreeMap<String, Value>;

/// What a request and its answer look like: which tools, how many messages, why it stopped, and no word of either.
pub(super) fn shape(request: &LlmRequest, response: Option<&LlmResponse>) -> Value {
    let tools: Vec<&str> = request
        .tools
        .iter()
        .map(|ToolSpec { name, .. }| name.as_str())
        .collect();
    let schema = request.response_schema.as_ref().map(|ResponseSchema { name, .. }| name);
    json!({
        "request": {
            "messages": request.messages.len(),
            "tools": tools,
            "toolChoice": request.tool_choice,
            "schema": schema,
            "maxTokens": request.max_tokens,
            "temperature": request.temperature,
            "effort": request.effort,
        },
        "response": response.map(|response| json!({
            "model": response.model,
            "finishReason": response.finish_reason,
            "requestId": response.request_id,
            "toolUses": response.tool_uses.len(),
        })),
    })
}

/// The lines, in the order in which the calls began.
pub(super) fn lines(run: &RunId, state: &RunState, shapes: &CallShapes) -> String {
    let mut out = String::new();
    for (key, call) in &state.calls {
        let shape = shapes.get(key).cloned().unwrap_or_default();
        for attempt in &call.attempts {
            let asked = attempt.asked(&call.model);
            let (provider, model) = asked.split_once(':').unwrap_or(("", asked));
            let line = json!({
                "run": run.as_str(),
                "call": key,
                "cycle": call.cycle,
                "purpose": call.purpose,
                "step": call.step,
                "provider": provider,
                "model": model,
                "requestBytes": call.request.bytes,
                "responseBytes": call.response.as_ref().map(|response| response.bytes),
                "request": shape["request"],
                // The answer is that of the attempt that came to one.
                "response": match attempt.status {
                    AttemptStatus::Success => shape["response"].clone(),
                    _ => Value::Null,
                },
                "attempt": serde_json::to_value(attempt).unwrap_or(Value::Null),
            });
            out.push_str(&line.to_string());
            out.push('\n');
        }
    }
    out
}
