//! JSON Schema: apply defaults, drop unknown keys, then validate (kernel page, "Schemas").

use jsonschema::Validator;
use serde_json::{Map, Value};

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
    let mut partial = schema.clone();
    if let Some(map) = partial.as_object_mut() {
        map.shift_remove("required");
    }
    normalise(&partial, value)
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

fn compile(schema: &Value) -> Result<Validator, String> {
    jsonschema::options()
        .with_pattern_options(jsonschema::PatternOptions::regex())
        .build(schema)
        .map_err(|error| format!("the schema itself is not valid: {error}"))
}

/// How deep references may lead; deeper ones are left as they are.
const DEPTH: usize = 32;

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

/// Follows a local `$ref`, once; `None` when it leads nowhere.
fn resolve<'s>(root: &'s Value, schema: &'s Value) -> Option<&'s Value> {
    match schema.get("$ref").and_then(Value::as_str) {
        None => Some(schema),
        Some(reference) => root.pointer(reference.strip_prefix('#')?),
    }
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
    fn a_circular_schema_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"x": {"$ref": "#/$defs/a"}}}}});
        assert!(normalise(&schema, json!({"x": {"x": {"x": {}}}})).is_ok());
    }
}
