//! `yaml`: it can be read as YAML, one document or several.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{arguments, phrases, target};

/// How deep a document may be nested.
const DEPTH: usize = 128;
/// As many values may be said again through aliases; a bomb of them wants billions.
const ALIASED: usize = 100_000;
/// More values than a file of the largest size that is read can hold.
const NODES: usize = 60_000_000;

pub(crate) struct Yaml;

#[async_trait]
impl Check for Yaml {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "yaml".to_owned(),
            title: "Is valid YAML".to_owned(),
            description: "It can be read as YAML.".to_owned(),
            schema: Value::Null,
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        arguments::none_expected("yaml", args)
    }

    async fn run(&self, _args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(target, files).await)
    }
}

async fn look(target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let text = target::text(target, files).await?;
    // Seconds of work for a large file: the runtime's other work goes on meanwhile.
    let read = tokio::task::spawn_blocking(move || read(&text)).await;
    Ok(match read.map_err(|_| "reading it ended unexpectedly")? {
        Ok(documents) => CheckOutcome::pass(phrases::count(documents, "document", "documents"), None),
        Err(reason) => CheckOutcome::fail(reason, None),
    })
}

/// Reads without keeping anything, so that a large file costs time and no memory.
fn read(text: &str) -> Result<usize, String> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: DEPTH,
            flow_nesting_limit: DEPTH,
            max_nodes: NODES,
            max_events: NODES,
            max_documents: 100_000,
            max_recorded_anchor_events: ALIASED,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: ALIASED },
        with_snippet: false,
    };
    let read = serde_saphyr::from_multiple_with_options::<IgnoredAny>(text, options);
    read.map(|documents| documents.len()).map_err(|error| {
        let said = error.without_snippet().to_string();
        let line = said.lines().next().unwrap_or_default();
        let reason = line
            .split(" at line ")
            .next()
            .unwrap_or(line)
            .trim_end_matches([':', '.']);
        match error.location() {
            Some(place) => format!("line {}, column {}: {reason}", place.line(), place.column()),
            None => reason.to_owned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{passes, run};

    #[tokio::test]
    async fn says_what_it_is() {
        passes(&Yaml, Value::Null, "a: 1\nb: [2]\n", "1 document").await;
        passes(&Yaml, Value::Null, "- 1\n- 2\n", "1 document").await;
        passes(&Yaml, Value::Null, "a: 1\n---\nb: 2\n", "2 documents").await;
    }

    #[tokio::test]
    async fn names_the_line_that_is_wrong() {
        let (pass, evidence) = run(&Yaml, Value::Null, "a: 1\nb: [2\n").await;
        assert!(!pass && evidence.starts_with("line "), "{evidence}");
        let (pass, evidence) = run(&Yaml, Value::Null, "a: 1\na: 2\n").await;
        assert!(!pass && evidence.contains("duplicate"), "{evidence}");
    }

    #[tokio::test]
    async fn a_bomb_of_aliases_ends_as_a_failure() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..30 {
            let last = format!("*a{}, ", level - 1).repeat(9);
            bomb.push_str(&format!("a{level}: &a{level} [{last}]\n"));
        }
        let (pass, evidence) = run(&Yaml, Value::Null, &bomb).await;
        assert!(!pass, "{evidence}");
    }
}
