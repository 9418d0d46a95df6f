//! Which schemas a provider can hold an answer to: those of few words, whose objects are all closed. What else each wants
//! is its own.

use serde_json::{Map, Value, json};

/// The words that structured outputs take.
const KNOWN: &[&str] = &[
    "type",
    "description",
    "title",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
];

/// Whether every part of a schema says nothing that is not taken, every object in it is closed, and each part `fits`.
pub(crate) fn is_closed(schema: &Value, fits: &impl Fn(&Map<String, Value>) -> bool) -> bool {
    let Some(schema) = schema.as_object() else {
        return false;
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let is_object = schema.get("type").is_some_and(|kind| kind == "object") || properties.is_some();
    let shuts = properties.is_some() && schema.get("additionalProperties") == Some(&json!(false));
    let any_of = schema.get("anyOf").and_then(Value::as_array);
    let inside = schema.get("items").into_iter().chain(any_of.into_iter().flatten());
    let mut parts = inside.chain(properties.into_iter().flat_map(Map::values));
    schema.keys().all(|name| KNOWN.contains(&name.as_str()))
        && (!is_object || shuts)
        && fits(schema)
        && parts.all(|part| is_closed(part, fits))
}
