//! JSON in few bytes, for the journal: names that every entry repeats are numbers, and a content address is its 32
//! bytes. What is packed comes back as it was: the order of keys, every number, every null.
//!
//! The words are part of the format. The list only grows, and only at its end.

mod writer;

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Number, Value};

pub use writer::pack;

/// The first byte. JSON text never begins with it.
const FORMAT: u8 = 1;
/// How deep values may be nested on the way in. JSON is read to 128 levels at most, and entries put a few around it.
pub const DEPTH_LIMIT: usize = 256;
/// The same on the way out: values were once let in that were deeper.
const READ_LIMIT: usize = 600;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const POSITIVE: u8 = 3;
const NEGATIVE: u8 = 4;
const FLOAT: u8 = 5;
const TEXT: u8 = 6;
const ADDRESS: u8 = 7;
const ARRAY: u8 = 8;
const OBJECT: u8 = 9;
const WORD: u8 = 10;
/// From here on the byte is the number, from 0 to 63.
const SMALL: u8 = 0x40;
/// From here on the byte is one of the first 128 words.
const EARLY_WORD: u8 = 0x80;

/// Why bytes or a value cannot be packed or unpacked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PackError {
    /// A program would have to follow it too far down.
    #[error("the value is nested more than {DEPTH_LIMIT} levels deep")]
    TooDeep,
    /// The bytes end too early, or go on, or say something that has no meaning.
    #[error("the packed value is damaged")]
    Damaged,
    /// JSON has no words for it.
    #[error("the value cannot be written as JSON")]
    Unwritable,
}

/// Whether these bytes are a packed value, and not JSON text.
pub fn is_packed(bytes: &[u8]) -> bool {
    bytes.first() == Some(&FORMAT)
}

/// The value that was packed.
///
/// # Errors
/// `Damaged`, or `TooDeep` for bytes that [`pack`] never wrote.
pub fn unpack(bytes: &[u8]) -> Result<Value, PackError> {
    let Some((&FORMAT, rest)) = bytes.split_first() else {
        return Err(PackError::Damaged);
    };
    let mut reader = Reader { rest };
    let value = reader.value(READ_LIMIT)?;
    if reader.rest.is_empty() {
        Ok(value)
    } else {
        Err(PackError::Damaged)
    }
}

struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, PackError> {
        let below = depth.checked_sub(1).ok_or(PackError::TooDeep)?;
        Ok(match self.byte()? {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            POSITIVE => self.length()?.into(),
            NEGATIVE => (!self.length()?).cast_signed().into(),
            FLOAT => self.float()?,
            TEXT => Value::String(self.text()?.to_owned()),
            ADDRESS => Value::String(format!("sha256:{}", hex::encode(self.take(32)?))),
            ARRAY => {
                let count = self.count()?;
                let items = (0..count).map(|_| self.value(below));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            OBJECT => {
                let mut map = Map::new();
                for _ in 0..self.count()? {
                    let name = match self.length()? {
                        0 => self.text()?,
                        number => word(number - 1)?,
                    };
                    map.insert(name.to_owned(), self.value(below)?);
                }
                Value::Object(map)
            }
            WORD => Value::String(word(self.length()?)?.to_owned()),
            byte if byte >= EARLY_WORD => Value::String(word(u64::from(byte & !EARLY_WORD))?.to_owned()),
            byte if byte >= SMALL => (byte & !SMALL).into(),
            _ => return Err(PackError::Damaged),
        })
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], PackError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(PackError::Damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, PackError> {
        Ok(self.take(1)?[0])
    }

    fn length(&mut self) -> Result<u64, PackError> {
        let mut length = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            length |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(length);
            }
        }
        Err(PackError::Damaged)
    }

    /// How many things follow, of at least a byte each: never more than there are bytes.
    fn count(&mut self) -> Result<usize, PackError> {
        let count = usize::try_from(self.length()?).map_err(|_| PackError::Damaged)?;
        if count <= self.rest.len() {
            Ok(count)
        } else {
            Err(PackError::Damaged)
        }
    }

    fn text(&mut self) -> Result<&'a str, PackError> {
        let count = self.count()?;
        std::str::from_utf8(self.take(count)?).map_err(|_| PackError::Damaged)
    }

    fn float(&mut self) -> Result<Value, PackError> {
        let bytes = self.take(8)?.try_into().map_err(|_| PackError::Damaged)?;
        let number = Number::from_f64(f64::from_le_bytes(bytes)).ok_or(PackError::Damaged)?;
        Ok(Value::Number(number))
    }
}

fn word(number: u64) -> Result<&'static str, PackError> {
    let word = usize::try_from(number).ok().and_then(|number| WORDS.get(number));
    word.copied().ok_or(PackError::Damaged)
}

static NUMBERS: LazyLock<HashMap<&'static str, u64>> = LazyLock::new(|| WORDS.iter().copied().zip(0..).collect());

/// The names and values that entries repeat. A number is never given to another word.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "type", "hash", "bytes", "inline", "excerpt", "value", "key", "of", "n", "why", "cycle", "step", "error", "output",
    "modelCallStarted", "modelAttempted", "modelCallFinished", "purpose", "model", "inputHash", "request",
    "promptHash", "attempt", "status", "durationMs", "usage", "waitMs", "response", "finishReason", "input",
    "cacheRead", "cacheWrite", "reasoning", "system", "messages", "role", "user", "assistant", "content", "text",
    "tools", "toolChoice", "responseSchema", "maxTokens", "temperature", "toolUses", "requestId", "end_turn",
    "success", "auto", "any", "none", "unknown", "tool_use", "retry", "max_tokens", "stepStarted", "stepFinished",
    "toolStarted", "effectIntended", "toolFinished", "scratchpad", "logs", "args", "tool", "access", "path", "before",
    "after", "inputs", "name", "tokensUsed", "done", "failed", "skipped", "code", "message", "retryable", "cause",
    "plan", "planHash", "planProposed", "planApproved", "planRefused", "planningStarted", "feedback", "problems",
    "again", "by", "steps", "id", "action", "description", "dependencies", "kind", "read", "write", "folder",
    "hookFinished", "hook", "event", "result", "unchanged", "replaced", "personAsked", "personAnswered", "ask",
    "answer", "attemptOpened", "cycleStarted", "cycleJudged", "judgingStarted", "checkFinished", "evaluation",
    "criterion", "verdict", "score", "passed", "fail", "pass", "arguments", "judge", "runStarted", "runFinished",
    "runReopened", "scratchpadWritten", "entry", "level", "header", "task", "title", "goal", "context",
    "expectedOutput", "envelope", "maxCycles", "roles", "planner", "executorLow", "executorHigh", "hooks", "recording",
    "appVersion", "limits", "toolTimeout", "maxParallel", "retryAttempts", "approval", "criteria", "outputs",
    "stopReason", "cycles", "parameters", "schema", "properties", "required", "object", "string", "number", "array",
    "items", "stop_sequence", "refusal", "content_filter", "retryAfterMs", "tool_result", "tool_use_id", "is_error",
    "phaseStarted", "phaseFinished", "phaseRouted", "phaseSkipped", "phase", "visit", "set", "from", "to", "log",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    fn check(value: &Value) {
        let packed = pack(value).unwrap();
        assert!(is_packed(&packed));
        let back = unpack(&packed).unwrap();
        // As text, so that the order of keys counts too.
        assert_eq!(back.to_string(), value.to_string());
    }

    fn values() -> impl Strategy<Value = Value> {
        let words = (0..WORDS.len()).prop_map(|number| WORDS[number].to_owned());
        let names = prop_oneof![
            words,
            any::<String>(),
            "sha256:[0-9a-fA-F]{64}",
            "sha256:[0-9a-f]{60,66}"
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<i8>().prop_map(Value::from),
            any::<f64>().prop_map(|float| json!(float)),
            names.clone().prop_map(Value::from),
        ];
        leaf.prop_recursive(6, 60, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((names.clone(), inner), 0..8)
                    .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_comes_back_as_it_was(value in values()) {
            check(&value);
        }

        #[test]
        fn damaged_bytes_are_an_error_and_never_a_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            bytes.insert(0, FORMAT);
            let _ = unpack(&bytes);
        }

        #[test]
        fn a_packed_value_that_was_cut_short_is_damaged(value in values(), keep in 0.0..1.0_f64) {
            let packed = pack(&value).unwrap();
            let keep = (packed.len() as f64 * keep) as usize;
            prop_assert_eq!(unpack(&packed[..keep]), Err(PackError::Damaged));
        }
    }

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!(1), |inner, _| json!([inner]))
    }

    #[test]
    fn refuses_what_is_nested_too_deep() {
        check(&nested(DEPTH_LIMIT));
        assert_eq!(pack(&nested(DEPTH_LIMIT + 1)), Err(PackError::TooDeep));
        let mut bytes = vec![FORMAT];
        bytes.extend([ARRAY, 1].repeat(100_000));
        assert_eq!(unpack(&bytes), Err(PackError::TooDeep));
        let mut old = vec![FORMAT];
        old.extend([ARRAY, 1].repeat(READ_LIMIT - 1));
        old.push(NULL);
        assert!(unpack(&old).is_ok());
    }

    #[test]
    fn an_address_takes_its_own_bytes_and_known_words_one() {
        let address = format!("sha256:{}", "0a".repeat(32));
        assert_eq!(pack(&json!(address)).unwrap().len(), 2 + 32);
        assert_eq!(pack(&json!({ "type": "modelCallStarted" })).unwrap().len(), 1 + 2 + 2);
    }

    #[derive(Serialize)]
    struct Inner {
        n: u8,
    }

    #[derive(Serialize)]
    #[serde(tag = "type", rename_all = "camelCase")]
    enum Tagged {
        Unit,
        Struct {
            #[serde(skip_serializing_if = "Option::is_none")]
            left_out: Option<u8>,
            half: f32,
            negative: i8,
            letter: char,
        },
        Flat {
            #[serde(flatten)]
            inner: Inner,
            nothing: (),
            infinite: f64,
        },
    }

    #[derive(Serialize)]
    enum Named {
        Unit,
        New(u64),
        Tuple(u8, bool),
        Struct { a: i64 },
    }

    #[test]
    fn everything_is_packed_as_its_json_would_be() {
        let everything = (
            [
                Tagged::Unit,
                Tagged::Struct {
                    left_out: None,
                    half: 0.1,
                    negative: -3,
                    letter: 'ż',
                },
                Tagged::Flat {
                    inner: Inner { n: 64 },
                    nothing: (),
                    infinite: f64::INFINITY,
                },
            ],
            [
                Named::Unit,
                Named::New(u64::MAX),
                Named::Tuple(63, true),
                Named::Struct { a: i64::MIN },
            ],
            BTreeMap::from([(1, Some("of")), (2, None)]),
            (0..300).map(|n| format!("{n}")).collect::<Vec<_>>(),
        );
        let as_json = serde_json::to_value(&everything).unwrap();
        assert_eq!(pack(&everything), pack(&as_json));
        check(&as_json);
    }

    #[test]
    fn what_is_no_json_is_an_error() {
        let error = pack(&BTreeMap::from([((1, 2), 3)]));
        assert!(matches!(error, Err(PackError::Unwritable)), "{error:?}");
    }

    #[test]
    fn no_word_is_listed_twice() {
        assert_eq!(NUMBERS.len(), WORDS.len());
    }
}
