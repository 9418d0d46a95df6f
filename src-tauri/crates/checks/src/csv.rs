//! `csv`: what holds for a table. `rules` are the single things that can hold; `sum` is the one that
//! looks at other files too.

mod rules;
mod sum;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckInfo, CheckOutcome, CheckTarget};
use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workspace::table::Table;

use crate::bounds::{Count, Range};
use crate::{arguments, phrases, target, texts};

pub(crate) struct Csv;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The sheet of a workbook, by its name; the first one when it is empty.
    #[schemars(title = "Sheet")]
    sheet: Option<String>,
    /// The names of all columns, in their order.
    #[schemars(title = "Columns are")]
    columns: Option<Vec<String>>,
    /// How many rows there are, not counting the header.
    #[schemars(title = "Number of rows")]
    rows: Option<Count>,
    /// Columns in which no value occurs twice.
    #[serde(default, deserialize_with = "texts::one_or_more")]
    #[schemars(title = "No value twice in", schema_with = "names_schema")]
    unique: Vec<String>,
    /// Columns in which no value is missing.
    #[serde(default, deserialize_with = "texts::one_or_more")]
    #[schemars(title = "No empty cell in", schema_with = "names_schema")]
    not_null: Vec<String>,
    /// What the values of a column are.
    #[serde(default)]
    #[schemars(title = "Kinds of values")]
    types: BTreeMap<String, Kind>,
    /// The smallest and the largest value of a column.
    #[serde(default)]
    #[schemars(title = "Values between")]
    range: BTreeMap<String, Range>,
    /// The column by which the rows are sorted.
    #[serde(default)]
    #[schemars(title = "Sorted by", schema_with = "sorted_schema")]
    sorted: Option<Sorted>,
    /// What the values of a column add up to.
    #[schemars(title = "Sum of a column")]
    sum: Option<sum::Args>,
}

/// What a value can be asked to be.
#[derive(Deserialize, Serialize, JsonSchema, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Integer,
    Number,
    Boolean,
    Date,
    Text,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Sorted {
    By(String),
    Order(Order),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    /// The name of the column.
    #[schemars(title = "Column")]
    column: String,
    /// Whether the largest value comes first.
    #[serde(default)]
    #[schemars(title = "Largest first")]
    descending: bool,
}

fn names_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["array", "string"], "items": { "type": "string" } })
}

fn sorted_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let order = generator.subschema_for::<Order>();
    schemars::json_schema!({ "anyOf": [order, { "title": "Column", "type": "string" }] })
}

#[async_trait]
impl Check for Csv {
    fn info(&self) -> CheckInfo {
        CheckInfo {
            name: "csv".to_owned(),
            title: "Is a table with".to_owned(),
            description:
                "It is a table (CSV, JSON, or a sheet of a workbook) whose columns, rows and values are as described."
                    .to_owned(),
            schema: arguments::schema::<Args>(None),
            needs_file: false,
        }
    }

    fn problems(&self, args: &Value) -> Vec<String> {
        let problems = arguments::problems::<Args>("csv", args, None);
        match arguments::read::<Args>(args, None) {
            Ok(args) if problems.is_empty() => args
                .problems()
                .into_iter()
                .map(|problem| format!("csv{problem}"))
                .collect(),
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
        let says_nothing = self.columns.is_none()
            && self.rows.is_none()
            && self.sorted.is_none()
            && self.sum.is_none()
            && self.unique.is_empty()
            && self.not_null.is_empty()
            && self.types.is_empty()
            && self.range.is_empty();
        if says_nothing {
            problems.push(": say what should hold, such as columns or rows".to_owned());
        }
        problems.extend(
            self.rows
                .and_then(Count::problem)
                .map(|problem| format!(".rows: {problem}")),
        );
        for (column, range) in &self.range {
            problems.extend(range.problem().map(|problem| format!(".range.{column}: {problem}")));
        }
        problems.extend(
            self.sum
                .iter()
                .flat_map(sum::Args::problems)
                .map(|problem| format!(".sum: {problem}")),
        );
        problems
    }

    /// Every rule that was asked for, each with what it found: right or wrong, in words.
    fn findings(&self, table: &Table) -> Vec<Result<String, String>> {
        let mut findings = vec![rules::whole(table)];
        findings.extend(self.columns.as_ref().map(|names| rules::columns(table, names)));
        findings.extend(self.rows.map(|bounds| rules::rows(table, bounds)));
        findings.extend(self.unique.iter().map(|column| rules::unique(table, column)));
        findings.extend(self.not_null.iter().map(|column| rules::not_null(table, column)));
        findings.extend(
            self.types
                .iter()
                .map(|(column, kind)| rules::kind(table, column, *kind)),
        );
        findings.extend(
            self.range
                .iter()
                .map(|(column, range)| rules::range(table, column, *range)),
        );
        findings.extend(self.sorted.as_ref().map(|sorted| match sorted {
            Sorted::By(column) => rules::sorted(table, column, false),
            Sorted::Order(order) => rules::sorted(table, &order.column, order.descending),
        }));
        findings
    }
}

async fn look(args: &Value, target: &CheckTarget, files: &Arc<dyn Files>) -> Result<CheckOutcome, String> {
    let args: Args = arguments::read(args, None)?;
    let sheet = args.sheet.as_deref().filter(|sheet| !sheet.is_empty());
    let table = target::table(target, sheet, files).await?;
    let mut findings = args.findings(&table);
    if let Some(sum) = &args.sum {
        findings.push(sum.look(&table, files).await?);
    }
    let observed = json!({
        "columns": table.columns.iter().map(|column| &column.name).collect::<Vec<_>>(),
        "rows": table.rows.len(),
    });
    let wrong: Vec<String> = findings
        .iter()
        .filter_map(|finding| finding.as_ref().err().cloned())
        .collect();
    if !wrong.is_empty() {
        return Ok(CheckOutcome::fail(wrong.join("; "), observed));
    }
    let right: Vec<String> = findings
        .into_iter()
        .flatten()
        .filter(|evidence| !evidence.is_empty())
        .collect();
    let evidence = if right.is_empty() {
        phrases::count(table.rows.len(), "row", "rows")
    } else {
        right.join("; ")
    };
    Ok(CheckOutcome::pass(evidence, observed))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{fails, passes, run_beside, run_on_document, run_on_nothing};

    const TABLE: &str = "id,day,amount\n1,2026-07-01,10.5\n2,2026-07-02,\n1,2026-02-30,7\n";

    #[tokio::test]
    async fn tells_every_rule_that_holds() {
        let args = json!({"columns": ["id", "amount"], "rows": {"min": 1}, "unique": "id", "not_null": ["amount"],
            "types": {"id": "integer"}, "range": {"amount": {"max": 3}}, "sorted": "id"});
        let evidence = "2 columns; 2 rows; 2 values of id, all different; no empty amount; every id is a whole number; \
            amount is from 1 to 2.50; sorted by id";
        passes(&Csv, args, "id,amount\n1,1\n2,2.5\n", evidence).await;
    }

    #[tokio::test]
    async fn tells_every_rule_that_is_broken_with_its_place() {
        let args = json!({"columns": ["id", "date", "amount"], "rows": {"max": 2}, "unique": ["id"], "not_null": ["amount"],
            "types": {"day": "date"}, "range": {"amount": {"max": 9}}, "sorted": {"column": "id", "descending": true}});
        let evidence = "the columns are id, day, amount: date is missing, day is too much; 3 rows, at most 2 allowed; \
            id 1 twice (rows 2, 4); row 3: amount is empty; row 4: day is \"2026-02-30\", not a date; \
            row 2: amount is 10.50, at most 9 allowed; row 3: id is \"2\" after \"1\"";
        fails(&Csv, args, TABLE, evidence).await;
    }

    #[tokio::test]
    async fn a_line_that_is_no_row_is_wrong() {
        fails(
            &Csv,
            json!({"rows": {"min": 1}}),
            "a,b\n1,2\n3\n",
            "line 3: 1 value instead of 2",
        )
        .await;
    }

    #[tokio::test]
    async fn knows_when_columns_are_only_in_another_order() {
        let args = json!({"columns": ["b", "a"]});
        fails(
            &Csv,
            args,
            "a,b\n1,2\n",
            "the columns are a, b: the order should be b, a",
        )
        .await;
    }

    #[tokio::test]
    async fn a_column_that_is_not_there_is_wrong() {
        fails(
            &Csv,
            json!({"unique": ["x"]}),
            TABLE,
            "there is no column \"x\" (the columns are id, day, amount)",
        )
        .await;
    }

    #[tokio::test]
    async fn adds_up_and_compares_with_other_files() {
        let others = [
            ("a.csv", "amount,kind\n5,x\n2.5,y\n"),
            ("b.csv", "amount,kind\n10,x\n1\n"),
        ];
        let check = async |sum: Value| run_beside(&Csv, json!({"sum": sum}), TABLE, &others).await;
        let of = |path: Value| json!({"column": "amount", "equals_sum_of": {"path": path, "column": "amount"}});
        assert_eq!(
            check(json!({"column": "amount", "equals": 17.5})).await,
            (true, "the sum of amount is 17.50".to_owned())
        );
        let (pass, evidence) = check(json!({"column": "amount", "equals": 18})).await;
        assert_eq!(
            (pass, evidence.as_str()),
            (false, "the sum of amount is 17.50, expected 18")
        );
        let note = " (without line 3 of b.csv: 1 value instead of 2)";
        assert_eq!(
            check(of(json!(["a.csv", "b.csv"]))).await,
            (true, format!("17.50 in both{note}"))
        );
        assert_eq!(check(of(json!("a.csv"))).await.1.split(" in it").next(), Some("17.50"));
        let chosen = json!({"column": "amount", "equals_sum_of": {"path": ["a.csv", "b.csv"], "column": "amount", "where": "kind = 'x'"}});
        let (pass, evidence) = check(chosen).await;
        assert_eq!(
            (pass, evidence),
            (false, format!("17.50 in it, 15 in a.csv, b.csv{note}"))
        );
        assert!(check(of(json!("nowhere.csv"))).await.1.contains("nowhere.csv"));
        let other = json!({"column": "amount", "equals_sum_of": {"path": "a.csv", "column": "kind"}});
        assert_eq!(
            check(other).await.1,
            "the check could not run: a.csv, row 2: kind is \"x\", not a number"
        );
    }

    #[tokio::test]
    async fn looks_into_a_sheet_of_a_workbook() {
        let check = async |args: Value| run_on_document(&Csv, args, b"PK\x03\x04 a workbook").await;
        let args = json!({"columns": ["id", "amount"], "rows": {"min": 1, "max": 1}, "not_null": "amount"});
        assert_eq!(
            check(args).await,
            (true, "2 columns; 1 row; no empty amount".to_owned())
        );
        assert_eq!(
            check(json!({"sheet": "June", "not_null": "amount", "unique": "id"})).await,
            (false, "id 1 twice (rows 2, 3); row 3: amount is empty".to_owned())
        );
        assert_eq!(
            check(json!({"sheet": "July", "rows": {"min": 1}})).await.1,
            "the check could not run: \"it\" cannot be read as a table: it has no sheet \"July\"; its sheets are May, June"
        );
    }

    #[tokio::test]
    async fn says_so_when_there_is_no_table() {
        assert!(
            run_on_nothing(&Csv, json!({"rows": {"min": 1}}))
                .await
                .contains("there is no file")
        );
    }
}
