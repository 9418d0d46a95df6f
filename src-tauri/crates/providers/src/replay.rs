//! Plays a recording in the place of a model: no network, no key, the same answers every time.
//!
//! A request that the recording does not know is an error and never a guess.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::llm::{
    AttemptStatus, Delta, LlmAttempt, LlmError, LlmErrorCode, LlmRequest, LlmResponse, ModelInfo, Usage,
};
use contract::ports::clock::Clock;
use contract::ports::provider::{LlmProvider, Sink};

use crate::recording::{RecordedCall, Recording};

/// The name before the colon in `replay:model`.
pub const NAME: &str = "replay";
/// How many characters arrive at once.
const PIECE: usize = 12;
/// How long an answer takes when the recording does not say.
const USUAL_DURATION_MS: u64 = 600;

/// How fast the answers come.
#[derive(Clone)]
pub enum Pace {
    /// At once: for tests and runs without a window.
    Instant,
    /// As fast as they came when they were recorded, so that the window shows typing.
    Natural(Arc<dyn Clock>),
}

/// A provider that answers from a recording.
pub struct Replay {
    recording: Recording,
    pace: Pace,
}

impl Replay {
    /// Plays this recording.
    pub fn new(recording: Recording, pace: Pace) -> Self {
        Self { recording, pace }
    }

    async fn play(&self, call: &RecordedCall, sink: &dyn Sink) -> u64 {
        let deltas = call.deltas.clone().unwrap_or_else(|| pieces(&call.response));
        let Pace::Natural(clock) = &self.pace else {
            deltas.into_iter().for_each(|delta| sink.delta(delta));
            return 0;
        };
        let started = clock.now_ms();
        let duration = Duration::from_millis(call.duration_ms.unwrap_or(USUAL_DURATION_MS));
        let count = u32::try_from(deltas.len()).unwrap_or(u32::MAX).max(1);
        for delta in deltas {
            clock.sleep(duration / count).await;
            sink.delta(delta);
        }
        u64::try_from(clock.now_ms() - started).unwrap_or(0)
    }
}

#[async_trait]
impl LlmProvider for Replay {
    fn name(&self) -> &str {
        NAME
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        let Some(call) = self.recording.find(&request) else {
            let error = not_recorded(&self.recording, &request);
            sink.attempt(attempt(0, Err(&error)));
            return Err(error);
        };
        let duration_ms = self.play(call, sink).await;
        sink.attempt(attempt(duration_ms, Ok(call.response.usage)));
        Ok(call.response.clone())
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        let mut ids: Vec<&String> = self.recording.calls.iter().map(|call| &call.response.model).collect();
        ids.sort_unstable();
        ids.dedup();
        let model = |id: &String| ModelInfo {
            id: id.clone(),
            description: Some(format!("recorded: {}", self.recording.label)),
            ..ModelInfo::default()
        };
        Ok(ids.into_iter().map(model).collect())
    }
}

fn not_recorded(recording: &Recording, request: &LlmRequest) -> LlmError {
    let message = format!(
        "the recording \"{}\" has no answer to \"{}\": it only knows the task it was made with; choose a model to run this one",
        recording.label, request.key
    );
    LlmError::new(LlmErrorCode::NotRecorded, message)
}

fn attempt(duration_ms: u64, outcome: Result<Usage, &LlmError>) -> LlmAttempt {
    LlmAttempt {
        status: match outcome {
            Ok(_) => AttemptStatus::Success,
            Err(_) => AttemptStatus::Error,
        },
        duration_ms,
        usage: outcome.ok(),
        error: outcome.err().cloned(),
        ..LlmAttempt::default()
    }
}

fn pieces(response: &LlmResponse) -> Vec<Delta> {
    let text = cut(&response.text).map(|text| Delta::Text { text });
    let arguments = response.tool_uses.iter().map(|tool_use| tool_use.input.to_string());
    let arguments: Vec<Delta> = arguments
        .flat_map(|json| cut(&json).collect::<Vec<_>>())
        .map(|text| Delta::ToolArguments { text })
        .collect();
    text.chain(arguments).collect()
}

fn cut(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(PIECE).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}

#[cfg(test)]
mod tests {
    use contract::Key;
    use serde_json::json;

    use super::*;
    use crate::testing::{Heard, Jumping};

    fn replay(pace: Pace) -> Replay {
        let recording = json!({ "version": 1, "label": "the sample", "calls": [{
            "key": "cycle/1/planner", "durationMs": 900, "response": {
                "text": "Ä plan of three steps, in words.", "finishReason": "tool_use", "model": "m",
                "toolUses": [{"id": "call_1", "name": "file_read", "input": {"path": "a.csv"}}],
                "usage": {"input": 30, "output": 20, "cacheRead": 5},
            },
        }] });
        Replay::new(Recording::from_json(&recording.to_string()).unwrap(), pace)
    }

    fn request(key: &str) -> LlmRequest {
        LlmRequest {
            key: Key::new(key),
            model: "m".to_owned(),
            messages: Vec::new(),
            ..LlmRequest::default()
        }
    }

    #[tokio::test]
    async fn streams_the_recorded_answer_in_small_pieces() {
        let heard = Heard::default();
        let response = replay(Pace::Instant)
            .complete(request("cycle/1/planner"), &heard)
            .await
            .unwrap();
        let deltas = heard.deltas();
        let (mut text, mut arguments) = (String::new(), String::new());
        for delta in &deltas {
            match delta {
                Delta::Text { text: piece } => text.push_str(piece),
                Delta::ToolArguments { text: piece } => arguments.push_str(piece),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((text, arguments), (response.text, r#"{"path":"a.csv"}"#.to_owned()));
        assert_eq!(deltas.len(), 5);
    }

    #[tokio::test]
    async fn reports_one_attempt_with_the_recorded_usage() {
        let heard = Heard::default();
        replay(Pace::Instant)
            .complete(request("cycle/1/planner"), &heard)
            .await
            .unwrap();
        let usage = Usage {
            input: 30,
            output: 20,
            cache_read: 5,
            ..Usage::default()
        };
        assert_eq!(heard.attempts(), [attempt(0, Ok(usage))]);
    }

    #[tokio::test]
    async fn takes_as_long_as_it_took_when_asked_to() {
        let (heard, clock) = (Heard::default(), Arc::new(Jumping::default()));
        let replay = replay(Pace::Natural(clock.clone()));
        replay.complete(request("cycle/1/planner"), &heard).await.unwrap();
        assert_eq!(clock.now_ms(), 900);
        assert_eq!(heard.attempts()[0].duration_ms, 900);
    }

    #[tokio::test]
    async fn a_request_that_was_not_recorded_is_an_error_that_names_the_leaf() {
        let heard = Heard::default();
        let error = replay(Pace::Instant)
            .complete(request("cycle/9/planner"), &heard)
            .await
            .unwrap_err();
        assert_eq!(error.code, LlmErrorCode::NotRecorded);
        assert!(error.message.contains(r#"no answer to "cycle/9/planner""#), "{error}");
        assert_eq!(heard.attempts(), [attempt(0, Err(&error))]);
        assert!(heard.deltas().is_empty());
    }

    #[tokio::test]
    async fn lists_the_recorded_models() {
        let models = replay(Pace::Instant).models().await.unwrap();
        assert_eq!(models.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["m"]);
    }
}
