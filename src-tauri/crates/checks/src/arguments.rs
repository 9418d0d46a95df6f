//! Arguments from their written form, long or short, to the struct of a check.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use workspace::schema;

/// The schema of a check's arguments; `short` is the property that a bare value stands for.
pub(crate) fn schema<T: JsonSchema>(short: Option<&str>) -> Value {
    let mut schema = schema::of::<T>();
    if let (Value::Object(root), Some(short)) = (&mut schema, short) {
        root.insert("x-short".to_owned(), Value::from(short));
    }
    schema
}

/// The arguments, or why they cannot be read.
pub(crate) fn read<T: DeserializeOwned>(args: &Value, short: Option<&str>) -> Result<T, String> {
    T::deserialize(long(args, short)).map_err(|error| format!("its arguments do not fit: {error}"))
}

/// Where the arguments break their schema, in words, under the name of the check.
pub(crate) fn problems<T: JsonSchema>(name: &str, args: &Value, short: Option<&str>) -> Vec<String> {
    let schema = schema::of::<T>();
    let Ok(validator) = jsonschema::draft202012::new(&schema) else {
        return vec![format!("{name}: its schema cannot be read")];
    };
    let args = long(args, short);
    let problem = |error: jsonschema::ValidationError<'_>| {
        let place = error.instance_path().to_string().replace('/', ".");
        format!("{name}{place}: {error}")
    };
    let mut problems: Vec<String> = validator.iter_errors(&args).map(problem).collect();
    problems.sort();
    problems
}

/// What is wrong when a check takes no arguments; `exists`, `exists: {}` and `exists: true` are right.
pub(crate) fn none_expected(name: &str, args: &Value) -> Vec<String> {
    let nothing = match args {
        Value::Null | Value::Bool(true) => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(false) | Value::Number(_) | Value::String(_) | Value::Array(_) => false,
    };
    if nothing {
        Vec::new()
    } else {
        vec![format!("{name}: takes no arguments")]
    }
}

fn long(args: &Value, short: Option<&str>) -> Value {
    match (args, short) {
        (Value::Null, _) => Value::Object(Map::new()),
        (Value::Object(_), _) | (_, None) => args.clone(),
        (_, Some(short)) => Value::Object(Map::from_iter([(short.to_owned(), args.clone())])),
    }
}
