//! A recording: the answers of a run, kept so that the run can be shown again without a model.
//!
//! The sample that ships with the app is one, and any run in history can be written as one. Playing
//! it is [`crate::replay`]'s part; making one from a journal is the app's.

use std::collections::HashSet;

use contract::hash::NotCanonical;
use contract::llm::{Delta, LlmRequest, LlmResponse};
use contract::{Hash, Key};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The only version there is so far.
pub const VERSION: u32 = 1;

/// Answers by request and by leaf.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Recording {
    /// [`VERSION`].
    pub version: u32,
    /// What the recording is, for people; shown wherever its answers are.
    pub label: String,
    /// Where it comes from: the model and the day, or that it was written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The task that was run, so that the recording can be played by itself; absent in a recording of a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Value>,
    /// The answers, in the order in which they were given.
    pub calls: Vec<RecordedCall>,
}

/// One answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordedCall {
    /// The leaf that asked; it answers where no request has the same content.
    pub key: Key,
    /// [`request_hash`] of the request; absent in a recording written by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_hash: Option<Hash>,
    /// What the call was for, for people who read the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// How long the answer took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// The answer.
    pub response: LlmResponse,
    /// The pieces in which it arrived; the answer is cut into small ones when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deltas: Option<Vec<Delta>>,
}

/// Why a text is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// It is not JSON, or some part has another shape.
    #[error("the recording cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
    /// A later app wrote it.
    #[error("the recording has version {0}, and this app reads version {VERSION}: update the app to play it")]
    Version(u32),
    /// Two answers claim the same leaf.
    #[error("the recording answers \"{0}\" twice: keep one of the two")]
    AnsweredTwice(Key),
}

/// What is read before everything else, so that a later version is named as such.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Recording {
    /// Reads a recording from its JSON.
    pub fn from_json(text: &str) -> Result<Self, RecordingError> {
        let Versioned { version } = serde_json::from_str(text)?;
        if version != VERSION {
            return Err(RecordingError::Version(version));
        }
        let recording: Self = serde_json::from_str(text)?;
        let mut seen = HashSet::new();
        match recording.calls.iter().find(|call| !seen.insert(&call.key)) {
            Some(call) => Err(RecordingError::AnsweredTwice(call.key.clone())),
            None => Ok(recording),
        }
    }

    /// The answer to a request: by its content, else by the leaf that asks.
    ///
    /// Where several answers were given to the same content, the one of the same leaf counts.
    pub fn find(&self, request: &LlmRequest) -> Option<&RecordedCall> {
        let same_leaf = |call: &&RecordedCall| call.key == request.key;
        let hash = request_hash(request).ok();
        let same_content = |call: &&RecordedCall| hash.is_some() && call.request_hash == hash;
        let calls = || self.calls.iter();
        calls()
            .filter(same_content)
            .find(same_leaf)
            .or_else(|| calls().find(same_content))
            .or_else(|| calls().find(same_leaf))
    }
}

/// The content address of a request: everything but the leaf that asks.
pub fn request_hash(request: &LlmRequest) -> Result<Hash, NotCanonical> {
    // A request is plain data with text keys, so it always has a JSON form.
    Hash::of_value(&serde_json::to_value(request).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use contract::llm::Message;
    use serde_json::json;

    use super::*;

    fn call(key: &str, text: &str) -> Value {
        json!({ "key": key, "response": {
            "text": text, "toolUses": [], "finishReason": "end_turn", "usage": {"input": 3, "output": 2}, "model": "m",
        } })
    }

    fn recording(calls: Vec<Value>) -> Recording {
        let text = json!({ "version": 1, "label": "test", "calls": calls }).to_string();
        Recording::from_json(&text).unwrap()
    }

    fn request(key: &str, words: &str) -> LlmRequest {
        LlmRequest {
            key: Key::new(key),
            model: "m".to_owned(),
            messages: vec![Message::user(words)],
            temperature: Some(0.2),
            ..LlmRequest::default()
        }
    }

    fn answer<'a>(recording: &'a Recording, request: &LlmRequest) -> Option<&'a str> {
        recording.find(request).map(|call| call.response.text.as_str())
    }

    fn check_error(text: &str, expected: &str) {
        let error = Recording::from_json(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn answers_by_the_leaf() {
        let recording = recording(vec![call("a", "first"), call("b", "second")]);
        assert_eq!(answer(&recording, &request("b", "anything")), Some("second"));
        assert_eq!(answer(&recording, &request("c", "anything")), None);
    }

    #[test]
    fn answers_by_content_before_the_leaf() {
        let mut hashed = call("elsewhere", "by content");
        hashed["requestHash"] = json!(request_hash(&request("x", "hello")).unwrap());
        let recording = recording(vec![call("a", "by leaf"), hashed]);
        assert_eq!(answer(&recording, &request("a", "hello")), Some("by content"));
        assert_eq!(answer(&recording, &request("a", "bye")), Some("by leaf"));
    }

    #[test]
    fn of_equal_contents_the_same_leaf_answers() {
        let calls = ["a", "b"].map(|key| {
            let mut call = call(key, key);
            call["requestHash"] = json!(request_hash(&request("x", "hello")).unwrap());
            call
        });
        let recording = recording(calls.to_vec());
        assert_eq!(answer(&recording, &request("b", "hello")), Some("b"));
        assert_eq!(answer(&recording, &request("z", "hello")), Some("a"));
    }

    #[test]
    fn the_address_of_a_request_does_not_depend_on_who_asks() {
        let hash = |key, words| request_hash(&request(key, words)).unwrap();
        assert_eq!(hash("a", "hello"), hash("b", "hello"));
        assert_ne!(hash("a", "hello"), hash("a", "bye"));
    }

    #[test]
    fn survives_being_written_and_read() {
        let recording = recording(vec![call("a", "first")]);
        let text = serde_json::to_string(&recording).unwrap();
        assert_eq!(Recording::from_json(&text).unwrap(), recording);
    }

    #[test]
    fn says_what_is_wrong_with_a_text() {
        check_error("nonsense", "the recording cannot be read: expected");
        check_error(
            r#"{"version": 2, "runs": []}"#,
            "the recording has version 2, and this app reads version 1",
        );
        check_error(
            r#"{"version": 1, "label": "x"}"#,
            "the recording cannot be read: missing field `calls` at line 1",
        );
        let twice = json!({ "version": 1, "label": "x", "calls": [call("a", "1"), call("a", "2")] });
        check_error(&twice.to_string(), r#"the recording answers "a" twice"#);
    }
}
