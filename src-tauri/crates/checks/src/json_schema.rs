//! `json_schema`: JSON that fits a JSON Schema, which stands in the task or in a file. A schema refers to nothing but
//! itself, and its patterns take linear time.

mod rules;

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::json::shape;
use crate::phrases::{self, some_of};
use crate::{arguments, target};

const SHORT: Option<&str> = Some("file");
/// More wrong places than this are counted and not told.
const TOLD: usize = 100;

pub(crate) struct JsonSchemaCheck;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A JSON file in the working folder that holds the schema.
    #[schemars(title = "File with the schema", length(min = 1))]
    file: Option<String>,
    /// The schema itself.
    #[schemars(title = "Schema")]
    schema: Option<Map<String, Value>>,
}

/// `json_schema: { type: object }` is the schema itself.
fn long(args: &Value) -> Value {
    match args {
        Value::Object(fields) if !fields.keys().all(|key| key == "file" || key == "schema") => {
            Value::Object(Map::from_iter([("schema".to_owned(), args.clone())]))
        }
        _ => args.clone(),
    }
}

#[async_trait]
impl Check for JsonSchemaCheck {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "json_schema".to_owned(),
            title: "Fits a JSON Schema".to_owned(),
            description: "It is JSON that fits a JSON Schema.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let args = long(args);
        let problems = arguments::problems::<Args>("json_schema", &args, SHORT);
        let Ok(args) = arguments::read::<Args>(&args, SHORT) else {
            return problems;
        };
        let problem = match (args.file, args.schema) {
            (None, None) => Some("write the schema, or the name of a file that holds it".to_owned()),
            (Some(_), Some(_)) => Some("write either schema or file".to_owned()),
            (Some(_), None) => None,
            (None, Some(schema)) => rules::compile(&Value::Object(schema)).err(),
        };
        let problem = problem.map(|problem| format!("json_schema: {problem}"));
        problems.into_iter().chain(problem).collect()
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(&long(args), SHORT)?;
    let schema = match (args.file, args.schema) {
        (Some(path), _) => {
            let text = target::text_of(&path, files).await?;
            serde_json::from_str(&text)
                .map_err(|error| format!("the schema in \"{path}\" is not JSON: {}", target::syntax_error(&error)))?
        }
        (None, schema) => Value::Object(schema.unwrap_or_default()),
    };
    let validator = rules::compile(&schema)?;
    let value = target::json(target, files).await?;
    // Seconds of work for a large file: the runtime's other work goes on meanwhile.
    let looked = tokio::task::spawn_blocking(move || judge(&validator, &value)).await;
    looked.map_err(|_| "looking at it ended unexpectedly".to_owned())
}

fn judge(validator: &jsonschema::Validator, value: &Value) -> CheckOutcome {
    let wrong: Vec<String> = validator
        .iter_errors(value)
        .take(TOLD)
        .map(|error| in_words(&error))
        .collect();
    if wrong.is_empty() {
        CheckOutcome::pass(format!("{} that fits", shape(value)), None)
    } else {
        CheckOutcome::fail(some_of(&wrong, "; "), None)
    }
}

fn in_words(error: &jsonschema::ValidationError<'_>) -> String {
    let mut place = String::from("$");
    for part in error.instance_path().to_string().split('/').skip(1) {
        match part.parse::<u64>() {
            Ok(index) => place.push_str(&format!("[{index}]")),
            Err(_) => place.push_str(&format!(".{part}")),
        }
    }
    format!("{place}: {}", phrases::shortened(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes, run_beside};

    fn schema() -> Value {
        json!({
            "type": "object",
            "required": ["items"],
            "properties": { "items": { "type": "array", "items": { "$ref": "#/$defs/item" } } },
            "$defs": { "item": { "type": "object", "properties": { "id": { "type": "integer" } } } }
        })
    }

    #[tokio::test]
    async fn names_the_place_that_does_not_fit() {
        passes(
            &JsonSchemaCheck,
            schema(),
            r#"{"items": [{"id": 1}]}"#,
            "an object with 1 field that fits",
        )
        .await;
        fails(
            &JsonSchemaCheck,
            json!({ "schema": schema() }),
            r#"{"items": [{"id": 1}, {"id": "two"}]}"#,
            "$.items[1].id: \"two\" is not of type \"integer\"",
        )
        .await;
        fails(&JsonSchemaCheck, schema(), "{}", "$: \"items\" is a required property").await;
    }

    #[tokio::test]
    async fn the_schema_may_stand_in_a_file() {
        let file = schema().to_string();
        let found = run_beside(
            &JsonSchemaCheck,
            json!("s.json"),
            r#"{"items": []}"#,
            &[("s.json", &file)],
        )
        .await;
        assert_eq!(found, (true, "an object with 1 field that fits".to_owned()));
        let found = run_beside(&JsonSchemaCheck, json!("s.json"), "{}", &[("s.json", "{")]).await;
        assert!(found.1.contains("the schema in \"s.json\" is not JSON"), "{}", found.1);
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let problem = |schema: Value| JsonSchemaCheck.problems(&schema).join("; ");
        assert_eq!(problem(schema()), "");
        assert!(problem(json!({})).contains("write the schema"));
        assert!(
            problem(json!({"type": "objekt"})).contains("not a JSON Schema"),
            "{}",
            problem(json!({"type": "objekt"}))
        );
        assert!(problem(json!({"typ": "object"})).contains("\"typ\" is not a word of JSON Schema"));
        for outside in ["https://example.org/s.json", "file:///etc/passwd", "other.json#/a"] {
            assert!(
                problem(json!({"$ref": outside})).contains("refers to nothing but itself"),
                "{outside}"
            );
        }
    }

    #[test]
    fn a_schema_that_never_ends_is_refused() {
        let problem = |schema: Value| JsonSchemaCheck.problems(&schema).join("; ");
        let round = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}});
        assert!(problem(round).contains("leads back to itself"));
        let mut bomb = Map::from_iter([("x0".to_owned(), json!({"type": "object"}))]);
        for level in 1..40 {
            let below = json!({"$ref": format!("#/$defs/x{}", level - 1)});
            bomb.insert(format!("x{level}"), json!({"allOf": [below, below]}));
        }
        assert!(problem(json!({"$ref": "#/$defs/x39", "$defs": bomb})).contains("too many rules"));
        let tree = json!({"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
        assert_eq!(problem(tree), "");
    }
}
