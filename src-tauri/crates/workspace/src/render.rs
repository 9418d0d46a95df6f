//! Answers as JSON rows, as CSV and as a Markdown table.

use serde_json::{Map, Value};

use crate::sql::Answer;
use crate::table::Cell;

/// One object for each row.
pub fn rows(answer: &Answer) -> Value {
    let row = |cells: &Vec<Cell>| {
        let fields = answer.columns.iter().cloned().zip(cells.iter().map(Cell::to_json));
        Value::Object(fields.collect::<Map<_, _>>())
    };
    Value::Array(answer.rows.iter().map(row).collect())
}

/// CSV with a header, commas, and a line feed after every line.
pub fn csv(answer: &Answer) -> String {
    let line = |fields: Vec<String>| {
        fields
            .iter()
            .map(|field| csv_field(field))
            .collect::<Vec<_>>()
            .join(",")
            + "\n"
    };
    let header = line(answer.columns.clone());
    answer.rows.iter().fold(header, |text, cells| {
        text + &line(cells.iter().map(Cell::to_text).collect())
    })
}

/// A Markdown table, without a line feed at its end; columns of numbers stand to the right.
pub fn markdown(answer: &Answer) -> String {
    let line = |fields: Vec<String>| format!("| {} |", fields.join(" | "));
    let mut lines = vec![line(answer.columns.iter().map(|name| markdown_field(name)).collect())];
    let rule = |index| {
        if holds_numbers(answer, index) {
            "---:".to_owned()
        } else {
            "---".to_owned()
        }
    };
    lines.push(line((0..answer.columns.len()).map(rule).collect()));
    let row = |cells: &Vec<Cell>| line(cells.iter().map(|cell| markdown_field(&cell.to_text())).collect());
    lines.extend(answer.rows.iter().map(row));
    lines.join("\n")
}

fn csv_field(field: &str) -> String {
    if field.contains(['"', ',', '\n', '\r', ';', '\t']) || field.trim() != field {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field.to_owned()
}

fn markdown_field(field: &str) -> String {
    field
        .replace('\\', "\\\\")
        .replace('|', "\\|")
        .replace("\r\n", "<br>")
        .replace(['\n', '\r'], "<br>")
}

/// Numbers, or texts that a query made of numbers.
fn holds_numbers(answer: &Answer, index: usize) -> bool {
    let mut cells = answer
        .rows
        .iter()
        .filter_map(|row| row.get(index))
        .filter(|cell| **cell != Cell::Null)
        .peekable();
    let is_number = |cell: &Cell| match cell {
        Cell::Text(words) => words.replace(',', "").parse::<f64>().is_ok_and(f64::is_finite),
        Cell::Integer(_) | Cell::Number(_) => true,
        Cell::Null | Cell::Boolean(_) => false,
    };
    cells.peek().is_some() && cells.all(is_number)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::table::Table;

    fn answer() -> Answer {
        let text = |words: &str| Cell::Text(words.to_owned());
        Answer {
            columns: vec!["merchant".to_owned(), "total".to_owned()],
            rows: vec![
                vec![text("Bistro Nord, Main Hall"), Cell::Number(120.0)],
                vec![text("a|b \"c\"\nd"), Cell::Number(0.1)],
                vec![Cell::Null, Cell::Null],
            ],
        }
    }

    #[test]
    fn makes_an_object_of_each_row() {
        let expected = json!([
            {"merchant": "Bistro Nord, Main Hall", "total": 120},
            {"merchant": "a|b \"c\"\nd", "total": 0.1},
            {"merchant": null, "total": null},
        ]);
        assert_eq!(rows(&answer()), expected);
    }

    #[test]
    fn writes_csv_that_reads_back() {
        let text = csv(&answer());
        assert_eq!(
            text,
            "merchant,total\n\"Bistro Nord, Main Hall\",120\n\"a|b \"\"c\"\"\nd\",0.1\n,\n"
        );
        assert_eq!(
            Table::from_csv(&text).unwrap().rows[1].cells,
            [answer().rows[1][0].clone(), Cell::Number(0.1)]
        );
    }

    #[test]
    fn writes_a_markdown_table() {
        let expected = "| merchant | total |\n| --- | ---: |\n| Bistro Nord, Main Hall | 120 |\n| a\\|b \"c\"<br>d | 0.1 |\n|  |  |";
        assert_eq!(markdown(&answer()), expected);
    }
}
