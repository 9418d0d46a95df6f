//! `characters`: how long a text is, in characters as a reader counts them: an emoji or an accented letter is one.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;
use unicode_segmentation::UnicodeSegmentation;

use crate::bounds::{self, Count};
use crate::{arguments, phrases, target};

pub(crate) struct Characters;

#[async_trait]
impl Check for Characters {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "characters".to_owned(),
            title: "Length in characters".to_owned(),
            description: "It has at least or at most so many characters.".to_owned(),
            schema: arguments::schema::<Count>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        bounds::count_problems("characters", args)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bounds: Count = arguments::read(args, None)?;
    let characters = target::text(target, files).await?.graphemes(true).count();
    Ok(bounds.outcome(characters, phrases::count(characters, "character", "characters")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn counts_what_a_reader_sees_as_one() {
        passes(&Characters, json!({"min": 4, "max": 4}), "e\u{301}a👩‍👩‍👧b", "4 characters").await;
        passes(&Characters, json!({"max": 3}), "a\r\nb", "3 characters").await;
        fails(&Characters, json!({"max": 2}), "abc", "3 characters, at most 2 allowed").await;
    }
}
