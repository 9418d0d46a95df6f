//! `exists`: the file is there.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::{FileKind, Files};
use serde_json::Value;

use crate::{arguments, phrases, target};

pub(crate) struct Exists;

#[async_trait]
impl Check for Exists {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "exists".to_owned(),
            title: "Is there".to_owned(),
            description: "The file is there.".to_owned(),
            schema: Value::Null,
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::none_expected("exists", args)
    }

    async fn run(&self, _args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(target, files).await)
    }
}

async fn look(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let Subject::File(path) = &target.subject else {
        return Ok(CheckOutcome::pass("there is an answer", None));
    };
    Ok(match files.stat(path).await.map_err(|error| error.to_string())? {
        Some((FileKind::File, size)) => {
            let bytes = phrases::count(usize::try_from(size).unwrap_or(usize::MAX), "byte", "bytes");
            CheckOutcome::pass(format!("\"{path}\" is there, {bytes}"), Value::from(size))
        }
        Some((FileKind::Folder | FileKind::Other, _)) => CheckOutcome::fail(format!("\"{path}\" is not a file"), None),
        None => CheckOutcome::fail(format!("there is no file \"{path}\""), None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{passes, run_on_nothing};

    #[tokio::test]
    async fn tells_a_file_from_none() {
        passes(&Exists, Value::Null, "abc", "\"it\" is there, 3 bytes").await;
        assert_eq!(run_on_nothing(&Exists, Value::Null).await, "there is no file \"it\"");
    }
}
