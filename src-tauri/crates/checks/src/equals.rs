//! `equals`: it is this text and nothing else. Line ends at its end do not count: most programs write one.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::same_as::difference;
use crate::texts::fold;
use crate::{arguments, target};

const SHORT: Option<&str> = Some("text");

pub(crate) struct Equals;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// What it must be, word for word; line ends at its end do not count.
    #[schemars(title = "Text")]
    text: String,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

#[async_trait]
impl Check for Equals {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "equals".to_owned(),
            title: "Is exactly a text".to_owned(),
            description: "It is this text and nothing else.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("equals", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let text = target::text(target, files).await?;
    let folded = |text: &str| fold(text.trim_end_matches(['\r', '\n']), args.ignore_case);
    Ok(match difference(&folded(&text), &folded(&args.text)) {
        None => CheckOutcome::pass("word for word the same", None),
        Some(place) => CheckOutcome::fail(place, None),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn names_the_first_line_that_differs() {
        passes(&Equals, json!("42"), "42\n", "word for word the same").await;
        fails(&Equals, json!("a\nb"), "a\nc\n", "line 2 is \"c\", expected \"b\"").await;
        fails(&Equals, json!("a\nb"), "a", "line 2 is missing, expected \"b\"").await;
        fails(&Equals, json!("a"), "a\nb", "line 2 is \"b\", expected nothing more").await;
        passes(
            &Equals,
            json!({"text": "YES", "ignore_case": true}),
            "yes",
            "word for word the same",
        )
        .await;
        fails(&Equals, json!("a b"), "a  b", "line 1 is \"a  b\", expected \"a b\"").await;
    }
}
