//! `contains`: a text, or every one of several, is in it.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::phrases::some_of;
use crate::texts::{self, Searched};
use crate::{arguments, target};

const SHORT: Option<&str> = Some("text");

pub(crate) struct Contains;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What must be in it, word for word. In a task file this may be a list; then all of them must be.
    #[schemars(title = "Text", schema_with = "texts::schema")]
    #[serde(deserialize_with = "texts::one_or_more")]
    text: Vec<String>,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[async_trait]
impl Check for Contains {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "contains".to_owned(),
            title: "Contains a text".to_owned(),
            description: "A text is in it, word for word.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("contains", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let text = Searched::new(target::text(target, files).await?, args.ignore_case);
    let (found, missing) = text.find_each(&args.text);
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        let evidence = format!("{} {verb} not in it", some_of(&missing, ", "));
        return Ok(CheckOutcome::fail(evidence, None));
    }
    Ok(CheckOutcome::pass(some_of(&found, ", "), None))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn finds_a_text_and_its_line() {
        passes(&Contains, json!("Total"), "a\nTotal: 3\n", "\"Total\" in line 2").await;
        fails(&Contains, json!("total"), "a\nTotal: 3\n", "\"total\" is not in it").await;
        passes(
            &Contains,
            json!({"text": "ŁÓDŹ", "ignore_case": true}),
            "Café Łódź",
            "\"ŁÓDŹ\" in line 1",
        )
        .await;
    }

    #[tokio::test]
    async fn wants_every_text_of_a_list() {
        passes(&Contains, json!(["a", "b"]), "a\nb", "\"a\" in line 1, \"b\" in line 2").await;
        fails(
            &Contains,
            json!({"text": ["a", "x", "y"]}),
            "a\nb",
            "\"x\", \"y\" are not in it",
        )
        .await;
    }
}
