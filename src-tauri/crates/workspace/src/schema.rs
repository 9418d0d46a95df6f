//! How the arguments of tools and checks are described: JSON Schema 2020-12 from the struct that
//! reads them, in the plain form that every model server understands.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of a struct: nothing referenced, no null beside an optional value.
pub fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Value::Object(root) = &mut schema {
        // The struct's name and comment say nothing to a reader of the schema.
        root.remove("title");
        root.remove("description");
    }
    plain(&mut schema);
    schema
}

fn plain(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("default").is_some_and(Value::is_null) {
                object.shift_remove("default");
            }
            // `uint64` and the like are no formats of the standard.
            if object.get("type").is_some() {
                object.shift_remove("format");
            }
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&Value::from("null")));
                if let [Value::Object(only)] = choices.as_slice() {
                    let only = only.clone();
                    object.shift_remove("anyOf");
                    for (key, value) in only {
                        object.entry(key).or_insert(value);
                    }
                }
            }
            object.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Input {
        /// Which file.
        path: String,
        /// How many.
        limit: Option<u64>,
        #[serde(default = "three")]
        times: u32,
    }

    fn three() -> u32 {
        3
    }

    #[test]
    fn describes_a_struct_in_the_plain_form() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": {"description": "Which file.", "type": "string"},
                "limit": {"description": "How many.", "type": "integer", "minimum": 0},
                "times": {"type": "integer", "minimum": 0, "default": 3},
            },
            "additionalProperties": false,
            "required": ["path"],
        });
        assert_eq!(of::<Input>(), expected);
    }
}
