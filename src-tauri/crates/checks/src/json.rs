//! `json`: it can be read as JSON.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;

use crate::{arguments, phrases, target};

pub(crate) struct Json;

#[async_trait]
impl Check for Json {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "json".to_owned(),
            title: "Is valid JSON".to_owned(),
            description: "It can be read as JSON.".to_owned(),
            schema: Value::Null,
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::none_expected("json", args)
    }

    async fn run(&self, _args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(target, files).await)
    }
}

async fn look(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let text = target::text(target, files).await?;
    Ok(match serde_json::from_str::<Value>(&text) {
        Ok(value) => CheckOutcome::pass(shape(&value), None),
        Err(error) => CheckOutcome::fail(target::syntax_error(&error), None),
    })
}

/// What a value is, in words.
pub(crate) fn shape(value: &Value) -> String {
    match value {
        Value::Object(fields) => format!("an object with {}", phrases::count(fields.len(), "field", "fields")),
        Value::Array(items) => format!("a list of {}", phrases::count(items.len(), "item", "items")),
        Value::String(_) => "a text".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "true or false".to_owned(),
        Value::Null => "null".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn tells_json_from_what_only_resembles_it() {
        passes(&Json, Value::Null, "[{\"a\": 1}]", "a list of 1 item").await;
        passes(&Json, Value::Null, "{\"a\": 1, \"b\": 2}", "an object with 2 fields").await;
        fails(
            &Json,
            Value::Null,
            "{\n  a: 1\n}",
            "line 2, column 3: key must be a string",
        )
        .await;
    }
}
