//! What a column adds up to: a number, or the sum of a column in other files.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::ports::files::Files;
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::query::{SkippedLine, ask};
use workspace::sql::{self, quoted};
use workspace::table::{Cell, Column, ColumnKind, Row, Table};

use super::{names_schema, rules};
use crate::phrases::number;
use crate::query::left_out;
use crate::{TOLERANCE, texts};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The name of the column whose values are added.
    #[schemars(title = "Column")]
    column: String,
    /// The number that must come out.
    #[schemars(title = "Equals")]
    equals: Option<f64>,
    /// A column of another file that must add up to the same.
    #[schemars(title = "Equals the sum of")]
    equals_sum_of: Option<Source>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Source {
    /// The file, or several files that are added together; of a workbook the first sheet, or the one named behind it as
    /// in may.xlsx#Sums.
    #[serde(deserialize_with = "texts::one_or_more")]
    #[schemars(title = "File", schema_with = "names_schema")]
    path: Vec<String>,
    /// The name of the column there.
    #[schemars(title = "Column")]
    column: String,
    /// Which rows count, as a condition in SQL such as amount > 500; all of them when it is empty.
    #[serde(rename = "where")]
    #[schemars(title = "Only rows where")]
    condition: Option<String>,
}

impl Args {
    pub(super) fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.equals.is_some() == self.equals_sum_of.is_some() {
            problems.push("needs either equals or equals_sum_of".to_owned());
        }
        let source = self.equals_sum_of.as_ref();
        problems.extend(
            source
                .filter(|source| source.path.is_empty())
                .map(|_| "name a file as path".to_owned()),
        );
        problems.extend(source.and_then(|source| sql::problem(&source.sql(), &["data"])));
        problems
    }

    /// The inner result is the finding; the outer one fails when it could not be looked at.
    pub(super) async fn look(&self, table: &Table, files: &Arc<dyn Files>) -> Result<Result<String, String>, String> {
        let found = match rules::sum(table, &self.column) {
            Ok(found) => found,
            Err(wrong) => return Ok(Err(wrong)),
        };
        let shown = number(round(found));
        if let Some(expected) = self.equals {
            let evidence = format!("the sum of {} is {shown}", self.column);
            let holds = (found - expected).abs() < TOLERANCE;
            return Ok(if holds {
                Ok(evidence)
            } else {
                Err(format!("{evidence}, expected {}", number(expected)))
            });
        }
        let source = self.equals_sum_of.as_ref().ok_or("say what the sum should equal")?;
        let (expected, skipped) = source.sum(files).await?;
        let note = left_out(&skipped);
        let holds = (found - expected).abs() < TOLERANCE;
        let other = || {
            format!(
                "{shown} in it, {} in {}{note}",
                number(round(expected)),
                source.path.join(", ")
            )
        };
        Ok(if holds {
            Ok(format!("{shown} in both{note}"))
        } else {
            Err(other())
        })
    }
}

impl Source {
    fn sql(&self) -> String {
        let condition = self
            .condition
            .as_deref()
            .filter(|condition| !condition.trim().is_empty());
        // The line feed ends a comment in the condition.
        let condition = condition
            .map(|condition| format!(" WHERE ({condition}\n)"))
            .unwrap_or_default();
        format!("SELECT {} FROM data{condition}", quoted(&self.column))
    }

    async fn sum(&self, files: &Arc<dyn Files>) -> Result<(f64, Vec<SkippedLine>), String> {
        let (mut sum, mut skipped) = (0.0, Vec::new());
        for path in &self.path {
            let in_file = |error: String| format!("{path}, {error}");
            if self.condition.is_none() {
                let table = Table::load(files.as_ref(), path)
                    .await
                    .map_err(|error| error.to_string())?;
                sum += rules::sum(&table, &self.column).map_err(in_file)?;
                skipped.extend(table.skipped.into_iter().map(|line| SkippedLine {
                    file: path.clone(),
                    line: line.line,
                    reason: line.reason,
                }));
                continue;
            }
            let sources = BTreeMap::from([("data".to_owned(), path.clone())]);
            let queried = ask(files, &sources, &self.sql())
                .await
                .map_err(|error| error.to_string())?;
            sum += rules::sum(&as_table(&self.column, queried.answer.rows), &self.column).map_err(in_file)?;
            skipped.extend(queried.skipped);
        }
        Ok((sum, skipped))
    }
}

fn as_table(column: &str, rows: Vec<Vec<Cell>>) -> Table {
    let rows = (1..).zip(rows).map(|(number, cells)| Row { number, cells }).collect();
    let columns = vec![Column {
        name: column.to_owned(),
        kind: ColumnKind::Text,
    }];
    Table {
        columns,
        rows,
        ..Table::default()
    }
}

/// To the cent, for showing.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
