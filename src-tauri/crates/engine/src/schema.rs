//! JSON Schema: apply defaults, drop unknown keys, then validate (kernel page, "Schemas").

use contract::hash::DEEPEST;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::kernel::diff::{Path, PathPart};

/// The value with defaults applied and unknown keys dropped, when it is valid.
///
/// # Errors
/// Every problem with its path, in words.
pub fn normalise(schema: &Value, value: Value) -> Result<Value, Vec<String>> {
    let value = shape(schema, schema, value);
    let problems = problems(schema, &value);
    if problems.is_empty() { Ok(value) } else { Err(problems) }
}

/// As [`normalise`], with the top level partial: a key that is absent there is no problem.
///
/// # Errors
/// Every problem with its path, in words.
pub fn normalise_partial(schema: &Value, value: Value) -> Result<Value, Vec<String>> {
    normalise(&partial(schema), value)
}

/// The schema with nothing required at its top level, also where that is a reference or put together of others.
fn partial(schema: &Value) -> Value {
    let mut partial = loosened(schema, schema, DEPTH);
    // What it refers to stands beside it.
    if let (Some(map), Some(whole)) = (partial.as_object_mut(), schema.as_object()) {
        for (key, value) in whole
            .iter()
            .filter(|(key, _)| key.starts_with("$defs") || *key == "definitions")
        {
            map.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    partial
}

fn loosened(root: &Value, schema: &Value, depth: usize) -> Value {
    let mut loose = resolve(root, schema).unwrap_or(schema).clone();
    if let Some(map) = loose.as_object_mut() {
        map.shift_remove("required");
        if let (Some(Value::Array(parts)), Some(depth)) = (map.get_mut("allOf"), depth.checked_sub(1)) {
            for part in parts {
                *part = loosened(root, part, depth);
            }
        }
    }
    loose
}

/// Everything that is wrong with a value, with paths.
pub fn problems(schema: &Value, value: &Value) -> Vec<String> {
    problems_except(schema, value, &|_| false)
}

/// As [`problems`], without those at values that `excused` accepts.
pub fn problems_except(schema: &Value, value: &Value, excused: &dyn Fn(&Value) -> bool) -> Vec<String> {
    let validator = match compile(schema) {
        Ok(validator) => validator,
        Err(message) => return vec![message],
    };
    let found = validator.iter_errors(value).filter(|error| !excused(error.instance()));
    found
        .map(|error| {
            let path = error.instance_path().to_string();
            if path.is_empty() {
                error.to_string()
            } else {
                format!("{}: {error}", path.trim_start_matches('/').replace('/', "."))
            }
        })
        .collect()
}

/// One thing that is wrong with a value, for who compares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Violation {
    /// Where; of a field that is missing, where it should be.
    pub path: Path,
    /// What kind of wrong.
    pub kind: ViolationKind,
    /// In words.
    pub message: String,
}

/// What kind of wrong a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ViolationKind {
    /// It is not there.
    Missing,
    /// It is of another type.
    Type,
    /// It is of the right type, and too much, too little, or breaks a rule of its own.
    Refinement,
    /// Anything else, such as none of the listed values.
    Other,
}

/// As [`normalise`], for who wants to know what is wrong and goes on all the same.
///
/// # Errors
/// Everything that is wrong.
pub fn observe(schema: &Value, value: Value) -> Result<Value, Vec<Violation>> {
    let value = shape(schema, schema, value);
    let found = violations(schema, &value);
    if found.is_empty() { Ok(value) } else { Err(found) }
}

/// As [`observe`], with the top level partial.
///
/// # Errors
/// Everything that is wrong.
pub fn observe_partial(schema: &Value, value: Value) -> Result<Value, Vec<Violation>> {
    observe(&partial(schema), value)
}

fn violations(schema: &Value, value: &Value) -> Vec<Violation> {
    match compile(schema) {
        Ok(validator) => validator
            .iter_errors(value)
            .map(|error| violation(value, &error))
            .collect(),
        Err(message) => vec![Violation {
            path: Path::new(),
            kind: ViolationKind::Other,
            message,
        }],
    }
}

fn violation(root: &Value, error: &ValidationError) -> Violation {
    let mut path = Path::new();
    let mut here = Some(root);
    for segment in error.instance_path() {
        let text = segment.to_string();
        match (here, text.parse::<usize>()) {
            (Some(Value::Array(items)), Ok(index)) => {
                here = items.get(index);
                path.push(PathPart::Index(index));
            }
            (value, _) => {
                here = value.and_then(|value| value.get(&text));
                path.push(PathPart::Key(text));
            }
        }
    }
    let kind = match error.kind() {
        ValidationErrorKind::Required { property } => {
            path.extend(property.as_str().map(|name| PathPart::Key(name.to_owned())));
            ViolationKind::Missing
        }
        ValidationErrorKind::Type { .. } => ViolationKind::Type,
        kind if REFINEMENTS.contains(&kind.keyword()) => ViolationKind::Refinement,
        _ => ViolationKind::Other,
    };
    Violation {
        path,
        kind,
        message: error.to_string(),
    }
}

/// Keywords that bound a value of the right type, or are rules of its own.
const REFINEMENTS: &[&str] = &[
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "dependentRequired",
    "not",
];

fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .map_err(|error| format!("the schema itself is not valid: {error}"))
}

/// How deep values are looked into: as deep as one may be. Chains of references are followed as far.
const DEPTH: usize = DEEPEST;

fn shape(root: &Value, schema: &Value, value: Value) -> Value {
    shape_to(root, schema, value, DEPTH)
}

fn shape_to(root: &Value, schema: &Value, value: Value, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else {
        return value;
    };
    let Some(schema) = resolve(root, schema) else {
        return value;
    };
    match value {
        Value::Object(map) => Value::Object(shape_object(root, schema, map, depth)),
        Value::Array(items) => match schema.get("items") {
            Some(item) => items
                .into_iter()
                .map(|value| shape_to(root, item, value, depth))
                .collect(),
            None => Value::Array(items),
        },
        plain => plain,
    }
}

fn shape_object(root: &Value, schema: &Value, mut map: Map<String, Value>, depth: usize) -> Map<String, Value> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return map;
    };
    // A schema that says what other keys hold keeps them.
    let keeps_others = schema
        .get("additionalProperties")
        .is_some_and(|more| *more != Value::Bool(false));
    if !keeps_others {
        map.retain(|key, _| properties.contains_key(key));
    }
    for (key, property) in properties {
        match map.shift_remove(key) {
            Some(value) => {
                map.insert(key.clone(), shape_to(root, property, value, depth));
            }
            None => {
                if let Some(default) = resolve(root, property).and_then(|property| property.get("default")) {
                    map.insert(key.clone(), default.clone());
                }
            }
        }
    }
    map
}

/// Follows a local `$ref`, and the next; `None` when it leads nowhere, or in a circle.
fn resolve<'s>(root: &'s Value, mut schema: &'s Value) -> Option<&'s Value> {
    for _ in 0..DEPTH {
        match schema.get("$ref").and_then(Value::as_str) {
            None => return Some(schema),
            Some(reference) => schema = root.pointer(reference.strip_prefix('#')?)?,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["path", "rows"],
            "properties": {
                "path": { "type": "string" },
                "depth": { "type": "integer", "default": 1 },
                "rows": { "type": "array", "items": { "$ref": "#/$defs/row" } }
            },
            "$defs": { "row": { "type": "object", "properties": { "n": { "type": "integer", "default": 7 } } } }
        })
    }

    #[test]
    fn applies_defaults_and_drops_unknown_keys_at_every_depth() {
        let value = json!({"path": "a", "rows": [{}, {"n": 2, "x": 1}], "extra": true});
        assert_eq!(
            normalise(&schema(), value),
            Ok(json!({"path": "a", "depth": 1, "rows": [{"n": 7}, {"n": 2}]}))
        );
    }

    #[test]
    fn lists_every_problem_with_its_path() {
        let Err(problems) = normalise(&schema(), json!({"rows": [{"n": "many"}]})) else {
            panic!("it is not valid")
        };
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems.iter().any(|problem| problem.starts_with("rows.0.n: ")),
            "{problems:?}"
        );
    }

    #[test]
    fn only_the_top_level_is_partial() {
        let schema = json!({
            "type": "object", "required": ["a"],
            "properties": { "a": { "type": "object", "required": ["b"], "properties": { "b": {} } } }
        });
        assert_eq!(normalise_partial(&schema, json!({})), Ok(json!({})));
        assert!(normalise_partial(&schema, json!({"a": {}})).is_err());
    }

    #[test]
    fn the_top_level_is_partial_behind_a_reference() {
        let schema = json!({
            "$ref": "#/$defs/a",
            "$defs": {
                "a": { "$ref": "#/$defs/b" },
                "b": { "type": "object", "required": ["n"], "properties": {
                    "n": { "type": "integer" }, "m": { "$ref": "#/$defs/number" }, "k": { "default": 1 } } },
                "number": { "type": "number" },
            }
        });
        assert_eq!(normalise_partial(&schema, json!({"x": 1})), Ok(json!({"k": 1})));
        assert!(normalise_partial(&schema, json!({"m": "one"})).is_err());
        assert!(normalise(&schema, json!({})).is_err());
        let of_two = json!({ "allOf": [{ "required": ["a"] }, { "$ref": "#/$defs/c" }], "$defs": { "c": { "required": ["c"] } } });
        assert!(normalise_partial(&of_two, json!({})).is_ok());
        assert!(normalise(&of_two, json!({})).is_err());
    }

    #[test]
    fn keys_that_are_not_known_are_dropped_however_deep() {
        let mut schema = json!({ "properties": { "a": { "type": "integer" } } });
        let (mut given, mut kept) = (json!({"a": 1, "b": 2}), json!({"a": 1}));
        for _ in 0..90 {
            schema = json!({ "properties": { "a": schema } });
            (given, kept) = (json!({ "a": given }), json!({ "a": kept }));
        }
        assert_eq!(normalise(&schema, given), Ok(kept));
    }

    #[test]
    fn a_circular_schema_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}});
        assert!(normalise(&schema, json!({"x": {"x": {"x": {}}}})).is_ok());
        let itself = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert_eq!(partial(&itself), itself);
    }

    fn check_violation(schema: Value, value: Value, path: Value, kind: ViolationKind) {
        let found = observe(&schema, value).unwrap_err();
        let found: Vec<_> = found.into_iter().map(|found| (json!(found.path), found.kind)).collect();
        assert_eq!(found, [(path, kind)]);
    }

    #[test]
    fn says_what_kind_of_wrong_and_where() {
        let schema = json!({ "type": "object", "properties": {
            "n": { "type": "integer", "minimum": 1 },
            "kind": { "enum": ["a"] },
            "0": { "type": "array", "items": { "required": ["x"], "properties": { "x": {} } } },
        } });
        let check = |value, path, kind| check_violation(schema.clone(), value, path, kind);
        check(json!({"n": "1"}), json!(["n"]), ViolationKind::Type);
        check(json!({"n": 0}), json!(["n"]), ViolationKind::Refinement);
        check(json!({"kind": "b"}), json!(["kind"]), ViolationKind::Other);
        check(
            json!({"0": [{"x": 1}, {}]}),
            json!(["0", 1, "x"]),
            ViolationKind::Missing,
        );
    }
}
