//! `data_query`: numbers are computed from the files, not guessed by a model.

use std::collections::BTreeMap;

use async_trait::async_trait;
use contract::access::Access;
use contract::event::LogLine;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workspace::query::{self, Queried};
use workspace::{render, schema};

use crate::input;

pub(crate) struct DataQuery;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The tables: a name for each CSV, JSON or xlsx file, with the file's path relative to the working folder. Of a
    /// workbook the first sheet is read, or the one named behind its path, as in expenses.xlsx#May.
    #[schemars(extend("minProperties" = 1))]
    files: BTreeMap<String, String>,
    /// One SELECT in SQLite's SQL over these tables. An empty cell is NULL. Write sums of money as
    /// ROUND(SUM(amount), 2), or printf('%.2f', SUM(amount)) for a text with both decimals.
    sql: String,
    /// Rows as { rows, columns, skipped, note }, or one text in CSV or Markdown.
    #[serde(rename = "as", default)]
    shape: Shape,
}

#[derive(Deserialize, Serialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Shape {
    #[default]
    Rows,
    Csv,
    Markdown,
}

#[async_trait]
impl Tool for DataQuery {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "data_query".to_owned(),
            description: "Computes from CSV, JSON and xlsx files with SQL. As rows it returns { rows, columns, skipped, note }: \
                rows are objects by column name, skipped lists the lines of files that could not be read and note says the same \
                in a sentence; as csv or \
                markdown it returns one text, ready to be written to a file. Use it for every number."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let files = args.get("files").and_then(Value::as_object);
        let paths = files
            .into_iter()
            .flat_map(|files| files.values())
            .filter_map(Value::as_str);
        paths.map(input::table).collect()
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let queried = query::ask(&context.files, &input.files, &input.sql).await;
        let queried = queried.map_err(|error| ToolError::new(error.to_string()))?;
        let value = match input.shape {
            Shape::Rows => json!({
                "rows": render::rows(&queried.answer),
                "columns": queried.answer.columns,
                "skipped": queried.skipped,
                "note": note(&queried),
            }),
            Shape::Csv => Value::from(render::csv(&queried.answer)),
            Shape::Markdown => Value::from(render::markdown(&queried.answer)),
        };
        Ok(ToolOutput {
            value,
            logs: warnings(&queried),
            ..ToolOutput::default()
        })
    }
}

/// What was left out, in a sentence that a report can quote.
fn note(queried: &Queried) -> String {
    let skipped = left_out(queried);
    let notes = queried.notes.iter().map(|note| format!(" {note}."));
    skipped + &notes.collect::<String>()
}

fn left_out(queried: &Queried) -> String {
    const NAMED: usize = 5;
    let places: Vec<String> = queried
        .skipped
        .iter()
        .take(NAMED)
        .map(|line| format!("{} line {}", line.file, line.line))
        .collect();
    match queried.skipped.len() {
        0 => "Every line could be read.".to_owned(),
        1 => format!("1 line could not be read and was left out: {}.", places[0]),
        count if count > NAMED => format!(
            "{count} lines could not be read and were left out, first {}.",
            places.join(", ")
        ),
        count => format!(
            "{count} lines could not be read and were left out: {}.",
            places.join(", ")
        ),
    }
}

/// What was left out is in the run's log too, since a text has no room for it. A log is for reading: a file
/// that is broken all over is named a few times.
fn warnings(queried: &Queried) -> Vec<LogLine> {
    const TOLD: usize = 20;
    let line = |message: String| LogLine {
        level: "warn".to_owned(),
        message,
    };
    let told = queried.skipped.iter().take(TOLD);
    let mut lines: Vec<LogLine> = told
        .map(|skipped| {
            line(format!(
                "{}: line {} was left out, {}",
                skipped.file, skipped.line, skipped.reason
            ))
        })
        .collect();
    match queried.skipped.len().saturating_sub(TOLD) {
        0 => {}
        more => lines.push(line(format!("{more} more lines were left out"))),
    }
    lines.extend(queried.notes.iter().take(TOLD).cloned().map(line));
    lines.extend(
        queried
            .held
            .iter()
            .take(TOLD)
            .map(|(file, by)| input::read_apart(file, by)),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::{Place, place};

    fn expenses() -> Place {
        place(&[
            ("july.csv", "id,category,amount\n1,Meals,12.10\n2,Travel,0.20\n3\n"),
            ("august.csv", "id,category,amount\n4,Meals,1\n"),
        ])
    }

    fn args(shape: &str) -> Value {
        let sql = "SELECT category, ROUND(SUM(amount), 2) AS total FROM (SELECT * FROM july UNION ALL SELECT * FROM august) GROUP BY category ORDER BY category";
        json!({"files": {"july": "july.csv", "august": "./august.csv"}, "sql": sql, "as": shape})
    }

    #[tokio::test]
    async fn returns_rows_with_what_was_left_out() {
        let expected = json!({
            "rows": [{"category": "Meals", "total": 13.1}, {"category": "Travel", "total": 0.2}],
            "columns": ["category", "total"],
            "skipped": [{"file": "july.csv", "line": 4, "reason": "1 value instead of 3"}],
            "note": "1 line could not be read and was left out: july.csv line 4.",
        });
        assert_eq!(expenses().run(&DataQuery, args("rows")).await, Ok(expected));
    }

    #[tokio::test]
    async fn returns_texts_and_warns_in_the_log() {
        let place = expenses();
        assert_eq!(
            place.run(&DataQuery, args("csv")).await,
            Ok(json!("category,total\nMeals,13.1\nTravel,0.2\n"))
        );
        let output = DataQuery.execute(args("markdown"), &place.context).await.unwrap();
        assert_eq!(
            output.value,
            json!("| category | total |\n| --- | ---: |\n| Meals | 13.1 |\n| Travel | 0.2 |")
        );
        let message = "july.csv: line 4 was left out, 1 value instead of 3".to_owned();
        assert_eq!(
            output.logs,
            [LogLine {
                level: "warn".to_owned(),
                message
            }]
        );
    }

    #[tokio::test]
    async fn reads_exactly_the_files_it_says() {
        let read = |path: &str| Access::Read { path: path.to_owned() };
        assert_eq!(
            DataQuery.access(&args("rows")),
            [read("july.csv"), read("./august.csv")]
        );
    }

    #[tokio::test]
    async fn says_what_is_wrong_in_words() {
        let place = expenses();
        let failed = async |files: Value, sql: &str| {
            place
                .run(&DataQuery, json!({"files": files, "sql": sql}))
                .await
                .unwrap_err()
                .message
        };
        let july = json!({"july": "july.csv"});
        let unknown = failed(july.clone(), "SELECT x FROM july").await;
        assert_eq!(
            unknown,
            "the query cannot run: no such column: x (tables: july(id, category, amount))"
        );
        assert!(failed(july, "DROP TABLE july").await.contains("was refused"));
        assert!(
            failed(json!({"x": "nowhere.csv"}), "SELECT 1")
                .await
                .contains("nowhere.csv")
        );
        assert!(failed(json!({"x": "../y.csv"}), "SELECT 1").await.contains("outside"));
        assert!(
            failed(json!({"A": "july.csv", "a": "july.csv"}), "SELECT 1")
                .await
                .contains("cannot be loaded")
        );
    }

    #[tokio::test]
    async fn a_file_that_is_broken_all_over_does_not_fill_the_log() {
        let place = place(&[("a.csv", &format!("x,y\n{}", "1\n".repeat(10_000)))]);
        let args = json!({"files": {"a": "a.csv"}, "sql": "SELECT count(*) AS n FROM a"});
        let output = DataQuery.execute(args, &place.context).await.unwrap();
        assert_eq!(output.logs.len(), 21);
        assert_eq!(output.logs[20].message, "9980 more lines were left out");
    }
}
