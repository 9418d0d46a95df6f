//! What a flow or a step is given (flows page, "Input"; seed *agntz-pipeline-steps*, "input"): its schema in either
//! spelling, the state it begins with, and the values that a step gets and a flow gives back.
//!
//! A schema is JSON Schema, or short: `{ query: string, tone: { type: string, default: plain } }`. The short one names
//! keys and defaults and is not held against values; JSON Schema is.

use contract::error::Problem;
use contract::step::StepError;
use serde_json::{Map, Value, json};

use crate::schema;
use crate::template::{Mapping, Scope};

/// The key of the one value that a flow without a schema is given.
pub const USER_QUERY: &str = "userQuery";

/// A schema that was read and found right.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSchema {
    /// The declared keys, in order.
    pub keys: Vec<InputKey>,
    /// The JSON Schema that values are held against; none for the short spelling.
    pub strict: Option<Value>,
}

/// One declared key.
#[derive(Debug, Clone, PartialEq)]
pub struct InputKey {
    /// Its name.
    pub name: String,
    /// What stands for it when nothing is given.
    pub default: Option<Value>,
    /// Whether it has to be given.
    pub required: bool,
}

/// What a type may be called in the short spelling; `[]` and `?` may follow.
const TYPES: [&str; 8] = [
    "string", "number", "integer", "boolean", "object", "array", "null", "any",
];
/// The most bytes of a JSON Schema, and its deepest nesting (agntz).
const LARGEST: usize = 256 * 1024;
const DEEPEST: usize = 64;

impl InputSchema {
    /// Reads a schema in either spelling.
    ///
    /// # Errors
    /// Everything that is wrong, with paths inside the schema.
    pub fn read(value: &Value) -> Result<Self, Vec<Problem>> {
        let Some(map) = value.as_object() else {
            return Err(vec![Problem::new(
                "",
                "a schema names its keys, such as { query: string }",
            )]);
        };
        if is_json_schema(map) {
            read_strict(value)
        } else {
            read_short(map)
        }
    }

    /// The same as JSON Schema, for a form or a model.
    pub fn to_json_schema(value: &Value) -> Value {
        let Some(map) = value.as_object().filter(|map| !is_json_schema(map)) else {
            return value.clone();
        };
        let properties: Map<String, Value> = map.iter().map(|(key, entry)| (key.clone(), property(entry))).collect();
        let required: Vec<&String> = map
            .iter()
            .filter(|(_, entry)| is_required(entry))
            .map(|(key, _)| key)
            .collect();
        json!({ "type": "object", "properties": properties, "required": required })
    }

    /// The keys that have to be given.
    pub fn required(&self) -> impl Iterator<Item = &str> {
        self.keys.iter().filter(|key| key.required).map(|key| key.name.as_str())
    }

    /// What is wrong with an input, in words. The short spelling finds nothing wrong.
    pub fn problems(&self, input: &Value) -> Vec<String> {
        self.strict
            .as_ref()
            .map_or_else(Vec::new, |strict| schema::problems(strict, input))
    }
}

fn is_json_schema(map: &Map<String, Value>) -> bool {
    map.get("properties").is_some_and(Value::is_object)
        || map.get("type").is_some_and(|word| word == "object")
        || ["$schema", "$ref", "allOf", "anyOf", "oneOf"]
            .iter()
            .any(|key| map.contains_key(*key))
}

fn read_strict(value: &Value) -> Result<InputSchema, Vec<Problem>> {
    if value.to_string().len() > LARGEST || is_deeper(value, DEEPEST) {
        let message = format!("the schema is larger than 256 KB, or nested more than {DEEPEST} times");
        return Err(vec![Problem::new("", message)]);
    }
    let invalid = schema::problems(value, &Value::Null);
    if let Some(message) = invalid.iter().find(|message| message.starts_with("the schema itself")) {
        return Err(vec![Problem::new("", message.clone())]);
    }
    let required = value.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    let properties = value.get("properties").and_then(Value::as_object);
    let keys = properties.into_iter().flatten().map(|(name, property)| {
        let default = property.get("default").cloned();
        InputKey {
            name: name.clone(),
            required: default.is_none() && is_required(name),
            default,
        }
    });
    Ok(InputSchema {
        keys: keys.collect(),
        strict: Some(value.clone()),
    })
}

fn is_deeper(value: &Value, left: usize) -> bool {
    match value {
        _ if left == 0 => true,
        Value::Array(items) => items.iter().any(|item| is_deeper(item, left - 1)),
        Value::Object(map) => map.values().any(|item| is_deeper(item, left - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn read_short(map: &Map<String, Value>) -> Result<InputSchema, Vec<Problem>> {
    let wrong: Vec<Problem> = map
        .iter()
        .filter_map(|(key, entry)| Some(Problem::new(key.clone(), wrong_entry(entry)?)))
        .collect();
    if !wrong.is_empty() {
        return Err(wrong);
    }
    let keys = map.iter().map(|(name, entry)| InputKey {
        name: name.clone(),
        default: entry.get("default").cloned(),
        required: is_required(entry),
    });
    Ok(InputSchema {
        keys: keys.collect(),
        strict: None,
    })
}

fn wrong_entry(entry: &Value) -> Option<String> {
    let word = match entry {
        Value::String(word) => word,
        Value::Object(property) => match property.get("type") {
            None => return None,
            Some(Value::String(word)) => word,
            Some(Value::Array(words)) if words.iter().all(Value::is_string) => return None,
            Some(other) => return Some(format!("{other} is no type: write one of {}", TYPES.join(", "))),
        },
        other => return Some(format!("{other} is no type: write one of {}", TYPES.join(", "))),
    };
    (!TYPES.contains(&base(word))).then(|| format!("\"{word}\" is no type: write one of {}", TYPES.join(", ")))
}

fn base(word: &str) -> &str {
    let word = word.trim().trim_end_matches('?');
    word.trim_end_matches("[]")
}

fn is_required(entry: &Value) -> bool {
    match entry {
        Value::String(word) => !word.trim().ends_with('?'),
        other => other.get("default").is_none() && other.get("required").is_none_or(|flag| *flag != Value::Bool(false)),
    }
}

fn property(entry: &Value) -> Value {
    match entry {
        Value::String(word) => match (base(word), word.contains("[]")) {
            ("any", false) => json!({}),
            ("any", true) => json!({ "type": "array" }),
            (one, true) => json!({ "type": "array", "items": { "type": one } }),
            (one, false) => json!({ "type": one }),
        },
        Value::Object(map) => {
            // In the short spelling it says that the key itself has to be given.
            let is_flag = |key: &str, value: &Value| key == "required" && value.is_boolean();
            let kept = map.iter().filter(|(key, value)| !is_flag(key, value));
            Value::Object(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
        }
        other => other.clone(),
    }
}

/// The state that a flow begins with: `{userQuery: input}` without a schema, else its declared keys and no others, each
/// with its value, else its default, else null. A given null is a value.
pub fn initial_state(schema: Option<&InputSchema>, input: &Value) -> Map<String, Value> {
    let Some(schema) = schema else {
        return Map::from_iter([(USER_QUERY.to_owned(), input.clone())]);
    };
    let value = |key: &InputKey| {
        let given = input.get(&key.name).or(key.default.as_ref());
        (key.name.clone(), given.cloned().unwrap_or(Value::Null))
    };
    schema.keys.iter().map(value).collect()
}

/// What a step is given: its mapping against the state around it, or without one what came before it.
///
/// # Errors
/// As [`Mapping::value`].
pub fn step_input(reads: Option<&Mapping>, state: &dyn Scope, upstream: &Value) -> Result<Value, StepError> {
    match reads {
        Some(mapping) => mapping.value(state),
        None => Ok(upstream.clone()),
    }
}

/// What a flow gives back: its mapping against its last state, or without one its last output.
///
/// # Errors
/// As [`Mapping::value`].
pub fn flow_output(output: Option<&Mapping>, state: &dyn Scope, last: &Value) -> Result<Value, StepError> {
    step_input(output, state, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_state(schema: Value, input: Value, expected: Value) {
        let schema = (!schema.is_null()).then(|| InputSchema::read(&schema).unwrap());
        assert_eq!(Value::Object(initial_state(schema.as_ref(), &input)), expected);
    }

    #[test]
    fn without_a_schema_the_input_is_one_value() {
        for input in [json!("hello"), json!(null), json!({"a": 1}), json!([1])] {
            check_state(json!(null), input.clone(), json!({ "userQuery": input }));
        }
    }

    #[test]
    fn with_a_schema_there_are_its_keys_and_no_others() {
        let schema = json!({"q": "string", "tone": {"type": "string", "default": "plain"}, "n": {"type": "number"}});
        check_state(
            schema.clone(),
            json!({"q": "x", "more": 1}),
            json!({"q": "x", "tone": "plain", "n": null}),
        );
        check_state(
            schema.clone(),
            json!({"tone": null, "n": 0}),
            json!({"q": null, "tone": null, "n": 0}),
        );
        check_state(
            schema,
            json!("only text"),
            json!({"q": null, "tone": "plain", "n": null}),
        );
        check_state(json!({}), json!({"a": 1}), json!({}));
        let strict = json!({"type": "object", "properties": {"a": {"default": [1]}, "b": {}}, "required": ["b"]});
        check_state(strict, json!({"b": false, "c": 1}), json!({"a": [1], "b": false}));
    }

    #[test]
    fn knows_which_keys_have_to_be_given() {
        let required = |schema: Value| -> Vec<String> {
            let schema = InputSchema::read(&schema).unwrap();
            schema.required().map(str::to_owned).collect()
        };
        let short = json!({"a": "string", "b": "string?", "c": {"type": "number", "default": 0}, "d": "string[]", "e": {"required": false}});
        assert_eq!(required(short), ["a", "d"]);
        let strict =
            json!({"type": "object", "properties": {"a": {}, "b": {"default": 1}, "c": {}}, "required": ["a", "b"]});
        assert_eq!(required(strict), ["a"]);
    }

    #[test]
    fn only_json_schema_is_held_against_values() {
        let short = InputSchema::read(&json!({"a": "string"})).unwrap();
        assert_eq!(short.problems(&json!({"a": 1})), Vec::<String>::new());
        let strict = InputSchema::read(&json!({"properties": {"a": {"type": "string"}}})).unwrap();
        assert_eq!(strict.problems(&json!({"a": 1})).len(), 1);
    }

    #[test]
    fn names_what_is_no_schema() {
        let wrong = |schema: Value| InputSchema::read(&schema).unwrap_err();
        assert_eq!(wrong(json!("string")).len(), 1);
        assert_eq!(wrong(json!(["a"])).len(), 1);
        let two = wrong(json!({"a": "strng", "b": 5, "c": "string"}));
        let paths: Vec<_> = two.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["a", "b"]);
        assert!(
            wrong(json!({"type": "object", "properties": {"a": {"type": 7}}}))[0]
                .message
                .contains("the schema itself")
        );
        let deep = (0..100).fold(json!({}), |inner, _| json!({"properties": {"a": inner}}));
        assert!(wrong(deep)[0].message.contains("nested"));
    }

    #[test]
    fn the_short_spelling_has_a_long_one() {
        let long =
            InputSchema::to_json_schema(&json!({"a": "string[]", "b": {"type": "number", "default": 1}, "c": "any?"}));
        let expected = json!({
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "string"}}, "b": {"type": "number", "default": 1}, "c": {}},
            "required": ["a"]
        });
        assert_eq!(long, expected);
        assert_eq!(InputSchema::to_json_schema(&long), long);
    }
}
