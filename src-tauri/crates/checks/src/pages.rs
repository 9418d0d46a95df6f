//! `pages`: how many pages a document has. A Word document says it itself, when the program that wrote it counted them.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;

use crate::bounds::{self, Count};
use crate::{arguments, opened, phrases, target};

pub(crate) struct Pages;

#[async_trait]
impl Check for Pages {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "pages".to_owned(),
            title: "Number of pages".to_owned(),
            description: "It is a PDF or a Word document of at least or at most so many pages.".to_owned(),
            schema: arguments::schema::<Count>(None),
            needs_file: true,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        bounds::count_problems("pages", args)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bounds: Count = arguments::read(args, None)?;
    let facts = opened::facts(target, files).await?;
    let unknown = || {
        format!(
            "it is {}, and how many pages it has is not in the file",
            facts.format.words()
        )
    };
    let pages = facts.pages.ok_or_else(unknown)?;
    let pages = usize::try_from(pages).unwrap_or(usize::MAX);
    Ok(bounds.outcome(pages, phrases::count(pages, "page", "pages")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::run_on_document;

    #[tokio::test]
    async fn counts_pages_where_a_file_has_any() {
        let check = async |args: Value, bytes: &[u8]| run_on_document(&Pages, args, bytes).await;
        let three = b"%PDF-1.7 of 3 pages";
        assert_eq!(check(json!({"min": 3}), three).await, (true, "3 pages".to_owned()));
        assert_eq!(
            check(json!({"max": 2}), three).await,
            (false, "3 pages, at most 2 allowed".to_owned())
        );
        assert_eq!(
            check(json!({"max": 2}), b"PK\x03\x04 a workbook").await.1,
            "the check could not run: it is an Excel workbook, and how many pages it has is not in the file"
        );
    }
}
