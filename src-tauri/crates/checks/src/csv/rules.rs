//! Single things that can hold for a table. Each returns its evidence: `Ok` when it holds.

use std::cmp::Ordering;
use std::collections::HashMap;

use workspace::table::{Cell, Row, Table};

use super::Kind;
use crate::bounds::{Count, Range};
use crate::phrases::{count, number, quote, some_of};

type Finding = Result<String, String>;

/// Every line is a row.
pub(super) fn whole(table: &Table) -> Finding {
    let broken = table
        .skipped
        .iter()
        .map(|line| format!("line {}: {}", line.line, line.reason));
    wrong_or(broken.collect(), String::new)
}

/// The columns are these, in this order.
pub(super) fn columns(table: &Table, expected: &[String]) -> Finding {
    let found: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
    if found == expected.iter().map(String::as_str).collect::<Vec<_>>() {
        return Ok(count(found.len(), "column", "columns"));
    }
    let missing = expected.iter().filter(|name| !found.contains(&name.as_str()));
    let more = found
        .iter()
        .filter(|name| !expected.iter().any(|expected| expected == *name));
    let mut differences: Vec<String> = missing.map(|name| format!("{name} is missing")).collect();
    differences.extend(more.map(|name| format!("{name} is too much")));
    if differences.is_empty() {
        differences.push(format!("the order should be {}", expected.join(", ")));
    }
    Err(format!(
        "the columns are {}: {}",
        found.join(", "),
        differences.join(", ")
    ))
}

/// There are so many rows.
pub(super) fn rows(table: &Table, bounds: Count) -> Finding {
    let found = count(table.rows.len(), "row", "rows");
    match bounds.broken_by(table.rows.len()) {
        Some(broken) => Err(format!("{found}, {broken}")),
        None => Ok(found),
    }
}

/// No value of the column occurs twice; empty cells are no values.
pub(super) fn unique(table: &Table, column: &str) -> Finding {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut values: Vec<(String, Vec<u64>)> = Vec::new();
    for (row, cell) in filled(table, column)? {
        let value = cell.to_text();
        match places.get(&value) {
            Some(place) => values[*place].1.push(row.number),
            None => {
                places.insert(value.clone(), values.len());
                values.push((value, vec![row.number]));
            }
        }
    }
    let repeated = values.iter().filter(|(_, rows)| rows.len() > 1).map(|(value, rows)| {
        let times = if rows.len() == 2 {
            "twice".to_owned()
        } else {
            format!("{} times", rows.len())
        };
        let rows: Vec<String> = rows.iter().map(u64::to_string).collect();
        format!("{column} {value} {times} (rows {})", some_of(&rows, ", "))
    });
    wrong_or(repeated.collect(), || {
        format!("{} of {column}, all different", count(values.len(), "value", "values"))
    })
}

/// No cell of the column is empty.
pub(super) fn not_null(table: &Table, column: &str) -> Finding {
    let empty = cells(table, column)?.filter(|(_, cell)| blank(cell));
    let empty: Vec<String> = empty
        .map(|(row, _)| format!("row {}: {column} is empty", row.number))
        .collect();
    wrong_or(empty, || format!("no empty {column}"))
}

/// Every value of the column is of this kind.
pub(super) fn kind(table: &Table, column: &str, kind: Kind) -> Finding {
    let name = match kind {
        Kind::Integer => "a whole number",
        Kind::Number => "a number",
        Kind::Boolean => "true or false",
        Kind::Date => "a date",
        Kind::Text => "a text",
    };
    let other = filled(table, column)?.filter(|(_, cell)| !is_of(cell, kind));
    let other =
        other.map(|(row, cell)| format!("row {}: {column} is {}, not {name}", row.number, quote(&cell.to_text())));
    wrong_or(other.collect(), || format!("every {column} is {name}"))
}

/// Every value of the column is a number in this range.
pub(super) fn range(table: &Table, column: &str, range: Range) -> Finding {
    let mut wrong = Vec::new();
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for (row, cell) in filled(table, column)? {
        match numeric(cell) {
            None => wrong.push(not_a_number(row, column, cell)),
            Some(value) => {
                (least, most) = (least.min(value), most.max(value));
                let broken = range.broken_by(value);
                wrong.extend(
                    broken.map(|broken| format!("row {}: {column} is {}, {broken}", row.number, number(value))),
                );
            }
        }
    }
    wrong_or(wrong, || match least <= most {
        true => format!("{column} is from {} to {}", number(least), number(most)),
        false => format!("no value of {column}"),
    })
}

/// The rows are in the order of this column; empty cells stand anywhere.
pub(super) fn sorted(table: &Table, column: &str, descending: bool) -> Finding {
    let filled: Vec<(&Row, &Cell)> = filled(table, column)?.collect();
    let wrong = filled.windows(2).filter_map(|pair| {
        let [(_, earlier), (row, later)] = pair else {
            return None;
        };
        let order = if descending {
            compare(later, earlier)
        } else {
            compare(earlier, later)
        };
        let values = || (quote(&later.to_text()), quote(&earlier.to_text()));
        (order == Ordering::Greater)
            .then(values)
            .map(|(later, earlier)| format!("row {}: {column} is {later} after {earlier}", row.number))
    });
    let order = if descending { ", largest first" } else { "" };
    wrong_or(wrong.collect(), || format!("sorted by {column}{order}"))
}

/// The numbers of the column, added with compensation so that their order does not matter.
pub(super) fn sum(table: &Table, column: &str) -> Result<f64, String> {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for (row, cell) in filled(table, column)? {
        let value = numeric(cell).ok_or_else(|| not_a_number(row, column, cell))?;
        let next = sum + value;
        lost += if sum.abs() >= value.abs() {
            (sum - next) + value
        } else {
            (value - next) + sum
        };
        sum = next;
    }
    Ok(sum + lost)
}

fn cells<'table>(
    table: &'table Table,
    column: &str,
) -> Result<impl Iterator<Item = (&'table Row, &'table Cell)> + use<'table>, String> {
    let index = table.column(column).ok_or_else(|| {
        let names: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        format!("there is no column \"{column}\" (the columns are {})", names.join(", "))
    })?;
    Ok(table
        .rows
        .iter()
        .filter_map(move |row| row.cells.get(index).map(|cell| (row, cell))))
}

fn filled<'table>(
    table: &'table Table,
    column: &str,
) -> Result<impl Iterator<Item = (&'table Row, &'table Cell)> + use<'table>, String> {
    Ok(cells(table, column)?.filter(|(_, cell)| !blank(cell)))
}

fn blank(cell: &Cell) -> bool {
    match cell {
        Cell::Null => true,
        Cell::Text(words) => words.trim().is_empty(),
        Cell::Integer(_) | Cell::Number(_) | Cell::Boolean(_) => false,
    }
}

fn numeric(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Text(words) => Cell::read(words).to_number(),
        Cell::Null | Cell::Integer(_) | Cell::Number(_) | Cell::Boolean(_) => cell.to_number(),
    }
}

fn not_a_number(row: &Row, column: &str, cell: &Cell) -> String {
    format!(
        "row {}: {column} is {}, not a number",
        row.number,
        quote(&cell.to_text())
    )
}

fn is_of(cell: &Cell, kind: Kind) -> bool {
    let words = cell.to_text();
    match kind {
        Kind::Integer => numeric(cell).is_some_and(|value| value.fract() == 0.0),
        Kind::Number => numeric(cell).is_some(),
        Kind::Boolean => matches!(words.trim().to_ascii_lowercase().as_str(), "true" | "false"),
        Kind::Date => is_date(words.trim()),
        Kind::Text => true,
    }
}

/// A day that there is, as `2026-07-31`, perhaps with a time after it.
fn is_date(text: &str) -> bool {
    let day = text
        .get(..10)
        .filter(|_| text.len() == 10 || matches!(text.as_bytes().get(10), Some(b'T' | b' ')));
    let parts: Option<Vec<u32>> = day.map(|day| day.split('-').filter_map(|part| part.parse().ok()).collect());
    let Some([year, month, day]) = parts.as_deref() else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    (1..=days).contains(day)
}

fn compare(left: &Cell, right: &Cell) -> Ordering {
    match (left.to_number(), right.to_number()) {
        (Some(left), Some(right)) => left.total_cmp(&right),
        _ => left.to_text().cmp(&right.to_text()),
    }
}

fn wrong_or(wrong: Vec<String>, right: impl FnOnce() -> String) -> Finding {
    if wrong.is_empty() {
        Ok(right())
    } else {
        Err(some_of(&wrong, "; "))
    }
}
