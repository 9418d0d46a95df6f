//! `same_as`: byte for byte what another file is.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::{Files, FilesError};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use workspace::table::LIMIT;
use workspace::text;

use crate::phrases::quote;
use crate::{arguments, target};

const SHORT: Option<&str> = Some("path");

pub(crate) struct SameAs;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The other file, in the working folder.
    #[schemars(title = "File", length(min = 1))]
    path: String,
}

#[async_trait]
impl Check for SameAs {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "same_as".to_owned(),
            title: "Is the same as another file".to_owned(),
            description: "It holds exactly what another file holds.".to_owned(),
            schema: arguments::schema::<Args>(SHORT),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::problems::<Args>("same_as", args, SHORT)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let Args { path } = arguments::read(args, SHORT)?;
    if let Subject::File(it) = &target.subject {
        let hash = async |path: &str| files.hash(path).await.map_err(|error| error.to_string());
        let missing = |path: &str| FilesError::NotFound(path.to_owned()).to_string();
        let (found, expected) = (hash(it).await?, hash(&path).await?);
        let (found, expected) = (
            found.ok_or_else(|| missing(it))?,
            expected.ok_or_else(|| missing(&path))?,
        );
        if found == expected {
            return Ok(CheckOutcome::pass(format!("the same as \"{path}\""), None));
        }
    }
    let expected = files.read(&path, LIMIT).await.map_err(|error| error.to_string())?;
    let found = match &target.subject {
        Subject::File(it) => files.read(it, LIMIT).await.map_err(|error| error.to_string())?,
        Subject::Answer(answer) => answer.clone().into_bytes(),
    };
    if found == expected {
        return Ok(CheckOutcome::pass(format!("the same as \"{path}\""), None));
    }
    let in_words = match (text::guess(&found), text::guess(&expected)) {
        (Ok(found), Ok(expected)) => difference(&found, &expected),
        _ => None,
    };
    let evidence = in_words.unwrap_or_else(|| {
        let alike = found.iter().zip(&expected).take_while(|(left, right)| left == right);
        format!("different from byte {} on", alike.count() + 1)
    });
    Ok(CheckOutcome::fail(
        format!("not the same as \"{path}\": {evidence}"),
        None,
    ))
}

/// The first line that differs, in words; none when the texts are equal.
pub(crate) fn difference(found: &str, expected: &str) -> Option<String> {
    if found == expected {
        return None;
    }
    let (mut found, mut expected) = (found.split('\n'), expected.split('\n'));
    (1_u64..).find_map(|line| match (found.next(), expected.next()) {
        (Some(found), Some(expected)) if found == expected => None,
        (Some(found), Some(expected)) => {
            let spaces = found.trim() == expected.trim();
            let note = if spaces { " (spaces or the line end differ)" } else { "" };
            Some(format!(
                "line {line} is {}, expected {}{note}",
                quote(found),
                quote(expected)
            ))
        }
        (None, Some(expected)) => Some(format!("line {line} is missing, expected {}", quote(expected))),
        (Some(found), None) => Some(format!("line {line} is {}, expected nothing more", quote(found))),
        (None, None) => Some("they differ".to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::run_beside;

    async fn check(text: &str, other: &str, pass: bool, evidence: &str) {
        let found = run_beside(&SameAs, json!("other"), text, &[("other", other)]).await;
        assert_eq!(found, (pass, evidence.to_owned()));
    }

    #[tokio::test]
    async fn compares_every_byte() {
        check("a\nb\n", "a\nb\n", true, "the same as \"other\"").await;
        check(
            "a\nb\n",
            "a\nc\n",
            false,
            "not the same as \"other\": line 2 is \"b\", expected \"c\"",
        )
        .await;
        check(
            "a\r\n",
            "a\n",
            false,
            "not the same as \"other\": line 1 is \"a\", expected \"a\" (spaces or the line end differ)",
        )
        .await;
        check(
            "a\0b",
            "a\0c",
            false,
            "not the same as \"other\": different from byte 3 on",
        )
        .await;
    }

    #[tokio::test]
    async fn fails_when_the_other_is_not_there() {
        let (pass, evidence) = run_beside(&SameAs, json!("nowhere"), "x", &[]).await;
        assert!(!pass && evidence.contains("there is no file"), "{evidence}");
    }
}
