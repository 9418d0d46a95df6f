//! `contains_any`: at least one of several texts is in it.

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

pub(crate) struct ContainsAny;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The texts of which at least one must be in it, word for word.
    #[schemars(title = "One of", schema_with = "texts::list_schema")]
    #[serde(deserialize_with = "texts::one_or_more")]
    text: Vec<String>,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[async_trait]
impl Check for ContainsAny {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "contains_any".to_owned(),
            title: "Contains one of several texts".to_owned(),
            description: "At least one of these texts is in it, word for word.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("contains_any", args, SHORT)
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
        false => CheckOutcome::pass(some_of(&found, ", "), None),
        true => CheckOutcome::fail(format!("none of {} is in it", some_of(&missing, ", ")), None),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn one_of_them_is_enough() {
        passes(&ContainsAny, json!(["x", "b"]), "a\nb", "\"b\" in line 2").await;
        fails(&ContainsAny, json!(["x", "y"]), "a\nb", "none of \"x\", \"y\" is in it").await;
        let folded = json!({"text": ["TOTAL", "SUM"], "ignore_case": true});
        passes(&ContainsAny, folded, "the sum", "\"SUM\" in line 1").await;
    }
}
