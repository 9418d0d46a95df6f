//! Compares what came out with what a case expects.

use serde_json::Value;

use crate::wording::{self, Likeness};

/// Equal, numbers by their value: `1` and `1.0` are one number.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        _ => left == right,
    }
}

/// Everything that is expected is there, and is the same.
///
/// # Errors
/// Both, under a name.
pub fn equal(name: &str, expected: &Value, actual: &Value) -> Result<(), String> {
    if same(expected, actual) {
        Ok(())
    } else {
        Err(format!("`{name}` is {actual}, not {expected}"))
    }
}

/// Compares each field of `expected` with the field of `actual` of that name.
///
/// - `null` also means: absent. A text like `<uuid>` accepts any text that is not empty.
/// - `x_contains` looks for a text inside `x`, `x_absent` and `x_present` for whether it is there.
/// - A number in place of a list is its length; `note` and `source` are for readers.
/// - Entries of `schemaViolations` are compared by the fields that are expected, in any order, and those of `artifacts`
///   in theirs.
///
/// # Errors
/// The first field that is not as expected, or that nothing is known about.
pub fn fields(expected: &Value, actual: &Value) -> Result<(), String> {
    let Some(expected) = expected.as_object() else {
        return Err(format!("`expect` is no object: {expected}"));
    };
    expected
        .iter()
        .try_for_each(|(name, expected)| field(name, expected, actual))
}

fn field(name: &str, expected: &Value, actual: &Value) -> Result<(), String> {
    let found = |name: &str| actual.get(name).filter(|value| !value.is_null());
    if name == "note" || name == "source" {
        return Ok(());
    }
    if let Some(name) = name.strip_suffix("_contains") {
        return contains(name, expected, found(name).unwrap_or(&Value::Null));
    }
    for (suffix, wanted) in [("_absent", false), ("_present", true)] {
        if let Some(name) = name.strip_suffix(suffix).filter(|_| expected.is_boolean()) {
            let is_there = found(name).is_some();
            let right = (is_there == wanted) == (*expected == Value::Bool(true));
            return if right {
                Ok(())
            } else {
                Err(format!("`{name}` is there: {is_there}"))
            };
        }
    }
    match (expected, actual.get(name)) {
        (Value::Null, _) if found(name).is_none() => Ok(()),
        // Of none there are none.
        (Value::Number(count), None) if count.as_u64() == Some(0) => Ok(()),
        (Value::String(text), Some(Value::String(other))) if is_placeholder(text) && !other.is_empty() => Ok(()),
        (Value::Number(count), Some(Value::Array(list))) => equal(
            &format!("number of {name}"),
            &Value::Number(count.clone()),
            &list.len().into(),
        ),
        (Value::Array(expected), Some(Value::Array(list))) if name == "schemaViolations" => violations(expected, list),
        (Value::Array(expected), Some(Value::Array(list))) if name == "artifacts" => artifacts(expected, list),
        (Value::Object(expected), Some(Value::Object(_))) if name == "outputArtifact" => {
            artifacts(&[Value::Object(expected.clone())], &[actual["outputArtifact"].clone()])
        }
        (expected, Some(value)) => equal(name, expected, value),
        (expected, None) => Err(format!("`{name}` is not there, expected is {expected}")),
    }
}

/// Whether a text only says what kind of text is expected, such as `<uuid>`.
pub fn is_placeholder(text: &str) -> bool {
    text.starts_with('<') && text.ends_with('>')
}

fn contains(name: &str, expected: &Value, actual: &Value) -> Result<(), String> {
    let text = actual.as_str().map_or_else(|| actual.to_string(), str::to_owned);
    let parts: Vec<&Value> = expected
        .as_array()
        .map_or_else(|| vec![expected], |parts| parts.iter().collect());
    for part in parts {
        let part = part.as_str().map_or_else(|| part.to_string(), str::to_owned);
        if !text.to_lowercase().contains(&part.to_lowercase()) {
            return Err(format!("`{name}` is {text}, without \"{part}\""));
        }
    }
    Ok(())
}

/// Artifacts in their order, by the fields that are expected of each.
fn artifacts(expected: &[Value], actual: &[Value]) -> Result<(), String> {
    if expected.len() != actual.len() {
        return Err(format!("there are {} artifacts, not {}", actual.len(), expected.len()));
    }
    expected
        .iter()
        .zip(actual)
        .try_for_each(|(expected, actual)| fields(expected, actual))
}

fn violations(expected: &[Value], actual: &[Value]) -> Result<(), String> {
    let fits = |wanted: &Value, found: &Value| {
        wanted.as_object().is_some_and(|wanted| {
            wanted
                .iter()
                .all(|(key, value)| found.get(key).is_some_and(|other| same(value, other)))
        })
    };
    let all = expected
        .iter()
        .all(|wanted| actual.iter().any(|found| fits(wanted, found)));
    if all && expected.len() == actual.len() {
        Ok(())
    } else {
        Err(format!(
            "`schemaViolations` is {}, not {}",
            Value::from(actual),
            Value::from(expected)
        ))
    }
}

/// How like the expected error this one is: the same words, or all that the expected one names between quotation marks
/// stands in it; one that names nothing is compared by its words.
pub fn error_likeness(expected: &str, actual: &str) -> Option<Likeness> {
    let (said, wanted) = (actual.to_lowercase(), expected.to_lowercase());
    if said.contains(&wanted) {
        return Some(Likeness::Same);
    }
    let quoted: Vec<&str> = wanted.split('"').skip(1).step_by(2).collect();
    if quoted.is_empty() {
        return wording::likeness(expected, actual);
    }
    let is_alike = quoted.iter().all(|name| said.contains(name));
    is_alike.then_some(Likeness::OtherWords)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(expected: Value, actual: Value, good: bool) {
        assert_eq!(fields(&expected, &actual).is_ok(), good, "{expected} {actual}");
    }

    #[test]
    fn a_field_is_compared_whole() {
        check(json!({"output": {"a": 1}}), json!({"output": {"a": 1.0}}), true);
        check(json!({"output": {"a": 1}}), json!({"output": {"a": 1, "b": 2}}), false);
    }

    #[test]
    fn a_field_that_nobody_knows_fails() {
        check(json!({"outpt": 1}), json!({"output": 1}), false);
    }

    #[test]
    fn null_means_absent() {
        check(json!({"a": null}), json!({}), true);
        check(json!({"a": null}), json!({"a": 1}), false);
        check(json!({"commands_absent": true}), json!({"commands": []}), false);
    }

    #[test]
    fn a_number_counts_a_list() {
        check(json!({"events": 0}), json!({"events": []}), true);
        check(json!({"events": 0}), json!({"events": [1]}), false);
    }

    #[test]
    fn an_error_names_the_same_item_in_other_words() {
        let wanted = "duplicate key \"e1\" in entities";
        assert_eq!(
            error_likeness(wanted, &format!("keyBy: {wanted}")),
            Some(Likeness::Same)
        );
        let other = error_likeness(wanted, "the id \"e1\" is there twice");
        assert_eq!(other, Some(Likeness::OtherWords));
        assert_eq!(error_likeness(wanted, "the id \"e2\" is there twice"), None);
        assert_eq!(error_likeness("no index", "no field"), None);
        let wanted = "keyBy: key must be string or number, got object";
        let other = error_likeness(wanted, "keyBy: key must be string or number, got array in list[0]");
        assert_eq!(other, Some(Likeness::OtherWords));
        assert_eq!(error_likeness(wanted, "keyBy: element at list[0] has no field"), None);
    }
}
