//! `matches`: a regular expression finds something. Only expressions that take linear time exist here.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::phrases::{quote, syntax};
use crate::texts::line_after;
use crate::{arguments, target};

const SHORT: Option<&str> = Some("pattern");

pub(crate) struct Matches;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A regular expression; ^ and $ stand for the beginning and the end of a line.
    #[schemars(title = "Pattern", length(min = 1))]
    pattern: String,
    /// Whether capital and small letters count as the same.
    #[serde(default)]
    #[schemars(title = "Ignore capital letters")]
    ignore_case: bool,
}

impl Args {
    fn regex(&self) -> Result<Regex, String> {
        let built = RegexBuilder::new(&self.pattern)
            .multi_line(true)
            .case_insensitive(self.ignore_case)
            .size_limit(1024 * 1024)
            .build();
        built.map_err(|error| syntax(&self.pattern, &error))
    }
}

#[async_trait]
impl Check for Matches {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "matches".to_owned(),
            title: "Matches a pattern".to_owned(),
            description: "A regular expression finds something in it.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("matches", args, SHORT);
        if !problems.is_empty() {
            return problems;
        }
        let regex = arguments::read::<Args>(args, SHORT).and_then(|args| args.regex());
        regex
            .err()
            .map(|problem| format!("matches: {problem}"))
            .into_iter()
            .collect()
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, SHORT)?;
    let regex = args.regex()?;
    let text = target::text(target, files).await?;
    Ok(match regex.find(&text) {
        Some(found) => {
            let line = text.get(..found.start()).map_or(1, line_after);
            let evidence = format!("{} in line {line}", quote(found.as_str()));
            CheckOutcome::pass(evidence, Value::from(quote(found.as_str()).trim_matches('"')))
        }
        None => CheckOutcome::fail(format!("nothing matches {}", quote(&args.pattern)), None),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn finds_a_line() {
        passes(
            &Matches,
            json!("^Total: \\d+$"),
            "# A\nTotal: 12\n",
            "\"Total: 12\" in line 2",
        )
        .await;
        fails(&Matches, json!("^total"), "Total: 12\n", "nothing matches \"^total\"").await;
        passes(
            &Matches,
            json!({"pattern": "^total", "ignore_case": true}),
            "Total",
            "\"Total\" in line 1",
        )
        .await;
    }

    #[tokio::test]
    async fn an_expression_that_explodes_elsewhere_is_quick() {
        let text = "a".repeat(50_000);
        fails(&Matches, json!("(a+)+$^b"), &text, "nothing matches \"(a+)+$^b\"").await;
    }

    #[test]
    fn says_what_is_wrong_with_an_expression() {
        let problems = Matches.problems(&json!("(a"));
        assert_eq!(
            problems,
            ["matches: \"(a\" is not a regular expression: unclosed group"]
        );
    }
}
