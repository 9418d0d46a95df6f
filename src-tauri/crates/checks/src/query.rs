//! `query`: what is computed from files equals a value, or what is computed from other files.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use workspace::query::{Queried, SkippedLine, ask};
use workspace::sql;
use workspace::table::Cell;

use crate::{TOLERANCE, arguments, phrases, target};

pub(crate) struct Query;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// A name for each CSV, JSON or xlsx file that the query asks, with the file's path; of a workbook the first sheet,
    /// or the one named behind it as in may.xlsx#Sums.
    #[schemars(title = "Files", extend("minProperties" = 1))]
    files: BTreeMap<String, String>,
    /// One SELECT in SQL, with the names above as tables.
    #[schemars(title = "Query", length(min = 1))]
    sql: String,
    /// The value that it must return, or another query that must return the same.
    #[schemars(title = "Equals", schema_with = "equals_schema")]
    equals: Equals,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Equals {
    Query(Other),
    Value(Value),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Other {
    /// The files of this query; the same as above when there are none.
    #[schemars(title = "Files", extend("minProperties" = 1))]
    files: Option<BTreeMap<String, String>>,
    /// One SELECT in SQL.
    #[schemars(title = "Query", length(min = 1))]
    sql: String,
}

fn equals_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let other = generator.subschema_for::<Other>();
    schemars::json_schema!({
        "anyOf": [
            { "title": "A value", "type": ["number", "string", "boolean"] },
            other
        ]
    })
}

#[async_trait]
impl Check for Query {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "query".to_owned(),
            title: "Numbers agree".to_owned(),
            description: "What is computed from files equals a value, or what is computed from other files.".to_owned(),
            schema: arguments::schema::<Args>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("query", args, None);
        let Ok(args) = arguments::read::<Args>(args, None) else {
            return problems;
        };
        let mut problems = problems;
        let mut look = |place: &str, sql: &str, files: &BTreeMap<String, String>| {
            let tables: Vec<&str> = files.keys().map(String::as_str).collect();
            problems.extend(sql::problem(sql, &tables).map(|problem| format!("{place}: {problem}")));
        };
        look("query.sql", &args.sql, &args.files);
        if let Equals::Query(other) = &args.equals {
            look(
                "query.equals.sql",
                &other.sql,
                other.files.as_ref().unwrap_or(&args.files),
            );
        }
        problems
    }

    async fn run(&self, args: &Value, _target: &CheckTarget, files: &Arc<dyn Files>) -> CheckOutcome {
        target::settled(look(args, files).await)
    }
}

async fn look(args: &Value, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, None)?;
    let found = ask(files, &args.files, &args.sql)
        .await
        .map_err(|error| error.to_string())?;
    Ok(match &args.equals {
        Equals::Value(value) => compare_value(&found, value),
        Equals::Query(other) => {
            let sources = other.files.as_ref().unwrap_or(&args.files);
            let expected = ask(files, sources, &other.sql).await;
            compare_answers(&found, &expected.map_err(|error| format!("the second query: {error}"))?)
        }
    })
}

fn compare_value(found: &Queried, expected: &Value) -> CheckOutcome {
    let [row] = found.answer.rows.as_slice() else {
        return CheckOutcome::fail(
            format!("the query returns {} where one value is expected", extent(found)),
            None,
        );
    };
    let [cell] = row.as_slice() else {
        return CheckOutcome::fail(
            format!("the query returns {} where one value is expected", extent(found)),
            None,
        );
    };
    let expected = Cell::of(expected);
    let observed = cell.to_json();
    if same(cell, &expected) {
        return CheckOutcome::pass(format!("{}{}", shown(cell), left_out(&found.skipped)), observed);
    }
    let evidence = format!(
        "{}, expected {}{}",
        shown(cell),
        shown(&expected),
        left_out(&found.skipped)
    );
    CheckOutcome::fail(evidence, observed)
}

fn compare_answers(found: &Queried, expected: &Queried) -> CheckOutcome {
    let observed = observed(found);
    let mut skipped = found.skipped.clone();
    skipped.extend(
        expected
            .skipped
            .iter()
            .filter(|line| !found.skipped.contains(line))
            .cloned(),
    );
    let note = left_out(&skipped);
    if extent(found) != extent(expected) {
        let evidence = format!("{} and {}{note}", extent(found), extent(expected));
        return CheckOutcome::fail(evidence, observed);
    }
    let rows = || found.answer.rows.iter().zip(&expected.answer.rows);
    let single = found.answer.rows.len() == 1 && found.answer.columns.len() == 1;
    for (number, (left, right)) in (1..).zip(rows()) {
        for ((left, right), column) in left.iter().zip(right).zip(&found.answer.columns) {
            if !same(left, right) {
                let place = if single {
                    String::new()
                } else {
                    format!("row {number}, {column}: ")
                };
                return CheckOutcome::fail(format!("{place}{} and {}{note}", shown(left), shown(right)), observed);
            }
        }
    }
    let what = match rows().next() {
        Some((row, _)) if single => row.first().map(shown).unwrap_or_default(),
        _ => extent(found),
    };
    CheckOutcome::pass(format!("{what} in both{note}"), observed)
}

/// Numbers may differ by rounding; a number is also equal to its own text.
fn same(left: &Cell, right: &Cell) -> bool {
    match (numeric(left), numeric(right)) {
        (Some(left), Some(right)) => (left - right).abs() < TOLERANCE,
        _ => left == right || (*left != Cell::Null && *right != Cell::Null && left.to_text() == right.to_text()),
    }
}

fn numeric(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(_) | Cell::Number(_) => cell.to_number(),
        Cell::Boolean(flag) => Some(f64::from(u8::from(*flag))),
        Cell::Text(words) => Cell::read(words).to_number(),
        Cell::Null => None,
    }
}

fn shown(cell: &Cell) -> String {
    match cell {
        Cell::Null => "nothing".to_owned(),
        Cell::Integer(_) | Cell::Number(_) => cell.to_number().map(phrases::number).unwrap_or_default(),
        Cell::Boolean(flag) => flag.to_string(),
        Cell::Text(words) => phrases::quote(words),
    }
}

fn extent(queried: &Queried) -> String {
    let rows = phrases::count(queried.answer.rows.len(), "row", "rows");
    format!(
        "{rows} of {}",
        phrases::count(queried.answer.columns.len(), "column", "columns")
    )
}

/// Small results are kept to show.
fn observed(queried: &Queried) -> Option<Value> {
    let single = queried.answer.rows.first().and_then(|row| row.first());
    single
        .filter(|_| queried.answer.rows.len() == 1 && queried.answer.columns.len() == 1)
        .map(Cell::to_json)
}

/// Evidence from files that could be read only in part says so.
pub(crate) fn left_out(skipped: &[SkippedLine]) -> String {
    match skipped {
        [] => String::new(),
        [one] => format!(" (without line {} of {}: {})", one.line, one.file, one.reason),
        [first, ..] => format!(
            " (without {} lines that cannot be read, the first is line {} of {})",
            skipped.len(),
            first.line,
            first.file
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_place::run_beside;

    const SOURCE: (&str, &str) = ("source.csv", "id,amount\n1,17000\n2,954.1\n3\n");

    async fn check(args: Value, pass: bool, evidence: &str) {
        let found = run_beside(&Query, args, "id,amount\n1,17000\n2,954.1\n", &[SOURCE]).await;
        assert_eq!(found, (pass, evidence.to_owned()));
    }

    #[tokio::test]
    async fn compares_with_a_value() {
        let args = |equals: Value| json!({"files": {"t": "it"}, "sql": "SELECT SUM(amount) FROM t", "equals": equals});
        check(args(json!(17954.1)), true, "17,954.10").await;
        check(args(json!(17954.104)), true, "17,954.10").await;
        check(args(json!("17954.10")), true, "17,954.10").await;
        check(args(json!(17954.11)), false, "17,954.10, expected 17,954.11").await;
        check(args(json!("much")), false, "17,954.10, expected \"much\"").await;
    }

    #[tokio::test]
    async fn wants_one_value_for_one_value() {
        let args = json!({"files": {"t": "it"}, "sql": "SELECT id, amount FROM t", "equals": 1});
        check(
            args,
            false,
            "the query returns 2 rows of 2 columns where one value is expected",
        )
        .await;
    }

    #[tokio::test]
    async fn compares_two_queries_and_says_what_is_not_in_them() {
        let args = |sql: &str, other: &str| json!({"files": {"t": "it"}, "sql": sql, "equals": {"files": {"s": "source.csv"}, "sql": other}});
        let note = " (without line 4 of source.csv: 1 value instead of 2)";
        let sums = args("SELECT SUM(amount) FROM t", "SELECT SUM(amount) FROM s");
        check(sums, true, &format!("17,954.10 in both{note}")).await;
        let tables = args("SELECT * FROM t", "SELECT * FROM s");
        check(tables, true, &format!("2 rows of 2 columns in both{note}")).await;
        let other = args("SELECT * FROM t", "SELECT id, amount * 2 FROM s");
        check(other, false, &format!("row 1, amount: 17,000 and 34,000{note}")).await;
        let fewer = args("SELECT * FROM t", "SELECT * FROM s LIMIT 1");
        check(
            fewer,
            false,
            &format!("2 rows of 2 columns and 1 row of 2 columns{note}"),
        )
        .await;
    }

    #[tokio::test]
    async fn a_query_that_cannot_run_fails_with_the_reason() {
        let args = json!({"files": {"t": "nowhere.csv"}, "sql": "SELECT 1 FROM t", "equals": 1});
        let reason = "the check could not run: there is no file or folder \"nowhere.csv\" in the working folder";
        check(args, false, reason).await;
    }

    #[tokio::test]
    async fn the_second_query_asks_the_same_files_unless_it_says_others() {
        let args =
            json!({"files": {"t": "it"}, "sql": "SELECT MAX(id) FROM t", "equals": {"sql": "SELECT COUNT(*) FROM t"}});
        check(args, true, "2 in both").await;
    }
}
