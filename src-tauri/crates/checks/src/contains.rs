//! `contains`: a text, or every one of several, is in it.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::phrases::{quote, some_of};
use crate::{arguments, target};

const SHORT: Option<&str> = Some("text");

pub(crate) struct Contains;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What must be in it, word for word. In a task file this may be a list; then all of them must be.
    #[schemars(title = "Text", schema_with = "text_schema")]
    text: OneOrMore,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

fn text_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "array"],
        "minLength": 1,
        "minItems": 1,
        "items": { "type": "string", "minLength": 1 }
    })
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
    let wanted = match args.text {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    };
    let fold = |text: &str| {
        if args.ignore_case {
            text.to_lowercase()
        } else {
            text.to_owned()
        }
    };
    let text = fold(&target::text(target, files).await?);
    let place = |wanted: &String| text.find(&fold(wanted)).map(|at| text[..at].matches('\n').count() + 1);
    let missing: Vec<String> = wanted
        .iter()
        .filter(|wanted| place(wanted).is_none())
        .map(|text| quote(text))
        .collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        return Ok(CheckOutcome::fail(
            format!("{} {verb} not in it", some_of(&missing, ", ")),
            None,
        ));
    }
    let found: Vec<String> = wanted
        .iter()
        .filter_map(|wanted| place(wanted).map(|line| format!("{} in line {line}", quote(wanted))))
        .collect();
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
