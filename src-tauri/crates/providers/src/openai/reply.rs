//! An answer of the Responses API. Its last event holds all of it; what comes before is for whoever watches, and for a
//! server that leaves something out at the end.

use std::collections::BTreeMap;

use contract::llm::{Delta, FinishReason, LlmError, LlmErrorCode, LlmResponse, ToolUse, Usage};
use contract::ports::provider::Sink;
use serde_json::{Value, json};

use crate::endpoint::Host;
use crate::pieces::{not_an_answer, say, text_of, tool_use};
use crate::reader;
use crate::retry::{Answer, Failure};
use crate::turn::Turn;

/// What has arrived so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The items that are whole, by their place.
    items: BTreeMap<u64, Value>,
    /// The whole answer.
    response: Option<Value>,
    usage: Option<Usage>,
}

impl reader::Reply for Reply {
    fn take(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Value> {
        let delta = || text_of(piece, "delta").unwrap_or_default().to_owned();
        match text_of(piece, "type").unwrap_or_default() {
            "response.output_text.delta" | "response.refusal.delta" => say(sink, Delta::Text { text: delta() }),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                say(sink, Delta::Reasoning { text: delta() });
            }
            "response.function_call_arguments.delta" => say(sink, Delta::ToolArguments { text: delta() }),
            "response.output_item.done" => {
                let place = piece.get("output_index").and_then(Value::as_u64).unwrap_or(u64::MAX);
                self.items.insert(place, piece.get("item").cloned().unwrap_or_default());
            }
            "response.completed" | "response.incomplete" | "response.failed" => {
                return self.end(piece.get("response").unwrap_or(&Value::Null));
            }
            // All at once, from something in between that does not stream.
            _ if text_of(piece, "object") == Some("response") => return self.end(piece),
            _ => {}
        }
        Ok(())
    }

    fn finished(&self) -> bool {
        self.response.is_some()
    }

    fn done(&self) -> bool {
        self.response.is_some()
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn into_answer(mut self, server: &Host) -> Result<Answer, Failure> {
        let usage = self.usage;
        let failure = |error: LlmError| Failure { usage, ..error.into() };
        let Some(response) = self.response.take() else {
            return Err(failure(not_an_answer(server)));
        };
        let out_of_room = finish_reason(&response, "", &[]) == FinishReason::MaxTokens;
        let output = match response.get("output").and_then(Value::as_array) {
            Some(output) if !output.is_empty() => output.clone(),
            _ => self.items.into_values().collect(),
        };
        let (mut text, mut refusal, mut turn) = (String::new(), String::new(), Turn::default());
        for (place, item) in output.iter().enumerate() {
            match text_of(item, "type") {
                Some("message") => {
                    let before = text.len();
                    said(item, &mut text, &mut refusal);
                    if let Some(words) = text.get(before..).filter(|words| !words.is_empty()) {
                        let phase = item.get("phase").filter(|phase| phase.is_string());
                        turn.said(message(words, phase), phase.is_some());
                    }
                }
                Some("reasoning") => {
                    if let Some(thought) = carried(item) {
                        turn.thought(thought);
                    }
                }
                Some("function_call") => {
                    let [id, name, arguments] =
                        ["call_id", "name", "arguments"].map(|name| text_of(item, name).unwrap_or_default());
                    let called = tool_use(id, name, arguments, place, out_of_room);
                    let called = called.map_err(|words| failure(LlmError::new(LlmErrorCode::BadResponse, words)))?;
                    turn.called(called);
                }
                _ => {}
            }
        }
        let tool_uses = turn.into_calls();
        let finish_reason = finish_reason(&response, &refusal, &tool_uses);
        let response = LlmResponse {
            text: if text.is_empty() { refusal } else { text },
            tool_uses,
            finish_reason,
            usage: usage.unwrap_or_default(),
            model: text_of(&response, "model").unwrap_or_default().to_owned(),
            request_id: text_of(&response, "id").map(ToOwned::to_owned),
        };
        Ok(Answer { response, usage })
    }
}

impl Reply {
    fn end(&mut self, response: &Value) -> Result<(), Value> {
        self.usage = response.get("usage").and_then(usage).or(self.usage);
        match response.get("error").filter(|error| !error.is_null()) {
            Some(error) => Err(json!({ "error": error })),
            None => {
                self.response = Some(response.clone());
                Ok(())
            }
        }
    }
}

fn incomplete(response: &Value) -> Option<&str> {
    response.pointer("/incomplete_details/reason")?.as_str()
}

fn said(item: &Value, text: &mut String, refusal: &mut String) {
    let content = item.get("content").and_then(Value::as_array);
    for part in content.into_iter().flatten() {
        match text_of(part, "type") {
            Some("output_text") => text.push_str(text_of(part, "text").unwrap_or_default()),
            Some("refusal") => refusal.push_str(text_of(part, "refusal").unwrap_or_default()),
            _ => {}
        }
    }
}

/// Words as the next request wants them back, with what the model called them: a remark, or its answer.
fn message(words: &str, phase: Option<&Value>) -> Value {
    let mut message = json!({"role": "assistant", "content": words});
    if let Some(phase) = phase {
        message["phase"] = phase.clone();
    }
    message
}

/// A thought as the next request wants it back; none that only its name is known of, since nothing is kept there.
fn carried(item: &Value) -> Option<Value> {
    let content = text_of(item, "encrypted_content")?;
    let summary = item.get("summary").cloned().unwrap_or_else(|| json!([]));
    Some(json!({
        "type": "reasoning",
        "id": text_of(item, "id").unwrap_or_default(),
        "summary": summary,
        "encrypted_content": content,
    }))
}

fn finish_reason(response: &Value, refusal: &str, tool_uses: &[ToolUse]) -> FinishReason {
    match (incomplete(response), text_of(response, "status")) {
        (Some("max_output_tokens"), _) => FinishReason::MaxTokens,
        (Some("content_filter"), _) => FinishReason::ContentFilter,
        _ if !refusal.is_empty() => FinishReason::Refusal,
        (None, Some("completed")) if tool_uses.is_empty() => FinishReason::EndTurn,
        (None, Some("completed")) => FinishReason::ToolUse,
        // Stopped for another reason, and not whole.
        _ => FinishReason::Unknown,
    }
}

/// What the cache gave is inside the input, and what was thought inside the output.
fn usage(usage: &Value) -> Option<Usage> {
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64);
    let (input, output) = (count("/input_tokens"), count("/output_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage {
        input: input.unwrap_or(0),
        output: output.unwrap_or(0),
        cache_read: count("/input_tokens_details/cached_tokens").unwrap_or(0),
        cache_write: count("/input_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning: count("/output_tokens_details/reasoning_tokens").unwrap_or(0),
        estimated: false,
    })
}
