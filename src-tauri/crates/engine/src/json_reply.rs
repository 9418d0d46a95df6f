//! Finding the JSON in a model's reply: alone, in a fence, or in prose.
//!
//! What is meant is never guessed. A reply that says two different things, or whose JSON is broken, is none: nothing is
//! read from inside of something that could not be read itself.

use serde_json::{Deserializer, Value};

/// The JSON of a reply: all of it, or what stands in its one fence.
///
/// # Errors
/// The beginning of the reply, in the words of the reference implementation.
pub fn value_in(reply: &str) -> Result<Value, String> {
    let trimmed = reply.trim();
    if let Ok(value) = serde_json::from_str(trimmed) {
        return Ok(value);
    }
    the_only(fenced(trimmed)).ok_or_else(|| invalid(trimmed))
}

/// The JSON object of a reply, which may also stand in the middle of prose. Where there are several, it is the one with
/// this key; an example beside it lacks that.
///
/// # Errors
/// The beginning of the reply, or that it says several things.
pub fn object_in(reply: &str, key: &str) -> Result<Value, String> {
    let trimmed = reply.trim();
    if let Ok(value @ Value::Object(_)) = serde_json::from_str(trimmed) {
        return Ok(value);
    }
    let mut found: Vec<Value> = fenced(trimmed).into_iter().filter(Value::is_object).collect();
    if found.is_empty() {
        found = in_prose(trimmed).ok_or_else(|| invalid(trimmed))?;
    }
    if found.is_empty() {
        return Err(invalid(trimmed));
    }
    let with_key: Vec<Value> = found.iter().filter(|value| value.get(key).is_some()).cloned().collect();
    let meant = if with_key.is_empty() { found } else { with_key };
    the_only(meant).ok_or_else(|| "The reply holds several JSON objects that differ; answer with one".to_owned())
}

/// The value, when there is one and all others are equal to it.
fn the_only(mut values: Vec<Value>) -> Option<Value> {
    let last = values.pop()?;
    values.iter().all(|value| *value == last).then_some(last)
}

fn invalid(reply: &str) -> String {
    let shown: String = reply.chars().take(200).collect();
    format!("Invalid JSON: {shown}")
}

/// What stands in fences that hold one value each, whole.
fn fenced(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text;
    while let Some(opened) = rest.find("```") {
        rest = &rest[opened + 3..];
        let inside = rest.trim_start_matches(|letter: char| letter.is_alphanumeric() || letter == '_');
        let mut stream = Deserializer::from_str(inside).into_iter::<Value>();
        let Some(Ok(value)) = stream.next() else { continue };
        let after = &inside[stream.byte_offset()..];
        // A fence that nothing closes was cut off behind what it holds.
        if after.trim().is_empty() || after.trim_start().starts_with("```") {
            values.push(value);
            rest = after.trim_start().strip_prefix("```").unwrap_or_default();
        }
    }
    values
}

/// The objects between words; none when one begins that is broken.
fn in_prose(text: &str) -> Option<Vec<Value>> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(at) = text[from..].find('{') {
        let start = from + at;
        match first_value(&text[start..]) {
            Ok((length, value)) => {
                found.push(value);
                from = start + length;
            }
            Err(_) if begins_an_object(&text[start..]) => return None,
            // A brace among words.
            Err(_) => from = start + 1,
        }
    }
    Some(found)
}

/// Whether a brace is followed by a name between quotation marks and a colon: nobody writes that in prose.
fn begins_an_object(text: &str) -> bool {
    let Some(name) = text[1..].trim_start().strip_prefix('"') else {
        return false;
    };
    let mut escaped = false;
    let end = name.find(|letter| {
        let closes = letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        closes
    });
    end.is_some_and(|end| name[end + 1..].trim_start().starts_with(':'))
}

/// The object at the beginning of a text, with its length.
fn first_value(text: &str) -> Result<(usize, Value), ()> {
    let mut stream = Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(value @ Value::Object(_))) => Ok((stream.byte_offset(), value)),
        _ => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(reply: &str, expected: Value) {
        assert_eq!(object_in(reply, "a"), Ok(expected));
    }

    #[test]
    fn finds_it_bare() {
        check("  {\"a\": 1}\n", json!({"a": 1}));
    }

    #[test]
    fn finds_it_in_a_fence() {
        check("Here you are:\n```json\n{\"a\": 1}\n```\nGood luck.", json!({"a": 1}));
        check("```\n{\"a\": 1}", json!({"a": 1}));
    }

    #[test]
    fn finds_it_in_prose_with_others_around() {
        check(
            "Like {\"x\":1}, so {\"a\": [1, 2, 3]} it is {really}.",
            json!({"a": [1, 2, 3]}),
        );
    }

    #[test]
    fn of_two_that_differ_none_is_meant() {
        for reply in [
            "A pass would read {\"a\": \"pass\", \"why\": \"it is long\"} but it is {\"a\": \"fail\"}",
            "```json\n{\"a\": 1}\n```\nor\n```json\n{\"a\": 2}\n```",
        ] {
            assert!(object_in(reply, "a").unwrap_err().contains("several"), "{reply}");
        }
        check("{\"a\": 1} and once more {\"a\": 1}", json!({"a": 1}));
    }

    #[test]
    fn nothing_is_read_from_inside_of_what_is_broken() {
        for reply in [
            "{\"a\": false, \"before\": {\"a\": true},}",
            "{\"example\": {\"a\": true}",
            "So: {\"steps\": [{\"a\": 1}],}",
        ] {
            assert!(
                object_in(reply, "a").unwrap_err().starts_with("Invalid JSON"),
                "{reply}"
            );
            assert!(value_in(reply).is_err(), "{reply}");
        }
    }

    #[test]
    fn a_value_stands_alone_or_in_the_one_fence() {
        assert_eq!(value_in(" [1] "), Ok(json!([1])));
        assert_eq!(value_in("Here:\n```json\n{\"a\": 1}\n```"), Ok(json!({"a": 1})));
        assert!(value_in("Not {\"a\": true} because it is bad.").is_err());
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
            object_in("I cannot do that.", "a"),
            Err("Invalid JSON: I cannot do that.".to_owned())
        );
        assert!(object_in(&"{".repeat(1_000_000), "a").is_err());
        assert!(object_in(&"{ \"x".repeat(200_000), "a").is_err());
    }
}
