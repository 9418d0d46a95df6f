//! `not_contains`: a text, or any of several, is not in it.

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

pub(crate) struct NotContains;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What must not be in it, word for word. In a task file this may be a list; then none of them may be.
    #[schemars(title = "Text", schema_with = "texts::schema")]
    #[serde(deserialize_with = "texts::one_or_more")]
    text: Vec<String>,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[async_trait]
impl Check for NotContains {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "not_contains".to_owned(),
            title: "Does not contain a text".to_owned(),
            description: "A text is nowhere in it.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("not_contains", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let text = Searched::new(target::text(target, files).await?, args.ignore_case);
    let (found, missing) = text.find_each(&args.text);
    Ok(match found.is_empty() {
        true => CheckOutcome::pass(format!("nowhere in it: {}", some_of(&missing, ", ")), None),
        false => CheckOutcome::fail(some_of(&found, ", "), None),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes, run_on_nothing};

    #[tokio::test]
    async fn names_the_line_of_what_must_not_be_there() {
        passes(&NotContains, json!("TODO"), "a\nb", "nowhere in it: \"TODO\"").await;
        fails(&NotContains, json!("TODO"), "a\nTODO b", "\"TODO\" in line 2").await;
        let folded = json!({"text": ["tbd", "todo"], "ignore_case": true});
        fails(&NotContains, folded, "a\nTODO b", "\"todo\" in line 2").await;
    }

    #[tokio::test]
    async fn a_file_that_is_not_there_does_not_pass() {
        let evidence = run_on_nothing(&NotContains, json!("TODO")).await;
        assert!(evidence.starts_with("the check could not run: "), "{evidence}");
    }
}
