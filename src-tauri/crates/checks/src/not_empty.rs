//! `not_empty`: something is in it.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::{Files, FilesError};
use serde_json::Value;
use workspace::table::LIMIT;

use crate::{arguments, phrases, target};

pub(crate) struct NotEmpty;

#[async_trait]
impl Check for NotEmpty {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "not_empty".to_owned(),
            title: "Has content".to_owned(),
            description: "There is something in it besides spaces and empty lines.".to_owned(),
            schema: Value::Null,
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::none_expected("not_empty", args)
    }

    async fn run(&self, _args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(target, files).await)
    }
}

async fn look(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bytes = match &target.subject {
        Subject::Answer(answer) => answer.clone().into_bytes(),
        Subject::File(path) => match files.read(path, LIMIT).await {
            Ok(bytes) => bytes,
            // Whatever is in there, it is something.
            Err(FilesError::TooLarge { size, .. }) => {
                let size = usize::try_from(size).unwrap_or(usize::MAX);
                return Ok(CheckOutcome::pass(
                    phrases::count(size, "byte", "bytes"),
                    Value::from(size),
                ));
            }
            Err(error) => return Err(error.to_string()),
        },
    };
    let size = Value::from(bytes.len());
    Ok(if bytes.is_empty() {
        CheckOutcome::fail("it is empty", size)
    } else if String::from_utf8_lossy(&bytes)
        .trim_matches(|sign: char| sign.is_whitespace() || sign == '\u{feff}')
        .is_empty()
    {
        CheckOutcome::fail("it holds only spaces and empty lines", size)
    } else {
        CheckOutcome::pass(phrases::count(bytes.len(), "byte", "bytes"), size)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{fails, passes, run_on_nothing};

    #[tokio::test]
    async fn tells_content_from_none() {
        passes(&NotEmpty, Value::Null, "abc", "3 bytes").await;
        fails(&NotEmpty, Value::Null, "", "it is empty").await;
        fails(&NotEmpty, Value::Null, " \n\n", "it holds only spaces and empty lines").await;
        assert!(
            run_on_nothing(&NotEmpty, Value::Null)
                .await
                .starts_with("the check could not run: there is no file")
        );
    }
}
