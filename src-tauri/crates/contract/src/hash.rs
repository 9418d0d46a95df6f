//! Content addresses: SHA-256 over canonical JSON or over bytes.
//!
//! Canonical JSON follows Verist (seed *verist-steps*, kernel page): keys sorted by code point,
//! numbers as ECMAScript prints them, and no integer beyond 2^53.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use sha2::{Digest, Sha256};
use ts_rs::TS;

/// A content address, written `sha256:` and 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, TS)]
#[serde(transparent)]
#[ts(type = "string")]
pub struct Hash(pub String);

impl Hash {
    /// The address of these bytes.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(format!("sha256:{}", hex::encode(Sha256::digest(bytes))))
    }

    /// The address of this value, through its canonical JSON.
    pub fn of_value(value: &Value) -> Result<Self, NotCanonical> {
        Ok(Self::of_bytes(canonical(value)?.as_bytes()))
    }

    /// The text with its prefix.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An address of bytes that come one after the other.
#[derive(Default)]
pub struct Hashing(Sha256);

impl Hashing {
    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The address of all of them.
    pub fn hash(self) -> Hash {
        Hash(format!("sha256:{}", hex::encode(self.0.finalize())))
    }
}

/// A value that has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotCanonical {
    /// JavaScript could not tell this integer from its neighbour.
    #[error("the number {0} is beyond 2^53 and cannot be kept exactly")]
    TooLarge(String),
    /// It could be written, but not read again: parsers stop at 128 levels, and an entry of the journal is
    /// wrapped around it.
    #[error("the value is nested more than {DEEPEST} levels deep")]
    TooDeep,
}

/// How many lists and objects may lie in each other.
pub const DEEPEST: usize = 100;

/// The one way to write a value, so that equal values have equal text.
pub fn canonical(value: &Value) -> Result<String, NotCanonical> {
    let mut out = String::new();
    write_canonical(value, DEEPEST, &mut out)?;
    Ok(out)
}

/// `levels` is how many more may follow.
fn write_canonical(value: &Value, levels: usize, out: &mut String) -> Result<(), NotCanonical> {
    let inner = || levels.checked_sub(1).ok_or(NotCanonical::TooDeep);
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => write_number(number, out)?,
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            let levels = inner()?;
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_canonical(item, levels, out)?;
            }
            out.push(']');
        }
        Value::Object(map) => {
            let levels = inner()?;
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_canonical(&map[key], levels, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn write_number(number: &Number, out: &mut String) -> Result<(), NotCanonical> {
    const LIMIT: u64 = 1 << 53;
    let plain = number.as_i64().filter(|integer| integer.unsigned_abs() <= LIMIT);
    if let Some(integer) = plain {
        let _ = write!(out, "{integer}");
    } else if let Some(float) = number.as_f64() {
        let mut buffer = ryu_js::Buffer::new();
        let text = buffer.format(float);
        // A float that is whole is written in digits, and is an integer when it is read again: it must then be the same.
        // So an integer this large is kept when it is just the way in which a float is written, and no other is.
        if number.is_f64() || text == number.to_string() {
            out.push_str(text);
        } else {
            return Err(NotCanonical::TooLarge(number.to_string()));
        }
    }
    Ok(())
}

/// As `serde_json` prints it: escaped is what JSON requires, and nothing else.
fn write_string(text: &str, out: &mut String) {
    out.reserve(text.len() + 2);
    out.push('"');
    let mut rest = text;
    while let Some(at) = first_to_escape(rest.as_bytes()) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        // What is escaped is one byte long.
        let (escaped, after) = from.split_at(1);
        match escaped.as_bytes()[0] {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            0x09 => out.push_str("\\t"),
            0x0a => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            0x0d => out.push_str("\\r"),
            control => {
                let _ = write!(out, "\\u{control:04x}");
            }
        }
        rest = after;
    }
    out.push_str(rest);
    out.push('"');
}

/// Where the first byte is that JSON does not let stand in a text. Most texts have few: they are looked through in
/// blocks, without a branch for each byte.
fn first_to_escape(bytes: &[u8]) -> Option<usize> {
    const BLOCK: usize = 32;
    let is_escaped = |byte: &u8| *byte < 0x20 || *byte == b'"' || *byte == b'\\';
    let mut at = 0;
    for block in bytes.chunks_exact(BLOCK) {
        if block.iter().fold(false, |any, byte| any | is_escaped(byte)) {
            break;
        }
        at += BLOCK;
    }
    bytes[at..].iter().position(is_escaped).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(value: Value, expected: &str) {
        assert_eq!(canonical(&value), Ok(expected.to_owned()));
    }

    #[test]
    fn a_text_is_escaped_as_json_escapes_it() {
        let controls: String = (0..=0x24_u8).map(char::from).collect();
        let texts = [
            String::new(),
            controls.clone(),
            format!("{}\"\\\u{7f}\u{80}ż\u{2028}😀", "x".repeat(31)),
            format!("{}{controls}{}", "a".repeat(70), "é".repeat(40)),
            "\n".repeat(33),
        ];
        for text in texts {
            check(json!(text), &json!(text).to_string());
        }
    }

    #[test]
    fn sorts_keys_at_every_depth() {
        check(json!({"b": {"z": 1, "a": 2}, "a": []}), r#"{"a":[],"b":{"a":2,"z":1}}"#);
    }

    #[test]
    fn prints_numbers_as_ecmascript_does() {
        check(json!([1.0, 0.1, 1e21, -0.0, 5e-324]), "[1,0.1,1e+21,0,5e-324]");
    }

    #[test]
    fn refuses_an_integer_that_javascript_would_round() {
        assert!(canonical(&json!(9_007_199_254_740_993_i64)).is_err());
        assert!(canonical(&json!(u64::MAX)).is_err());
    }

    #[test]
    fn what_is_kept_is_the_same_when_it_comes_back() {
        let floats = [
            1e15,
            9_007_199_254_740_992.0,
            9_007_199_254_740_994.0,
            1e16,
            1e17,
            1e18,
            1.5e19,
            1e20,
            1e21,
            1e300,
        ];
        let more = (0..200).map(|power| 2f64.powi(power) * 1.000_000_1);
        for float in floats.into_iter().chain(more).flat_map(|float| [float, -float]) {
            let text = canonical(&json!([float])).unwrap();
            let back: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(canonical(&back).as_ref(), Ok(&text), "{float}");
        }
    }

    #[test]
    fn equal_values_have_equal_hashes() {
        let left = Hash::of_value(&json!({"a": 1, "b": 2}));
        assert_eq!(left, Hash::of_value(&json!({"b": 2, "a": 1})));
        assert_ne!(left, Hash::of_value(&json!({"b": 2, "a": 3})));
    }

    #[derive(Serialize)]
    struct Partial {
        #[serde(skip_serializing_if = "Option::is_none")]
        a: Option<u8>,
    }

    fn of(value: impl Serialize) -> Option<Hash> {
        Hash::of_value(&serde_json::to_value(value).ok()?).ok()
    }

    #[test]
    fn an_absent_value_is_null() {
        assert_eq!(of(None::<u8>), of(json!(null)));
    }

    #[test]
    fn an_absent_field_is_not_there() {
        assert_eq!(of(Partial { a: None }), of(json!({})));
        assert_ne!(of(Partial { a: None }), of(json!({"a": null})));
    }

    #[test]
    fn an_absent_item_of_a_list_is_null() {
        assert_eq!(of([Some(1), None]), of(json!([1, null])));
    }

    #[test]
    fn keys_that_look_like_numbers_are_sorted_as_text() {
        check(json!({"9": 1, "b": 2, "10": 3}), r#"{"10":3,"9":1,"b":2}"#);
    }

    #[test]
    fn keys_are_sorted_by_code_point() {
        check(
            json!({"\u{ff61}": 1, "\u{1f600}": 2, "z": 3}),
            "{\"z\":3,\"\u{ff61}\":1,\"\u{1f600}\":2}",
        );
    }

    #[test]
    fn refuses_what_could_not_be_read_again() {
        let nested = |levels| (0..levels).fold(json!(1), |inside, _| json!([inside]));
        let text = canonical(&nested(DEEPEST)).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), nested(DEEPEST));
        assert_eq!(canonical(&nested(DEEPEST + 1)), Err(NotCanonical::TooDeep));
        assert_eq!(canonical(&json!({ "a": nested(DEEPEST) })), Err(NotCanonical::TooDeep));
    }
}
