//! `markdown`: what holds for a document in Markdown. `document` reads it; `links` looks where its links lead. Links to
//! the web are not followed.

mod document;
mod links;

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget, Subject};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use self::document::{Document, Heading};
use crate::bounds::Count;
use crate::phrases::{count, quote, some_of};
use crate::{arguments, target, texts};

pub(crate) struct Markdown;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// Headings that must be there, in this order. Signs in front set the level too: ## Summary.
    #[serde(default, deserialize_with = "texts::one_or_more")]
    #[schemars(title = "Headings", schema_with = "headings_schema")]
    headings: Vec<String>,
    /// Whether every link and image that leads to a file or a heading must find it.
    #[serde(default)]
    #[schemars(title = "Links lead somewhere")]
    links_resolve: bool,
    /// How many tables there are.
    #[schemars(title = "Number of tables")]
    tables: Option<Count>,
    /// How many blocks of code there are.
    #[schemars(title = "Number of code blocks")]
    code_blocks: Option<Count>,
}

fn headings_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["array", "string"], "items": { "type": "string", "minLength": 1 } })
}

#[async_trait]
impl Check for Markdown {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "markdown".to_owned(),
            title: "Is a document with".to_owned(),
            description: "Its headings, links, tables and code blocks are as described.".to_owned(),
            schema: arguments::schema::<Args>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("markdown", args, None);
        match arguments::read::<Args>(args, None) {
            Ok(args) if problems.is_empty() => args.problems(),
            _ => problems,
        }
    }

    async fn run(&self, args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, target, files).await)
    }
}

impl Args {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.headings.is_empty() && !self.links_resolve && self.tables.is_none() && self.code_blocks.is_none() {
            problems.push("markdown: say what should hold, such as headings or links_resolve".to_owned());
        }
        for (name, bounds) in [("tables", self.tables), ("code_blocks", self.code_blocks)] {
            let problem = bounds.and_then(Count::problem);
            problems.extend(problem.map(|problem| format!("markdown.{name}: {problem}")));
        }
        problems
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, None)?;
    let text = target::text(target, files).await?;
    // Seconds of work for a large file: the runtime's other work goes on meanwhile.
    let read = tokio::task::spawn_blocking(move || Document::read(&text)).await;
    let document = read.map_err(|_| "reading it ended unexpectedly")?;
    let mut findings = Vec::new();
    if !args.headings.is_empty() {
        findings.push(headings(&document.headings, &args.headings));
    }
    if args.links_resolve {
        let place = match &target.subject {
            Subject::File(path) => path.as_str(),
            Subject::Answer(_) => "",
        };
        findings.push(links::resolve(&document, place, files.as_ref()).await);
    }
    findings.extend(
        args.tables
            .map(|bounds| counted(bounds, document.tables, "table", "tables")),
    );
    let blocks = document.code_blocks;
    findings.extend(
        args.code_blocks
            .map(|bounds| counted(bounds, blocks, "code block", "code blocks")),
    );
    let observed = json!({
        "headings": document.headings.len(),
        "links": document.links.len(),
        "tables": document.tables,
        "code_blocks": document.code_blocks,
    });
    let wrong: Vec<String> = findings
        .iter()
        .filter_map(|finding| finding.as_ref().err().cloned())
        .collect();
    if !wrong.is_empty() {
        return Ok(CheckOutcome::fail(wrong.join("; "), observed));
    }
    let right: Vec<String> = findings.into_iter().flatten().collect();
    Ok(CheckOutcome::pass(right.join("; "), observed))
}

/// The expected headings are there, one after the other.
fn headings(found: &[Heading], expected: &[String]) -> Result<String, String> {
    let mut rest = found.iter();
    for wanted in expected {
        let (level, text) = document::written(wanted);
        let fits = |heading: &&Heading| heading.text == text && level.is_none_or(|level| level == heading.level);
        if rest.by_ref().any(|heading| fits(&heading)) {
            continue;
        }
        return Err(match found.iter().find(fits) {
            Some(heading) => format!("line {}: the heading {} comes too early", heading.line, quote(wanted)),
            None => match found.iter().find(|heading| heading.text == text) {
                Some(other) => format!(
                    "line {}: the heading {} is of level {}",
                    other.line,
                    quote(&text),
                    other.level
                ),
                None => format!("there is no heading {} (there {})", quote(wanted), these(found)),
            },
        });
    }
    Ok(match expected.len() {
        1 => "the heading is there".to_owned(),
        several => format!("all {several} headings are there"),
    })
}

fn these(found: &[Heading]) -> String {
    let names: Vec<String> = found.iter().map(|heading| quote(&heading.text)).collect();
    match names.len() {
        0 => "are none".to_owned(),
        1 => format!("is only {}", names.concat()),
        _ => format!("are {}", some_of(&names, ", ")),
    }
}

fn counted(bounds: Count, found: usize, one: &str, many: &str) -> Result<String, String> {
    let said = count(found, one, many);
    match bounds.broken_by(found) {
        Some(broken) => Err(format!("{said}, {broken}")),
        None => Ok(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{fails, passes, run, run_beside};

    const REPORT: &str = "# Report\n\n## Summary\nSee [data](data.csv), [risks](#the-risks) and \
        [the web](https://example.org).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode | no | table\n```\n\n## The risks\n";

    #[tokio::test]
    async fn headings_stand_in_their_order() {
        let args = |headings: Value| json!({ "headings": headings });
        passes(
            &Markdown,
            args(json!(["Summary", "The risks"])),
            REPORT,
            "all 2 headings are there",
        )
        .await;
        passes(&Markdown, args(json!("## Summary")), REPORT, "the heading is there").await;
        fails(
            &Markdown,
            args(json!(["The risks", "Summary"])),
            REPORT,
            "line 3: the heading \"Summary\" comes too early",
        )
        .await;
        fails(
            &Markdown,
            args(json!(["# Summary"])),
            REPORT,
            "line 3: the heading \"Summary\" is of level 2",
        )
        .await;
        fails(
            &Markdown,
            args(json!(["Costs"])),
            "# A\n",
            "there is no heading \"Costs\" (there is only \"A\")",
        )
        .await;
        fails(
            &Markdown,
            args(json!(["A"])),
            "```\n# A\n```",
            "there is no heading \"A\" (there are none)",
        )
        .await;
    }

    #[tokio::test]
    async fn links_lead_to_files_and_headings() {
        let args = json!({"links_resolve": true});
        let found = run_beside(&Markdown, args.clone(), REPORT, &[("data.csv", "a\n")]).await;
        assert_eq!(
            found,
            (
                true,
                "2 links lead somewhere (1 to the web was not followed)".to_owned()
            )
        );
        fails(
            &Markdown,
            args.clone(),
            REPORT,
            "line 4: the link to \"data.csv\" leads nowhere (1 to the web was not followed)",
        )
        .await;
        for (text, evidence) in [
            ("[a](#nowhere)", "line 1: the link to \"#nowhere\" leads nowhere"),
            (
                "\n![a](../../x.png)",
                "line 2: the link to \"../../x.png\" leads out of the working folder",
            ),
            ("[a][missing]", "line 1: the link to \"missing\" leads nowhere"),
        ] {
            let (pass, found) = run(&Markdown, args.clone(), text).await;
            assert_eq!((pass, found.as_str()), (false, evidence), "{text}");
        }
        for text in [
            "[ ] open",
            "[a](it)",
            "[a](it#x)",
            "[a](./it?raw)",
            "<a id=\"x\"></a>[a](#x)",
            "# A b!\n# A b\n[a](#a-b-1)",
        ] {
            let (pass, found) = run(&Markdown, args.clone(), text).await;
            assert!(pass, "{text}: {found}");
        }
    }

    #[tokio::test]
    async fn counts_tables_and_blocks_of_code() {
        let args = json!({"tables": {"min": 1, "max": 1}, "code_blocks": {"min": 1}});
        passes(&Markdown, args, REPORT, "1 table; 1 code block").await;
        let args = json!({"tables": {"min": 2}, "code_blocks": {"max": 0}});
        let evidence = "1 table, at least 2 expected; 1 code block, at most 0 allowed";
        fails(&Markdown, args, REPORT, evidence).await;
    }
}
