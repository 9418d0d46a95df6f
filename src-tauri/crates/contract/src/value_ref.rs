//! A value in the journal: small ones stand in the event, large ones are artifacts named by hash.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::hash::{Hash, NotCanonical, canonical};

/// Values whose canonical JSON is at most this long, in bytes, stand in the event itself.
pub const INLINE_LIMIT: usize = 1024;
/// How much of a large value's text the event shows, in characters.
pub const EXCERPT_LIMIT: usize = 200;

/// A value by its content address, with the value itself when it is small.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ValueRef {
    /// The address of the whole value's canonical JSON.
    pub hash: Hash,
    /// The length of that JSON in bytes.
    pub bytes: u64,
    /// The value, when it is small; otherwise it is an artifact under `hash`.
    pub inline: Option<Value>,
    /// The beginning of a large value, to show; empty for what is said to a model and what it answers, of which the
    /// beginning says nothing.
    pub excerpt: Option<String>,
}

impl<'de> Deserialize<'de> for ValueRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Written {
            hash: Hash,
            bytes: u64,
            inline: Option<Value>,
            excerpt: Option<String>,
        }
        let written = Written::deserialize(deserializer)?;
        // A null that stands in the event reads like a value that does not; only large ones have an excerpt.
        let is_null = written.excerpt.is_none() && written.bytes == NULL_BYTES;
        Ok(Self {
            hash: written.hash,
            bytes: written.bytes,
            inline: written.inline.or(is_null.then_some(Value::Null)),
            excerpt: written.excerpt,
        })
    }
}

/// The length of `null`.
const NULL_BYTES: u64 = 4;

/// Every kind of artifact that this version makes or has made, with `imported` for those of later ones. The kernel page
/// names the adapters' and the reserved ones; the others are the app's own.
pub const ARTIFACT_KINDS: [&str; 12] = [
    "emitted",
    "file-after",
    "file-before",
    "imported",
    "llm-input",
    "llm-output",
    "overlay",
    "resume-data",
    "step-commands",
    "step-output",
    "tool-input",
    "tool-output",
];

/// Whether artifacts of this kind are what is said to a model, or its answer.
fn is_talk(kind: &str) -> bool {
    matches!(kind, "llm-input" | "llm-output")
}

/// The kind of this name; `imported` when this version has none such.
pub fn artifact_kind(name: &str) -> &'static str {
    let known = ARTIFACT_KINDS.into_iter().find(|kind| *kind == name);
    known.unwrap_or("imported")
}

/// Bytes to keep under their address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// `Hash::of_bytes(&bytes)`.
    pub hash: Hash,
    /// What they are, such as `tool-output` or `file-before`.
    pub kind: &'static str,
    /// The content. Shared: whoever wants it written keeps it until it is.
    pub bytes: Arc<Vec<u8>>,
}

impl Artifact {
    /// Bytes of this kind under their own address.
    pub fn new(kind: &'static str, bytes: Vec<u8>) -> Self {
        Self {
            hash: Hash::of_bytes(&bytes),
            kind,
            bytes: Arc::new(bytes),
        }
    }
}

impl ValueRef {
    /// Names a value; the artifact is there when the value is too large to stand in the event.
    pub fn of(kind: &'static str, value: &Value) -> Result<(Self, Option<Artifact>), NotCanonical> {
        let text = canonical(value)?;
        let hash = Hash::of_bytes(text.as_bytes());
        let bytes = text.len() as u64;
        if text.len() <= INLINE_LIMIT {
            return Ok((
                Self {
                    hash,
                    bytes,
                    inline: Some(value.clone()),
                    excerpt: None,
                },
                None,
            ));
        }
        let shown = match value {
            Value::String(plain) => plain.as_str(),
            _ => text.as_str(),
        };
        let shown = if is_talk(kind) { "" } else { shown };
        let excerpt = Some(shown.chars().take(EXCERPT_LIMIT).collect());
        let artifact = Artifact {
            hash: hash.clone(),
            kind,
            bytes: Arc::new(text.into_bytes()),
        };
        Ok((
            Self {
                hash,
                bytes,
                inline: None,
                excerpt,
            },
            Some(artifact),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_value_shows_its_beginning_and_talk_with_a_model_does_not() {
        let excerpt = |kind| {
            let (named, artifact) = ValueRef::of(kind, &Value::from("ż".repeat(1_000))).unwrap();
            assert!(named.inline.is_none() && artifact.is_some());
            named.excerpt
        };
        assert_eq!(excerpt("tool-output"), Some("ż".repeat(EXCERPT_LIMIT)));
        assert_eq!(excerpt("llm-output"), Some(String::new()));
    }

    #[test]
    fn a_null_comes_back_from_the_journal_as_a_null() {
        for value in [Value::Null, Value::Bool(true), Value::from("x".repeat(INLINE_LIMIT))] {
            let (named, _) = ValueRef::of("tool-output", &value).unwrap();
            let written = serde_json::to_string(&named).unwrap();
            assert_eq!(serde_json::from_str::<ValueRef>(&written).unwrap(), named);
        }
    }

    #[test]
    fn every_kind_is_found_by_its_name() {
        for kind in ARTIFACT_KINDS {
            assert_eq!(artifact_kind(kind), kind);
        }
        assert_eq!(artifact_kind("of-tomorrow"), "imported");
    }
}
