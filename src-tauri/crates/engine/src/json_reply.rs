//! Finding the JSON in a model's reply, whether it stands alone, in a fence, or inside prose.

use serde_json::{Deserializer, Value};

/// The JSON object of a reply.
///
/// Every `{` is tried as a beginning, so a fence inside a string or a brace in prose confuses
/// nothing. The longest object wins: prose may quote small ones.
///
/// # Errors
/// The beginning of the reply, in the words of the reference implementation.
pub fn object_in(reply: &str) -> Result<Value, String> {
    let trimmed = reply.trim();
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(trimmed) {
        return Ok(value);
    }
    let mut best: Option<(usize, Value)> = None;
    let (mut from, mut in_vain) = (0, 0);
    while let Some(found) = trimmed[from..].find('{') {
        let start = from + found;
        match first_value(&trimmed[start..]) {
            Ok((length, value)) => {
                if best.as_ref().is_none_or(|(longest, _)| length > *longest) {
                    best = Some((length, value));
                }
                from = start + length;
            }
            Err(read) => {
                from = start + 1;
                in_vain += read;
            }
        }
        // Garbage full of braces must not cost the square of its length.
        if in_vain > MOST_IN_VAIN {
            break;
        }
    }
    best.map(|(_, value)| value).ok_or_else(|| {
        let shown: String = trimmed.chars().take(200).collect();
        format!("Invalid JSON: {shown}")
    })
}

/// How much is read of beginnings that come to nothing, in bytes.
const MOST_IN_VAIN: usize = 16 * 1024 * 1024;

/// The object at the beginning of a text with its length; otherwise about how much of the text had to be read to see that
/// there is none.
fn first_value(text: &str) -> Result<(usize, Value), usize> {
    let mut stream = Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value @ Value::Object(_))) => Ok((stream.byte_offset(), value)),
        Some(Err(error)) => {
            let lines_before = error.line().saturating_sub(1);
            let before: usize = text.split_inclusive('\n').take(lines_before).map(str::len).sum();
            Err(before + error.column())
        }
        Some(Ok(_)) | None => Err(1),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(reply: &str, expected: Value) {
        assert_eq!(object_in(reply), Ok(expected));
    }

    #[test]
    fn finds_it_bare() {
        check("  {\"a\": 1}\n", json!({"a": 1}));
    }

    #[test]
    fn finds_it_in_a_fence() {
        check("Here you are:\n```json\n{\"a\": 1}\n```\nGood luck.", json!({"a": 1}));
    }

    #[test]
    fn finds_it_in_prose_with_smaller_ones_around() {
        check(
            "Like {\"x\":1}, so {\"a\": [1, 2, 3]} it is {really}.",
            json!({"a": [1, 2, 3]}),
        );
    }

    #[test]
    fn a_fence_inside_a_string_confuses_nothing() {
        check(
            "```json\n{\"a\": \"```js\\n{}\\n```\"}\n```",
            json!({"a": "```js\n{}\n```"}),
        );
    }

    #[test]
    fn finds_it_after_a_long_preamble() {
        let thoughts = "Perhaps {this}, perhaps {\"that\": it}. ".repeat(5_000);
        check(&format!("{thoughts}\n```json\n{{\"a\": 1}}\n```"), json!({"a": 1}));
    }

    #[test]
    fn says_how_the_reply_began_when_there_is_none() {
        assert_eq!(
            object_in("I cannot do that."),
            Err("Invalid JSON: I cannot do that.".to_owned())
        );
        assert!(object_in(&"{".repeat(1_000_000)).is_err());
    }
}
