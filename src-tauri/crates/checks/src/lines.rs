//! `lines`: how long a text is, in lines as Unicode ends them (UAX 14, mandatory breaks). The end of the last line
//! begins no other.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde_json::Value;

use crate::bounds::{self, Count};
use crate::{arguments, phrases, target};

pub(crate) struct Lines;

#[async_trait]
impl Check for Lines {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "lines".to_owned(),
            title: "Length in lines".to_owned(),
            description: "It has at least or at most so many lines.".to_owned(),
            schema: arguments::schema::<Count>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        bounds::count_problems("lines", args)
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let bounds: Count = arguments::read(args, None)?;
    let lines = lines(&target::text(target, files).await?);
    Ok(bounds.outcome(lines, phrases::count(lines, "line", "lines")))
}

fn lines(text: &str) -> usize {
    let mut lines = 0;
    let (mut open, mut after_return) = (false, false);
    for sign in text.chars() {
        let ends = matches!(
            sign,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
        );
        // A line feed after a carriage return belongs to the same end.
        if ends && !(sign == '\n' && after_return) {
            lines += 1;
        }
        open = !ends;
        after_return = sign == '\r';
    }
    lines + usize::from(open)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::{fails, passes};

    #[tokio::test]
    async fn counts_every_kind_of_line_end() {
        passes(&Lines, json!({"min": 0, "max": 0}), "", "0 lines").await;
        passes(&Lines, json!({"max": 1}), "one", "1 line").await;
        passes(&Lines, json!({"max": 1}), "one\n", "1 line").await;
        let every = "1\n2\r\n3\r4\u{b}5\u{c}6\u{85}7\u{2028}8\u{2029}9";
        passes(&Lines, json!({"min": 9, "max": 9}), every, "9 lines").await;
        passes(&Lines, json!({"min": 3}), "a\n\nb", "3 lines").await;
        fails(&Lines, json!({"max": 1}), "a\nb", "2 lines, at most 1 allowed").await;
    }
}
