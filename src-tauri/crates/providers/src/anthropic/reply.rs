//! An answer of the Messages API, put together from its events as the vendor's own client does.

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
    /// The tool whose arguments are the answer's text.
    shape: Option<String>,
    blocks: BTreeMap<u64, Block>,
    counts: Option<Counts>,
    stop: Option<String>,
    explanation: Option<String>,
    model: String,
    id: Option<String>,
    done: bool,
}

#[derive(Debug)]
enum Block {
    Text(String),
    Tool {
        id: String,
        name: String,
        arguments: String,
    },
    /// As it goes back with the tool call that it led to, and its words.
    Thought {
        block: Value,
        words: String,
    },
}

/// The last number of each kind counts: they are running totals, and one that is not repeated stays.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    thinking: u64,
}

impl Reply {
    /// An answer of which nothing has arrived; the arguments of the tool `shape` are its text.
    pub(super) fn to(shape: Option<String>) -> Self {
        Self {
            shape,
            ..Self::default()
        }
    }

    fn start(&mut self, message: &Value) {
        text_of(message, "model")
            .unwrap_or_default()
            .clone_into(&mut self.model);
        self.id = text_of(message, "id").map(ToOwned::to_owned);
        self.count(message.get("usage"));
        // All at once, from something in between that does not stream.
        let content = message.get("content").and_then(Value::as_array);
        for (index, block) in (0..).zip(content.into_iter().flatten()) {
            self.open(index, block);
        }
        self.stop(message);
    }

    fn open(&mut self, index: u64, block: &Value) {
        let text = |name: &str| text_of(block, name).unwrap_or_default().to_owned();
        let opened = match text_of(block, "type") {
            Some("text") => Block::Text(text("text")),
            Some("tool_use") => Block::Tool {
                id: text("id"),
                name: text("name"),
                // Empty at first where it streams.
                arguments: match block.get("input") {
                    Some(Value::Object(input)) if !input.is_empty() => Value::Object(input.clone()).to_string(),
                    _ => String::new(),
                },
            },
            Some("thinking" | "redacted_thinking") => Block::Thought {
                block: block.clone(),
                words: text("thinking"),
            },
            // Blocks of tools that run at the provider, which nobody asked for.
            _ => return,
        };
        self.blocks.insert(index, opened);
    }

    fn grow(&mut self, index: u64, delta: &Value, sink: &dyn Sink) {
        let Some(block) = self.blocks.get_mut(&index) else {
            return;
        };
        let piece = |name: &str| text_of(delta, name).unwrap_or_default().to_owned();
        match (block, text_of(delta, "type")) {
            (Block::Text(text), Some("text_delta")) => {
                let piece = piece("text");
                text.push_str(&piece);
                say(sink, Delta::Text { text: piece });
            }
            (Block::Tool { name, arguments, .. }, Some("input_json_delta")) => {
                let piece = piece("partial_json");
                arguments.push_str(&piece);
                say(
                    sink,
                    match self.shape.as_ref() == Some(name) {
                        true => Delta::Text { text: piece },
                        false => Delta::ToolArguments { text: piece },
                    },
                );
            }
            (Block::Thought { words, .. }, Some("thinking_delta")) => {
                let piece = piece("thinking");
                words.push_str(&piece);
                say(sink, Delta::Reasoning { text: piece });
            }
            (Block::Thought { block, .. }, Some("signature_delta")) => block["signature"] = json!(piece("signature")),
            _ => {}
        }
    }

    fn stop(&mut self, delta: &Value) {
        if let Some(stop) = text_of(delta, "stop_reason") {
            self.stop = Some(stop.to_owned());
        }
        let explanation = delta.pointer("/stop_details/explanation").and_then(Value::as_str);
        self.explanation = explanation.map(ToOwned::to_owned).or(self.explanation.take());
    }

    fn count(&mut self, usage: Option<&Value>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else {
            return;
        };
        let counts = self.counts.get_or_insert_default();
        let places = [
            ("/input_tokens", &mut counts.input),
            ("/output_tokens", &mut counts.output),
            ("/cache_read_input_tokens", &mut counts.cache_read),
            ("/cache_creation_input_tokens", &mut counts.cache_write),
            ("/output_tokens_details/thinking_tokens", &mut counts.thinking),
        ];
        for (path, count) in places {
            if let Some(total) = usage.pointer(path).and_then(Value::as_u64) {
                *count = total;
            }
        }
    }

    fn finish_reason(&self, tool_uses: &[ToolUse]) -> FinishReason {
        match self.stop.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded") => FinishReason::MaxTokens,
            Some("stop_sequence") => FinishReason::StopSequence,
            Some("refusal") => FinishReason::Refusal,
            // A call of the tool that is the shape is the end of the answer.
            Some("end_turn" | "tool_use") if tool_uses.is_empty() => FinishReason::EndTurn,
            Some("end_turn" | "tool_use") => FinishReason::ToolUse,
            // `pause_turn`, and what is added later: the answer is not whole.
            _ => FinishReason::Unknown,
        }
    }
}

impl reader::Reply for Reply {
    fn take(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Value> {
        let index = piece.get("index").and_then(Value::as_u64).unwrap_or(0);
        let part = |name: &str| piece.get(name).unwrap_or(&Value::Null);
        match text_of(piece, "type") {
            Some("message_start") => self.start(part("message")),
            Some("content_block_start") => self.open(index, part("content_block")),
            Some("content_block_delta") => self.grow(index, part("delta"), sink),
            Some("message_delta") => {
                self.stop(part("delta"));
                self.count(piece.get("usage"));
            }
            Some("message_stop") => self.done = true,
            Some("message") => self.start(piece),
            // `ping`, `content_block_stop`, and what is added later.
            _ => {}
        }
        Ok(())
    }

    fn finished(&self) -> bool {
        self.stop.is_some()
    }

    fn done(&self) -> bool {
        self.done
    }

    fn usage(&self) -> Option<Usage> {
        self.counts.map(|counts| Usage {
            // The provider counts what the cache had and got beside the rest of the input.
            input: counts
                .input
                .saturating_add(counts.cache_read)
                .saturating_add(counts.cache_write),
            output: counts.output,
            cache_read: counts.cache_read,
            cache_write: counts.cache_write,
            reasoning: counts.thinking,
            estimated: false,
        })
    }

    fn into_answer(mut self, server: &Host) -> Result<Answer, Failure> {
        let usage = self.usage();
        let failure = |error: LlmError| Failure { usage, ..error.into() };
        if self.stop.is_none() {
            return Err(failure(not_an_answer(server)));
        }
        let out_of_room = self.finish_reason(&[]) == FinishReason::MaxTokens;
        let (mut text, mut turn) = (String::new(), Turn::default());
        for (place, block) in std::mem::take(&mut self.blocks).into_values().enumerate() {
            match block {
                Block::Text(words) => {
                    text.push_str(&words);
                    if !words.trim().is_empty() {
                        turn.said(json!({"type": "text", "text": words}), false);
                    }
                }
                Block::Thought { mut block, words } => {
                    if block.get("thinking").is_some() {
                        block["thinking"] = json!(words);
                    }
                    turn.thought(block);
                }
                Block::Tool { name, arguments, .. } if self.shape.as_ref() == Some(&name) => text.push_str(&arguments),
                Block::Tool { id, name, arguments } => {
                    let called = tool_use(&id, &name, &arguments, place, out_of_room);
                    let called = called.map_err(|words| failure(LlmError::new(LlmErrorCode::BadResponse, words)))?;
                    turn.called(called);
                }
            }
        }
        let tool_uses = turn.into_calls();
        let finish_reason = self.finish_reason(&tool_uses);
        if text.is_empty() && finish_reason == FinishReason::Refusal {
            text = self.explanation.take().unwrap_or_default();
        }
        let response = LlmResponse {
            text,
            tool_uses,
            finish_reason,
            usage: usage.unwrap_or_default(),
            model: self.model,
            request_id: self.id,
        };
        Ok(Answer { response, usage })
    }
}
