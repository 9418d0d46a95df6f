//! `data_parse`: text as data.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use workspace::table::{Cell, LIMIT, Table};
use workspace::{schema, text};

use crate::input;

/// More cells are not returned: each of them is a value with a name, and nobody reads them all.
const RETURNED: usize = 250_000;

pub(crate) struct DataParse;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Input {
    /// The text itself, or with fromFile the path of a file, relative to the working folder. A workbook is always a
    /// file; a sheet of it is named behind its path, as in expenses.xlsx#May.
    input: String,
    /// What the text is.
    format: Format,
    /// Whether input is the path of a file.
    #[serde(default)]
    from_file: bool,
    /// Return at most this many rows, or items of a list.
    #[schemars(range(min = 0))]
    preview: Option<usize>,
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Format {
    Json,
    Csv,
    Yaml,
    Xlsx,
}

#[async_trait]
impl Tool for DataParse {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "data_parse".to_owned(),
            description: "Parses text. JSON and YAML return the value itself. CSV and xlsx return { columns, types, \
                rowCount, rows, skipped }: rows are objects by column name, skipped tells the lines that could not be \
                read; xlsx adds notes: which sheet it is, which others there are, what is hidden. To \
                compute with CSV, JSON or xlsx files use data_query instead."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        match args.get("fromFile") {
            Some(Value::Bool(true)) => input::reads_table(args, "input"),
            _ => Vec::new(),
        }
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let name = if input.from_file {
            format!("\"{}\"", input.input)
        } else {
            "the input".to_owned()
        };
        if let Format::Xlsx = input.format {
            return workbook(&input, context).await;
        }
        let text = if input.from_file {
            let bytes = context.files.read(&input.input, LIMIT).await?;
            text::guess(&bytes).map_err(|error| ToolError::new(format!("{name} cannot be read: {error}")))?
        } else {
            input.input
        };
        parse(&text, input.format, input.preview)
            .map(|value| ToolOutput::value(exact(value)))
            .map_err(|reason| ToolError::new(format!("{name} cannot be parsed: {reason}")))
    }
}

/// A sheet of a workbook, which is never text that somebody could have typed.
async fn workbook(input: &Input, context: &ToolContext) -> Result<ToolOutput, ToolError> {
    if !input.from_file {
        return Err(ToolError::new(
            "a workbook can only be read from a file: set fromFile to true and give its path as input".to_owned(),
        ));
    }
    let table = Table::load(context.files.as_ref(), &input.input).await;
    let table = table.map_err(|error| ToolError::new(error.to_string()))?;
    let mut value = table_value(&table, input.preview)
        .map_err(|reason| ToolError::new(format!("\"{}\" cannot be parsed: {reason}", input.input)))?;
    value["notes"] = json!(table.notes);
    let held = table.held.iter();
    Ok(ToolOutput {
        logs: held.map(|by| input::read_apart(&input.input, by)).collect(),
        ..ToolOutput::value(value)
    })
}

fn parse(text: &str, format: Format, preview: Option<usize>) -> Result<Value, String> {
    let mut value: Value = match format {
        Format::Json => serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?,
        Format::Yaml => yaml(text).map_err(|error| format!("it is not YAML: {error}"))?,
        Format::Csv | Format::Xlsx => return table_value(&Table::from_csv(text)?, preview),
    };
    if let (Value::Array(items), Some(preview)) = (&mut value, preview) {
        items.truncate(preview);
    }
    Ok(value)
}

fn yaml(text: &str) -> Result<Value, serde_saphyr::Error> {
    // Without this `y`, `no` and `on` would be true and false, as in old YAML.
    let options = serde_saphyr::options! { strict_booleans: true };
    serde_saphyr::from_str_with_options(text, options)
}

fn table_value(table: &Table, preview: Option<usize>) -> Result<Value, String> {
    let shown = preview.unwrap_or(usize::MAX).min(table.rows.len());
    if shown.saturating_mul(table.columns.len()) > RETURNED {
        return Err(format!(
            "it has {} rows, more than can be returned at once; ask for a preview, or compute with data_query",
            table.rows.len()
        ));
    }
    let columns: Vec<&String> = table.columns.iter().map(|column| &column.name).collect();
    let types: Map<String, Value> = table
        .columns
        .iter()
        .map(|column| (column.name.clone(), json!(column.kind)))
        .collect();
    let object = |cells: &[Cell]| -> Map<String, Value> {
        columns
            .iter()
            .map(|name| (*name).clone())
            .zip(cells.iter().map(Cell::to_json))
            .collect()
    };
    let rows: Vec<_> = table.rows.iter().take(shown).map(|row| object(&row.cells)).collect();
    Ok(json!({
        "columns": columns,
        "types": types,
        "rowCount": table.rows.len(),
        "rows": rows,
        "skipped": table.skipped,
    }))
}

/// Whole numbers that JavaScript would round become text.
fn exact(value: Value) -> Value {
    match value {
        Value::Number(_) => Cell::of(&value).to_json(),
        Value::Array(items) => items.into_iter().map(exact).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, exact(value))).collect(),
        Value::Null | Value::Bool(_) | Value::String(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::place;

    #[tokio::test]
    async fn parses_csv_from_a_file_with_types_and_what_was_left_out() {
        let place = place(&[("a.csv", "id,merchant\n1,\"Bistro Nord, Main Hall\"\n2\n3,Café Łódź\n")]);
        let args = json!({"input": "a.csv", "format": "csv", "fromFile": true, "preview": 1});
        let expected = json!({
            "columns": ["id", "merchant"],
            "types": {"id": "integer", "merchant": "text"},
            "rowCount": 2,
            "rows": [{"id": 1, "merchant": "Bistro Nord, Main Hall"}],
            "skipped": [{"line": 3, "reason": "1 value instead of 2"}],
        });
        assert_eq!(place.run(&DataParse, args.clone()).await, Ok(expected));
        assert_eq!(
            DataParse.access(&args),
            [Access::Read {
                path: "a.csv".to_owned()
            }]
        );
    }

    #[tokio::test]
    async fn parses_json_and_yaml_from_the_input() {
        let place = place(&[]);
        let parse = async |input: &str, format: &str| {
            place
                .run(&DataParse, json!({"input": input, "format": format, "preview": 2}))
                .await
        };
        assert_eq!(parse("[1, 2.5, 3]", "json").await, Ok(json!([1, 2.5])));
        assert_eq!(
            parse("a: 1\nb: [x, y]", "yaml").await,
            Ok(json!({"a": 1, "b": ["x", "y"]}))
        );
        assert_eq!(
            parse("[12345678901234567890]", "json").await,
            Ok(json!(["12345678901234567890"]))
        );
    }

    #[tokio::test]
    async fn says_what_is_wrong_with_the_text() {
        let place = place(&[]);
        let failed = async |input: &str, format: &str| {
            place
                .run(&DataParse, json!({"input": input, "format": format}))
                .await
                .unwrap_err()
                .message
        };
        assert!(
            failed("{", "json")
                .await
                .starts_with("the input cannot be parsed: it is not JSON")
        );
        assert!(
            failed("a: [", "yaml")
                .await
                .starts_with("the input cannot be parsed: it is not YAML")
        );
        assert_eq!(failed("", "csv").await, "the input cannot be parsed: it is empty");
        let long = format!("a,b\n{}", "1,2\n".repeat(RETURNED / 2 + 1));
        assert!(
            failed(&long, "csv")
                .await
                .contains("ask for a preview, or compute with data_query")
        );
    }
}
