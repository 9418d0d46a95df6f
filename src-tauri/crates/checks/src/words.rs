//! `words`: how long a text is, in words as Unicode counts them.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::bounds::{self, Count};
use crate::{arguments, phrases, target};

pub(crate) struct Words;

#[async_trait]
impl Check for Words {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "words".to_owned(),
            title: "Length in words".to_owned(),
            description: "It has at least or at most so many words.".to_owned(),
            schema: arguments::schema::<Count>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        bounds::count_problems("words", args)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bounds: Count = arguments::read(args, None)?;
    let words = target::text(target, files).await?.unicode_words().count();
    let evidence = phrases::count(words, "word", "words");
    Ok(bounds.outcome(words, evidence))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes, run_on_document};

    #[tokio::test]
    async fn counts_words_and_not_signs() {
        passes(&Words, json!({"max": 4}), "## Zoë's café — 3.5\n\n| --- |", "3 words").await;
        passes(&Words, json!({"min": 3, "max": 3}), "one two three", "3 words").await;
        fails(&Words, json!({"max": 2}), "one two three", "3 words, at most 2 allowed").await;
        fails(&Words, json!({"min": 2}), "one", "1 word, at least 2 expected").await;
    }

    #[tokio::test]
    async fn counts_what_is_written_in_a_document_and_not_its_page_numbers() {
        let found = run_on_document(&Words, json!({"max": 9}), b"%PDF-1.7 of 3 pages").await;
        assert_eq!(found, (true, "5 words".to_owned()));
    }

    #[tokio::test]
    async fn counts_words_where_there_are_no_spaces() {
        passes(&Words, json!({"min": 2}), "你好世界", "4 words").await;
    }
}
