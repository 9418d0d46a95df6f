//! An answer of `/v1/chat/completions`, put together from its pieces.
//!
//! Servers take liberties, so every field is looked for and none is required: what matters is
//! whether in the end there is an answer.

use contract::llm::{Delta, FinishReason, LlmError, LlmErrorCode, LlmResponse, ToolUse, Usage};
use contract::ports::provider::{Sink, Unheard};
use serde_json::{Map, Value, json};

use crate::endpoint::Host;
use crate::pieces::{not_an_answer, text_of, tool_use};
use crate::reader;
use crate::retry::{Answer, Failure};

/// What has arrived so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    text: String,
    refusal: String,
    calls: Vec<Call>,
    thoughts: Thoughts,
    finish: Option<String>,
    usage: Option<Usage>,
    model: String,
    id: Option<String>,
    something: bool,
    /// A list of choices came, with none in it: the server's failure, and not another protocol.
    no_choice: bool,
}

/// A tool call whose arguments may still be arriving.
#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// What Gemini wants to have back with it.
    extra: Option<Value>,
}

/// What the next request wants to have back of what was thought before a call, each under the server's own name of it.
#[derive(Debug, Default)]
struct Thoughts {
    /// DeepSeek and others.
    reasoning_content: String,
    /// OpenRouter.
    reasoning_details: Vec<Value>,
}

impl Thoughts {
    /// A block may come in pieces, which have its number and its kind.
    fn take_detail(&mut self, piece: &Value) {
        let same = |block: &&mut Value| {
            let is = |name: &str| block.get(name) == piece.get(name);
            piece.get("index").is_some() && is("index") && is("type")
        };
        let (Some(block), Some(fields)) = (self.reasoning_details.last_mut().filter(same), piece.as_object()) else {
            self.reasoning_details.push(piece.clone());
            return;
        };
        for (name, more) in fields {
            let grows = matches!(name.as_str(), "text" | "summary" | "data");
            match (block.get_mut(name), more) {
                (Some(Value::String(text)), Value::String(more)) if grows => text.push_str(more),
                (_, Value::Null) => {}
                _ => block[name] = more.clone(),
            }
        }
    }

    fn into_fields(self) -> Map<String, Value> {
        let mut fields = Map::new();
        if !self.reasoning_content.is_empty() {
            fields.insert("reasoning_content".to_owned(), Value::String(self.reasoning_content));
        }
        if !self.reasoning_details.is_empty() {
            fields.insert("reasoning_details".to_owned(), Value::Array(self.reasoning_details));
        }
        fields
    }
}

impl reader::Reply for Reply {
    fn take(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Value> {
        if let Some(model) = text_of(piece, "model") {
            model.clone_into(&mut self.model);
        }
        if let Some(id) = text_of(piece, "id") {
            self.id = Some(id.to_owned());
        }
        // The last one counts: servers that send several keep a running total.
        let usage = piece.get("usage").and_then(usage);
        let usage = usage.or_else(|| piece.pointer("/x_groq/usage").and_then(self::usage));
        self.usage = usage.or(self.usage);
        let Some(choice) = piece.pointer("/choices/0") else {
            self.no_choice |= piece.get("choices").is_some_and(Value::is_array);
            return Ok(());
        };
        self.something = true;
        let message = choice.get("delta").or_else(|| choice.get("message"));
        if let Some(message) = message {
            self.take_message(message, sink);
        }
        if let Some(finish) = text_of(choice, "finish_reason") {
            self.finish = Some(finish.to_owned());
        }
        Ok(())
    }

    fn finished(&self) -> bool {
        self.finish.is_some()
    }

    // The usage comes after the model has finished, and `[DONE]` is the reader's to see.
    fn done(&self) -> bool {
        false
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn into_answer(mut self, server: &Host) -> Result<Answer, Failure> {
        let usage = self.usage;
        let failure = |message: String| Failure {
            usage,
            ..LlmError::new(LlmErrorCode::BadResponse, message).into()
        };
        if !self.something && self.no_choice {
            let message = "answered without a choice: the model said nothing; try again";
            return Err(Failure {
                usage,
                ..LlmError::new(LlmErrorCode::Server, format!("{server} {message}")).into()
            });
        }
        if !self.something {
            return Err(Failure {
                usage,
                ..not_an_answer(server).into()
            });
        }
        if let Some(reason) = self.broke() {
            let message = format!("{server} failed in the middle of its answer ({reason}): try again later");
            return Err(Failure {
                usage,
                ..LlmError::new(LlmErrorCode::Server, message).into()
            });
        }
        self.calls.sort_by_key(|call| call.index);
        let out_of_room = self.finish_reason(&[]) == FinishReason::MaxTokens;
        let calls = std::mem::take(&mut self.calls).into_iter().enumerate();
        let tool_uses: Result<Vec<ToolUse>, String> = calls
            .map(|(place, call)| {
                let used = tool_use(&call.id, &call.name, &call.arguments, place, out_of_room)?;
                let carried = call.extra.map(|extra| json!({"call": {"extra_content": extra}}));
                Ok(ToolUse { carried, ..used })
            })
            .collect();
        let mut tool_uses = tool_uses.map_err(failure)?;
        let thoughts = std::mem::take(&mut self.thoughts).into_fields();
        if let Some(first) = tool_uses.first_mut().filter(|_| !thoughts.is_empty()) {
            first.carried.get_or_insert_with(|| json!({}))["message"] = Value::Object(thoughts);
        }
        let finish_reason = self.finish_reason(&tool_uses);
        let response = LlmResponse {
            text: if self.text.is_empty() { self.refusal } else { self.text },
            tool_uses,
            finish_reason,
            usage: usage.unwrap_or_default(),
            model: self.model,
            request_id: self.id,
        };
        Ok(Answer { response, usage })
    }
}

impl Reply {
    fn take_message(&mut self, message: &Value, sink: &dyn Sink) {
        let reasoning = ["reasoning_content", "reasoning"]
            .iter()
            .find_map(|name| text_of(message, name));
        if let Some(text) = text_of(message, "reasoning_content") {
            self.thoughts.reasoning_content.push_str(text);
        }
        let details = message.get("reasoning_details").and_then(Value::as_array);
        for detail in details.into_iter().flatten() {
            self.thoughts.take_detail(detail);
        }
        if let Some(text) = reasoning {
            sink.delta(Delta::Reasoning { text: text.to_owned() });
        }
        let content = message.get("content").map(content).unwrap_or_default();
        if !content.is_empty() {
            self.text.push_str(&content);
            sink.delta(Delta::Text { text: content });
        }
        if let Some(refusal) = text_of(message, "refusal") {
            self.refusal.push_str(refusal);
            sink.delta(Delta::Text {
                text: refusal.to_owned(),
            });
        }
        let calls = message.get("tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            self.take_call(call, sink);
        }
    }

    fn take_call(&mut self, piece: &Value, sink: &dyn Sink) {
        let index = piece.get("index").and_then(Value::as_u64);
        let id = text_of(piece, "id").unwrap_or_default();
        let call = self.call(index, id);
        if let Some(extra) = piece.get("extra_content").filter(|extra| extra.is_object()) {
            call.extra = Some(extra.clone());
        }
        let function = piece.get("function").unwrap_or(&Value::Null);
        if call.name.is_empty() {
            text_of(function, "name").unwrap_or_default().clone_into(&mut call.name);
        }
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            // Some servers send the object itself.
            Some(other) => other.to_string(),
        };
        if !arguments.is_empty() {
            call.arguments.push_str(&arguments);
            sink.delta(Delta::ToolArguments { text: arguments });
        }
    }

    /// The call that a piece belongs to: by its index, unless another id says that it is a new one
    /// (some servers number all calls 0); without an index by its id, and without both the last one.
    fn call(&mut self, index: Option<u64>, id: &str) -> &mut Call {
        let belongs = |call: &Call| {
            let same_id = id.is_empty() || call.id.is_empty() || call.id == id;
            match index {
                Some(_) => call.index == index && same_id,
                None => id.is_empty() || call.id == id,
            }
        };
        let place = self.calls.iter().rposition(belongs).unwrap_or_else(|| {
            self.calls.push(Call {
                index,
                ..Call::default()
            });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        call
    }

    /// The word of a server that could not go on: OpenRouter, DeepSeek, vLLM.
    fn broke(&self) -> Option<&str> {
        let finish = self.finish.as_deref()?;
        matches!(finish, "error" | "insufficient_system_resource" | "abort").then_some(finish)
    }

    fn finish_reason(&self, tool_uses: &[ToolUse]) -> FinishReason {
        match self.finish.as_deref() {
            Some("length" | "max_tokens") => FinishReason::MaxTokens,
            Some("content_filter") => FinishReason::ContentFilter,
            _ if !self.refusal.is_empty() => FinishReason::Refusal,
            // Some servers say `stop` here.
            _ if !tool_uses.is_empty() => FinishReason::ToolUse,
            // Some never say why, and end as the protocol has it: an answer that broke off does not come here.
            None | Some("stop" | "eos" | "eos_token" | "end_turn" | "tool_calls" | "function_call") => {
                FinishReason::EndTurn
            }
            Some("stop_sequence") => FinishReason::StopSequence,
            Some(_) => FinishReason::Unknown,
        }
    }
}

/// Text, or a list of parts of which some are text.
fn content(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| text_of(part, "text")).collect(),
        _ => String::new(),
    }
}

fn usage(usage: &Value) -> Option<Usage> {
    // No JSON pointers: they are taken apart anew each time.
    let count = |path: &str| {
        let mut names = path.split('/').skip(1);
        names
            .try_fold(usage, |inside, name| inside.get(name))
            .and_then(Value::as_u64)
    };
    let (input, output) = (count("/prompt_tokens"), count("/completion_tokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let (input, mut output) = (input.unwrap_or(0), output.unwrap_or(0));
    let reasoning = count("/completion_tokens_details/reasoning_tokens").unwrap_or(0);
    // Most servers count thoughts as output; where the total shows that they do not, they are added.
    let total = count("/total_tokens").unwrap_or(0);
    if reasoning > 0 && total.checked_sub(input) == output.checked_add(reasoning) {
        output += reasoning;
    }
    let cache_read = count("/prompt_tokens_details/cached_tokens").or_else(|| count("/prompt_cache_hit_tokens"));
    Some(Usage {
        input,
        output,
        cache_read: cache_read.unwrap_or(0),
        cache_write: count("/prompt_tokens_details/cache_write_tokens").unwrap_or(0),
        reasoning,
        estimated: false,
    })
}

/// What a whole answer of a server says.
pub(super) fn answer_of(server: &str, answer: &Value) -> Result<LlmResponse, LlmError> {
    let mut reply = Reply::default();
    // An error inside it is no answer, which is said next.
    let _ = reader::Reply::take(&mut reply, answer, &Unheard);
    let answer = reader::Reply::into_answer(reply, &Host::of_a_person(server)).map_err(|failure| failure.error)?;
    Ok(answer.response)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::reader::Reply as _;
    use crate::testing::Heard;

    fn reply(pieces: &[Value]) -> (Result<Answer, Failure>, Heard) {
        let (mut reply, heard) = (Reply::default(), Heard::default());
        for piece in pieces {
            reply.take(piece, &heard).unwrap();
        }
        (reply.into_answer(&Host::of_a_person("http://host")), heard)
    }

    fn delta(delta: Value) -> Value {
        json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    }

    fn finish(reason: &str) -> Value {
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
    }

    fn calls(pieces: Value) -> Value {
        delta(json!({ "tool_calls": pieces }))
    }

    fn tool_use(id: &str, name: &str, input: Value) -> ToolUse {
        ToolUse {
            id: id.to_owned(),
            name: name.to_owned(),
            input,
            carried: None,
            made_by: None,
        }
    }

    fn check_calls(pieces: &[Value], expected: &[ToolUse]) {
        let answer = reply(pieces).0.unwrap();
        assert_eq!(answer.response.tool_uses, expected);
    }

    fn check_finish(pieces: &[Value], expected: FinishReason) {
        assert_eq!(reply(pieces).0.unwrap().response.finish_reason, expected);
    }

    #[test]
    fn no_choice_is_the_servers_failure_and_worth_another_try() {
        for pieces in [
            vec![json!({"choices": []})],
            vec![json!({"choices": []}), json!({"choices": [], "usage": {}})],
        ] {
            let failure = reply(&pieces).0.unwrap_err();
            assert_eq!(failure.error.code, LlmErrorCode::Server);
            assert!(failure.error.retryable());
        }
        let other = reply(&[json!({"answer": "hi"})]).0.unwrap_err();
        assert_eq!(other.error.code, LlmErrorCode::BadResponse);
    }

    #[test]
    fn puts_parallel_calls_together_by_their_index() {
        let pieces = [
            calls(json!([{"index": 1, "id": "b", "function": {"name": "write", "arguments": ""}}])),
            calls(json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{\"at\""}}])),
            calls(
                json!([{"index": 1, "function": {"arguments": "{\"to\": 2}"}}, {"index": 0, "function": {"arguments": ": 1}"}}]),
            ),
            finish("tool_calls"),
        ];
        let expected = [
            tool_use("a", "look", json!({"at": 1})),
            tool_use("b", "write", json!({"to": 2})),
        ];
        check_calls(&pieces, &expected);
    }

    #[test]
    fn tells_calls_apart_that_a_server_numbers_all_the_same_or_not_at_all() {
        let call =
            |index: Value, id: &str| json!({"index": index, "id": id, "function": {"name": id, "arguments": {"a": 1}}});
        let expected = [tool_use("a", "a", json!({"a": 1})), tool_use("b", "b", json!({"a": 1}))];
        for index in [json!(0), Value::Null] {
            check_calls(
                &[
                    calls(json!([call(index.clone(), "a")])),
                    calls(json!([call(index, "b")])),
                ],
                &expected,
            );
        }
    }

    #[test]
    fn a_call_without_an_id_or_arguments_gets_them() {
        let piece = calls(json!([{"index": 0, "function": {"name": "look"}}]));
        check_calls(&[piece], &[tool_use("call_0", "look", json!({}))]);
    }

    #[test]
    fn arguments_that_are_not_json_are_an_error_that_says_why() {
        let check = |arguments: &str, reason: &str, expected: &str| {
            let piece = calls(json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": arguments}}]));
            let usage = json!({"usage": {"prompt_tokens": 5, "completion_tokens": 2}});
            let failure = reply(&[piece, finish(reason), usage]).0.unwrap_err();
            assert_eq!(failure.error.code, LlmErrorCode::BadResponse);
            assert!(failure.error.message.contains(expected), "{}", failure.error);
            assert_eq!(failure.usage.unwrap().total(), 7);
        };
        let half = "{\"at\": ";
        check(half, "tool_calls", "arguments that are not JSON");
        // Nothing of the arguments is half a call too.
        for arguments in [half, ""] {
            check(arguments, "length", "ran out of room");
            check(arguments, "max_tokens", "ran out of room");
        }
    }

    #[test]
    fn streams_text_thoughts_and_arguments() {
        let pieces = [
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"reasoning_content": "hm", "reasoning": "hm"})),
            delta(json!({"content": [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Hel"}]})),
            delta(json!({"content": "lo"})),
            calls(json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}])),
        ];
        let (answer, heard) = reply(&pieces);
        let text = |text: &str| text.to_owned();
        let expected = [
            Delta::Reasoning { text: text("hm") },
            Delta::Text { text: text("Hel") },
            Delta::Text { text: text("lo") },
            Delta::ToolArguments { text: text("{}") },
        ];
        assert_eq!(heard.deltas(), expected);
        assert_eq!(answer.unwrap().response.text, "Hello");
    }

    #[test]
    fn says_why_the_model_stopped() {
        let words = delta(json!({"content": "x"}));
        let call = calls(json!([{"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}}]));
        check_finish(&[words.clone(), finish("stop")], FinishReason::EndTurn);
        check_finish(&[words.clone(), finish("length")], FinishReason::MaxTokens);
        check_finish(&[words.clone(), finish("content_filter")], FinishReason::ContentFilter);
        check_finish(&[words.clone(), finish("something new")], FinishReason::Unknown);
        check_finish(&[words], FinishReason::EndTurn);
        check_finish(&[call.clone(), finish("tool_calls")], FinishReason::ToolUse);
        check_finish(&[call, finish("stop")], FinishReason::ToolUse);
        check_finish(
            &[delta(json!({"refusal": "No."})), finish("stop")],
            FinishReason::Refusal,
        );
    }

    #[test]
    fn a_server_that_could_not_go_on_is_its_failure_and_no_answer() {
        for reason in ["error", "abort", "insufficient_system_resource"] {
            let usage = json!({"usage": {"prompt_tokens": 5, "completion_tokens": 2}});
            let half = delta(json!({"content": "The answer is that the"}));
            let failure = reply(&[half, finish(reason), usage]).0.unwrap_err();
            assert_eq!(
                (failure.error.code, failure.usage.unwrap().total()),
                (LlmErrorCode::Server, 7)
            );
        }
    }

    #[test]
    fn what_was_thought_before_a_call_goes_along_with_it() {
        let detail = |more: Value| delta(json!({"reasoning_details": [more]}));
        let call = json!({"index": 0, "id": "a", "function": {"name": "look", "arguments": "{}"}, "extra_content": {"google": {"thought_signature": "c2ln"}}});
        let pieces = [
            delta(json!({"reasoning_content": "I "})),
            delta(json!({"reasoning_content": "look."})),
            detail(json!({"type": "reasoning.text", "text": "I ", "index": 0})),
            detail(json!({"type": "reasoning.text", "text": "look.", "signature": "c2ln", "index": 0})),
            detail(json!({"type": "reasoning.encrypted", "data": "b3BhcXVl", "index": 1})),
            calls(json!([call])),
            finish("tool_calls"),
        ];
        let carried = reply(&pieces).0.unwrap().response.tool_uses[0].carried.clone();
        let expected = json!({
            "message": {"reasoning_content": "I look.", "reasoning_details": [
                {"type": "reasoning.text", "text": "I look.", "signature": "c2ln", "index": 0},
                {"type": "reasoning.encrypted", "data": "b3BhcXVl", "index": 1},
            ]},
            "call": {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        });
        assert_eq!(carried, Some(expected));
    }

    #[test]
    fn counts_every_token_once() {
        let check = |usage: Value, expected: Usage| assert_eq!(self::usage(&usage), Some(expected));
        let details = |reasoning: u64, total: u64| {
            json!({
                "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total,
                "prompt_tokens_details": {"cached_tokens": 64},
                "completion_tokens_details": {"reasoning_tokens": reasoning},
            })
        };
        let counted = |output| Usage {
            input: 100,
            output,
            cache_read: 64,
            cache_write: 0,
            reasoning: 12,
            estimated: false,
        };
        check(details(12, 120), counted(20));
        // A server that counts thoughts beside the output.
        check(details(12, 132), counted(32));
        assert_eq!(usage(&json!({})), None);
        assert_eq!(usage(&Value::Null), None);
    }

    #[test]
    fn no_usage_is_not_a_usage_of_nothing() {
        let answer = reply(&[delta(json!({"content": "x"}))]).0.unwrap();
        assert_eq!((answer.usage, answer.response.usage), (None, Usage::default()));
    }

    #[test]
    fn an_answer_without_any_choice_is_none() {
        let failure = reply(&[json!({"hello": "world"})]).0.unwrap_err();
        assert_eq!(failure.error.code, LlmErrorCode::BadResponse);
    }
}
