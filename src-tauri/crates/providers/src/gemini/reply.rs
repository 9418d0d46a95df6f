//! An answer of `streamGenerateContent`: each event is a whole small answer, and their parts follow each other.

use contract::llm::{Delta, FinishReason, LlmError, LlmErrorCode, LlmResponse, ToolUse, Usage};
use contract::ports::provider::Sink;
use serde_json::{Map, Value};

use crate::endpoint::Host;
use crate::pieces::{OUR_CALL, half_a_call, not_an_answer, say, text_of};
use crate::reader;
use crate::retry::{Answer, Failure};

/// What has arrived so far.
#[derive(Debug, Default)]
pub(super) struct Reply {
    text: String,
    calls: Vec<ToolUse>,
    finish: Option<String>,
    message: Option<String>,
    /// Why the request itself was not answered.
    blocked: Option<String>,
    usage: Option<Usage>,
    model: String,
    id: Option<String>,
}

impl reader::Reply for Reply {
    fn take(&mut self, piece: &Value, sink: &dyn Sink) -> Result<(), Value> {
        if let Some(model) = text_of(piece, "modelVersion") {
            model.clone_into(&mut self.model);
        }
        if let Some(id) = text_of(piece, "responseId") {
            self.id = Some(id.to_owned());
        }
        // A running total.
        self.usage = piece.get("usageMetadata").and_then(usage).or(self.usage);
        let blocked = piece.pointer("/promptFeedback/blockReason").and_then(Value::as_str);
        self.blocked = blocked.map(ToOwned::to_owned).or(self.blocked.take());
        let Some(candidate) = piece.pointer("/candidates/0") else {
            return Ok(());
        };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            self.take_part(part, sink);
        }
        if let Some(finish) = text_of(candidate, "finishReason") {
            self.finish = Some(finish.to_owned());
            self.message = text_of(candidate, "finishMessage").map(ToOwned::to_owned);
        }
        Ok(())
    }

    fn finished(&self) -> bool {
        self.finish.is_some() || self.blocked.is_some()
    }

    // The end of the stream is the end.
    fn done(&self) -> bool {
        false
    }

    fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn into_answer(self, server: &Host) -> Result<Answer, Failure> {
        let usage = self.usage;
        let failure = |error: LlmError| Failure { usage, ..error.into() };
        if !self.finished() {
            return Err(failure(not_an_answer(server)));
        }
        if let Some(words) = self.garbled() {
            return Err(failure(LlmError::new(LlmErrorCode::BadResponse, words)));
        }
        let finish_reason = self.finish_reason();
        let no_arguments = |call: &&ToolUse| call.input.as_object().is_some_and(Map::is_empty);
        if finish_reason == FinishReason::MaxTokens
            && let Some(half) = self.calls.iter().find(no_arguments)
        {
            return Err(failure(LlmError::new(
                LlmErrorCode::BadResponse,
                half_a_call(&half.name),
            )));
        }
        let response = LlmResponse {
            text: self.text,
            tool_uses: self.calls,
            finish_reason,
            usage: usage.unwrap_or_default(),
            model: self.model,
            request_id: self.id,
        };
        Ok(Answer { response, usage })
    }
}

impl Reply {
    fn take_part(&mut self, part: &Value, sink: &dyn Sink) {
        if let Some(text) = text_of(part, "text") {
            let text = text.to_owned();
            if part.get("thought") == Some(&Value::Bool(true)) {
                return say(sink, Delta::Reasoning { text });
            }
            self.text.push_str(&text);
            say(sink, Delta::Text { text });
        }
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            let input = match call.get("args") {
                Some(Value::Object(args)) => args.clone(),
                _ => Map::new(),
            };
            let input = Value::Object(input);
            say(
                sink,
                Delta::ToolArguments {
                    text: input.to_string(),
                },
            );
            let ours = || format!("{OUR_CALL}{}", self.calls.len());
            self.calls.push(ToolUse {
                id: text_of(call, "id").map_or_else(ours, ToOwned::to_owned),
                name: text_of(call, "name").unwrap_or_default().to_owned(),
                input,
                carried: part
                    .get("thoughtSignature")
                    .filter(|signature| signature.is_string())
                    .cloned(),
                made_by: None,
            });
        }
    }

    /// What is wrong with the model's calls, in words.
    fn garbled(&self) -> Option<String> {
        const GARBLED: &[&str] = &[
            "MALFORMED_FUNCTION_CALL",
            "UNEXPECTED_TOOL_CALL",
            "TOO_MANY_TOOL_CALLS",
            "MISSING_THOUGHT_SIGNATURE",
            "MALFORMED_RESPONSE",
        ];
        let finish = self.finish.as_deref()?;
        let nameless = self.calls.iter().any(|call| call.name.is_empty());
        if !nameless && !GARBLED.contains(&finish) {
            return None;
        }
        let said = self
            .message
            .as_deref()
            .map(|message| format!(", saying \"{message}\""))
            .unwrap_or_default();
        Some(format!(
            "the model called a tool in a way that cannot be read ({finish}{said}): try again, or choose another model"
        ))
    }

    fn finish_reason(&self) -> FinishReason {
        match self.finish.as_deref() {
            None => FinishReason::ContentFilter,
            Some("MAX_TOKENS" | "CONTINUATION") => FinishReason::MaxTokens,
            Some(
                "SAFETY"
                | "RECITATION"
                | "LANGUAGE"
                | "BLOCKLIST"
                | "PROHIBITED_CONTENT"
                | "SPII"
                | "ESCALATION"
                | "MODEL_ARMOR"
                | "PUP_LIMITED_DISABLED",
            ) => FinishReason::ContentFilter,
            Some("STOP") if self.calls.is_empty() => FinishReason::EndTurn,
            Some("STOP") => FinishReason::ToolUse,
            // Something else went wrong, and the answer is not whole.
            Some(_) => FinishReason::Unknown,
        }
    }
}

/// What the cache gave is inside the prompt; thoughts, and what tools at the provider read, are counted beside the rest.
fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage.get(name).and_then(Value::as_u64);
    let prompt = count("promptTokenCount");
    let total = count("totalTokenCount");
    if prompt.is_none() && total.is_none() {
        return None;
    }
    let number = |name: &str| count(name).unwrap_or(0);
    let thoughts = number("thoughtsTokenCount");
    Some(Usage {
        input: prompt.unwrap_or(0).saturating_add(number("toolUsePromptTokenCount")),
        output: number("candidatesTokenCount").saturating_add(thoughts),
        cache_read: number("cachedContentTokenCount"),
        cache_write: 0,
        reasoning: thoughts,
        estimated: false,
    })
}
