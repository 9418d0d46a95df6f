//! How deep a value is nested. A value that comes from outside as text was bounded by its reader; one that a tool made
//! itself was not, and everything that follows it down (writing, comparing, forgetting it) would run out of stack.

use serde_json::Value;

/// JSON is read to 128 levels at most, and what it is written into takes a few of them.
const DEEPEST: usize = 120;

/// The value, unless it is nested too deep to be written down. Looked at and taken apart without going down into it.
pub(crate) fn bounded(value: Value) -> Result<Value, String> {
    if is_within(&value, DEEPEST) {
        return Ok(value);
    }
    forget(value);
    Err(format!("its output is nested too deep: more than {DEEPEST} levels"))
}

/// Whether a value has no more than so many levels.
pub(crate) fn is_within(value: &Value, levels: usize) -> bool {
    let mut rest = vec![(value, 1)];
    while let Some((value, depth)) = rest.pop() {
        if depth > levels {
            return false;
        }
        match value {
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => rest.extend(fields.values().map(|field| (field, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

fn forget(value: Value) {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.into_iter().map(|(_, field)| field)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(depth: usize) -> Value {
        (1..depth).fold(json!(1), |inner, _| Value::Array(vec![inner]))
    }

    #[test]
    fn bounds_what_is_nested_and_survives_what_is_not_bounded() {
        assert_eq!(bounded(nested(DEEPEST)), Ok(nested(DEEPEST)));
        assert!(bounded(nested(DEEPEST + 1)).unwrap_err().contains("too deep"));
        assert!(bounded(nested(1_000_000)).is_err());
    }
}
