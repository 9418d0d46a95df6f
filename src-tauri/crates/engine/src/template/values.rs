//! What is true, what is the same, and what is more (flows page, "Templates and conditions").

use std::cmp::Ordering;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Number, Value};

use super::place::SyntaxError;

/// Not null, "", 0, false, [] and {}.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// Strict by type: the text "5" is not the number 5. 1 and 1.0 are one number, at every depth.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => order_numbers(left, right) == Some(Ordering::Equal),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        (left, right) => left == right,
    }
}

/// The number that a value is, or that a text spells; nothing else has an order.
pub fn as_number(value: &Value) -> Option<Number> {
    match value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => spelled(text.trim()).or_else(|| decimal(text.trim())),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Which number is more; `None` when one of the two is no number.
pub fn order(left: &Value, right: &Value) -> Option<Ordering> {
    order_numbers(&as_number(left)?, &as_number(right)?)
}

fn order_numbers(left: &Number, right: &Number) -> Option<Ordering> {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

fn whole(number: &Number) -> Option<i128> {
    number
        .as_i64()
        .map(i128::from)
        .or_else(|| number.as_u64().map(i128::from))
}

/// A number as JSON writes it.
fn spelled(text: &str) -> Option<Number> {
    text.starts_with(|first: char| first == '-' || first.is_ascii_digit())
        .then(|| serde_json::from_str(text).ok())
        .flatten()
}

/// A number as people write it: `+4`, `04`, `4.` and `.5`.
fn decimal(text: &str) -> Option<Number> {
    let is_plain = text
        .chars()
        .all(|character| character.is_ascii_digit() || "+-.eE".contains(character));
    is_plain.then(|| text.parse().ok()).flatten().and_then(Number::from_f64)
}

/// Numbers as JavaScript writes them: 1.0 is 1, -0.0 is 0, and 1e21 is 1e+21.
struct Compact;

impl Formatter for Compact {
    fn write_f64<W: ?Sized + std::io::Write>(&mut self, writer: &mut W, value: f64) -> std::io::Result<()> {
        writer.write_all(ryu_js::Buffer::new().format(value).as_bytes())
    }
}

/// A value as compact JSON.
pub(crate) fn compact(value: &Value) -> String {
    let mut out = Vec::new();
    let written = value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Compact));
    // Writing to memory cannot fail, and JSON is text.
    written
        .ok()
        .and_then(|()| String::from_utf8(out).ok())
        .unwrap_or_default()
}

/// What a bare word means: true, false, null, a number, and otherwise itself.
pub fn literal(word: &str) -> Value {
    match word {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        "null" => Value::Null,
        other => spelled(other)
            .or_else(|| decimal(other))
            .map_or_else(|| Value::String(other.to_owned()), Value::Number),
    }
}

/// What bare words between two bytes of a text mean: one word as [`literal`], several the text that they are.
///
/// # Errors
/// A word that other languages join conditions with: whoever writes it does not mean a text.
pub(crate) fn bare(source: &str, from: usize, to: usize) -> Result<Value, SyntaxError> {
    let words = &source[from..to];
    if !words.contains(char::is_whitespace) {
        return Ok(literal(words));
    }
    let mut at = from;
    for word in words.split(char::is_whitespace) {
        if let Some((_, sign)) = JOINING.iter().find(|(other, _)| other.eq_ignore_ascii_case(word)) {
            let message = format!("\"{word}\" joins nothing: write {sign}, or the whole text between quotation marks");
            return Err(SyntaxError::new(source, at, message));
        }
        at += word.len();
        at += source[at..].chars().next().map_or(0, char::len_utf8);
    }
    Ok(Value::String(words.to_owned()))
}

/// Words for signs, and what to write in place of them.
const JOINING: [(&str, &str); 3] = [("and", "&&"), ("or", "||"), ("not", "!=")];

/// What a text between quotes says, and the byte after its end; `text` begins with the quote. A backslash stands for
/// itself unless a quote or another one follows.
pub(crate) fn quoted(text: &str) -> Option<(String, usize)> {
    let quote = text.chars().next()?;
    let mut out = String::new();
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' if characters
                .peek()
                .is_some_and(|(_, next)| matches!(next, '\\' | '"' | '\'')) =>
            {
                if let Some((_, next)) = characters.next() {
                    out.push(next);
                }
            }
            end if end == quote => return Some((out, at + end.len_utf8())),
            other => out.push(other),
        }
    }
    None
}
