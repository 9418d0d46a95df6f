//! `starts_with`: a text is its beginning.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::phrases::quote;
use crate::texts::fold;
use crate::{arguments, target};

const SHORT: Option<&str> = Some("text");

pub(crate) struct StartsWith;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// How it must begin, word for word.
    #[schemars(title = "Text", length(min = 1))]
    text: String,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[async_trait]
impl Check for StartsWith {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "starts_with".to_owned(),
            title: "Starts with a text".to_owned(),
            description: "It begins with a text, word for word.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("starts_with", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let text = target::text(target, files).await?;
    let beginning: String = text.chars().take(args.text.chars().count()).collect();
    // A letter may be folded into several, so the beginnings are compared after folding both.
    let holds = fold(&text, args.ignore_case).starts_with(&fold(&args.text, args.ignore_case));
    let observed = Value::from(beginning.as_str());
    Ok(if holds {
        CheckOutcome::pass(format!("it starts with {}", quote(&beginning)), observed)
    } else if text.is_empty() {
        CheckOutcome::fail("it is empty", observed)
    } else {
        CheckOutcome::fail(
            format!("it starts with {}, not with {}", quote(&beginning), quote(&args.text)),
            observed,
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn looks_at_the_beginning_only() {
        passes(&StartsWith, json!("# "), "# Report\n", "it starts with \"#\"").await;
        fails(
            &StartsWith,
            json!("Report"),
            "# Report",
            "it starts with \"# Repo\", not with \"Report\"",
        )
        .await;
        fails(&StartsWith, json!("a"), "", "it is empty").await;
        let folded = json!({"text": "ÉTÉ", "ignore_case": true});
        passes(&StartsWith, folded, "Été 2026", "it starts with \"Été\"").await;
    }
}
