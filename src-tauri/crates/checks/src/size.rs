//! `size`: how large it is, in bytes.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::{FileKind, Files, FilesError};
use serde_json::Value;

use crate::bounds::{self, Count};
use crate::{arguments, phrases, target};

pub(crate) struct Size;

#[async_trait]
impl Check for Size {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "size".to_owned(),
            title: "Size in bytes".to_owned(),
            description: "It is at least or at most so many bytes large.".to_owned(),
            schema: arguments::schema::<Count>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        bounds::count_problems("size", args)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bounds: Count = arguments::read(args, None)?;
    let bytes = match &target.subject {
        Subject::Answer(answer) => answer.len(),
        Subject::File(path) => match files.stat(path).await.map_err(|error| error.to_string())? {
            Some((FileKind::File, size)) => usize::try_from(size).unwrap_or(usize::MAX),
            Some((FileKind::Folder | FileKind::Other, _)) => return Err(format!("\"{path}\" is not a file")),
            None => return Err(FilesError::NotFound(path.clone()).to_string()),
        },
    };
    Ok(bounds.outcome(bytes, phrases::count(bytes, "byte", "bytes")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn counts_bytes_and_not_letters() {
        passes(&Size, json!({"min": 2, "max": 2}), "é", "2 bytes").await;
        fails(&Size, json!({"min": 3}), "é", "2 bytes, at least 3 expected").await;
        fails(&Size, json!({"max": 1}), "é", "2 bytes, at most 1 allowed").await;
        let nothing = crate::test_place::run_on_nothing(&Size, json!({"max": 9})).await;
        assert!(
            nothing.starts_with("the check could not run: there is no file"),
            "{nothing}"
        );
    }
}
