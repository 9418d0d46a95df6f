//! CSV, JSON and sheets as tables: named columns, typed cells, and a report of what could not be read.
//!
//! A column of a CSV file holds whole numbers or numbers only when *every* value in it is one (an id
//! such as `007` is text). An empty cell is null.

use contract::ports::documents;
use contract::ports::files::{Files, FilesError};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::csv::{self, Record};
use crate::document;
use crate::text::{self, TextError};

/// The largest file that is loaded as a table, in bytes.
pub const LIMIT: u64 = 50 * 1024 * 1024;
/// More columns than a query could name.
const COLUMNS: usize = 2_000;
/// What is held in memory of a table; a file of a few bytes a row can be far larger than it looks.
const CELLS: usize = 5_000_000;
/// How many lines that were left out are named.
const SKIPPED: usize = 10_000;
/// Beyond this, neighbouring whole numbers look the same to JavaScript; they are kept as text.
const EXACT: i64 = 1 << 53;

/// What is said when a thread did not come back.
const ENDED: &str = "reading it ended unexpectedly";

/// Rows under named columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    /// In the order of the file.
    pub columns: Vec<Column>,
    /// In the order of the file.
    pub rows: Vec<Row>,
    /// What could not be read.
    pub skipped: Vec<Skipped>,
    /// What must be known to read it right: which sheet of a workbook it is, what of it is hidden.
    pub notes: Vec<String>,
    /// What held the process that read it, in words, where it was a document.
    pub held: Option<String>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name; made different from the others where two were the same.
    pub name: String,
    /// What its cells hold.
    pub kind: ColumnKind,
}

/// What the cells of a column hold, besides nulls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ColumnKind {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// True and false; only JSON has them.
    Boolean,
    /// Anything else.
    Text,
}

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The number that a spreadsheet shows beside it; the header is row 1. In JSON, its place.
    pub number: u64,
    /// One for each column.
    pub cells: Vec<Cell>,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// Words.
    Text(String),
}

/// A line that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The line of the file, counted from 1; in JSON, the place in the list.
    pub line: u64,
    /// In words.
    pub reason: String,
}

/// The others that were left out, in one.
fn and_more(others: usize, named: &[Skipped]) -> Skipped {
    Skipped {
        line: named.last().map_or(0, |last| last.line),
        reason: format!("{others} more are left out"),
    }
}

/// Why a file is no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] FilesError),
    /// Its bytes are no text.
    #[error("\"{path}\" cannot be read as a table: {error}")]
    NotText {
        /// Which file.
        path: String,
        /// Why.
        error: TextError,
    },
    /// Its text is no table.
    #[error("\"{path}\" cannot be read as a table: {reason}")]
    NotTable {
        /// Which file.
        path: String,
        /// Why.
        reason: String,
    },
}

impl Table {
    /// Loads a file: a sheet of a workbook when it is one (see [`crate::document`]), JSON when it is called so, CSV
    /// otherwise.
    pub async fn load(files: &dyn Files, source: &str) -> Result<Self, TableError> {
        let (path, sheet) = document::source(source);
        Self::load_sheet(files, path, sheet).await
    }

    /// The same with the sheet beside the path; only a workbook has any.
    pub async fn load_sheet(files: &dyn Files, path: &str, sheet: Option<&str>) -> Result<Self, TableError> {
        let bytes = files.read(path, LIMIT).await?;
        let not_table = |reason: String| TableError::NotTable {
            path: path.to_owned(),
            reason,
        };
        if documents::is_document(&bytes) {
            let documents = files.documents();
            let sheet = documents.sheet(bytes, sheet).await;
            let sheet = sheet.map_err(|error| not_table(error.to_string()))?;
            let reading = tokio::task::spawn_blocking(move || Self::from_sheet(sheet)).await;
            let table = reading.unwrap_or_else(|_| Err(ENDED.to_owned())).map_err(not_table)?;
            let held = documents.containment();
            return Ok(Self { held, ..table });
        }
        if let Some(sheet) = sheet {
            return Err(not_table(format!("it is no workbook and has no sheet \"{sheet}\"")));
        }
        let text = text::guess(&bytes).map_err(|error| TableError::NotText {
            path: path.to_owned(),
            error,
        })?;
        let read = if path.to_ascii_lowercase().ends_with(".json") {
            Self::from_json_text
        } else {
            Self::from_csv
        };
        // Seconds of work for a large file: the runtime's other work goes on meanwhile.
        let reading = tokio::task::spawn_blocking(move || read(&text)).await;
        reading.unwrap_or_else(|_| Err(ENDED.to_owned())).map_err(not_table)
    }

    /// Reads CSV; the first record names the columns.
    pub fn from_csv(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let (records, mut skipped) = csv::split(text, csv::sniff(text), CELLS)
            .ok_or_else(|| format!("it has more than {CELLS} cells; split it into smaller files"))?;
        let mut records = records.into_iter();
        let header = records.next().ok_or("it is empty")?;
        if let Some(earlier) = skipped.iter().find(|skipped| skipped.line < header.line) {
            return Err(format!(
                "its first line should name the columns, but {}",
                earlier.reason
            ));
        }
        Self::fits(header.fields.len(), records.len())?;
        let names = distinct(header.fields);
        let (fitting, other): (Vec<Record>, Vec<Record>) =
            records.partition(|record| record.fields.len() == names.len());
        let others = other.len();
        skipped.extend(other.into_iter().take(SKIPPED).map(|record| {
            let found = record.fields.len();
            let reason = format!(
                "{found} {} instead of {}",
                if found == 1 { "value" } else { "values" },
                names.len()
            );
            Skipped {
                line: record.line,
                reason,
            }
        }));
        skipped.sort_by_key(|skipped| skipped.line);
        if others > SKIPPED {
            skipped.push(and_more(others - SKIPPED, &skipped));
        }
        let kind_of = |index: usize| infer(fitting.iter().map(|record| record.fields[index].trim()));
        let kinds: Vec<ColumnKind> = (0..names.len()).map(kind_of).collect();
        let row = |record: Record| Row {
            number: record.row,
            cells: record
                .fields
                .into_iter()
                .zip(&kinds)
                .map(|(field, kind)| typed(field, *kind))
                .collect(),
        };
        let rows = fitting.into_iter().map(row).collect();
        let columns = names
            .into_iter()
            .zip(&kinds)
            .map(|(name, kind)| Column { name, kind: *kind })
            .collect();
        Ok(Self {
            columns,
            rows,
            skipped,
            notes: Vec::new(),
            held: None,
        })
    }

    /// Reads a JSON list of objects.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let items = value.as_array().ok_or("it is not a list of objects")?;
        let mut names: Vec<&String> = Vec::new();
        let mut known = std::collections::HashSet::new();
        let (mut objects, mut skipped) = (Vec::new(), Vec::new());
        let mut others = 0;
        for (number, item) in (1..).zip(items) {
            let Some(object) = item.as_object() else {
                others += 1;
                if others <= SKIPPED {
                    skipped.push(Skipped {
                        line: number,
                        reason: "it is not an object".to_owned(),
                    });
                }
                continue;
            };
            names.extend(object.keys().filter(|name| known.insert(*name)));
            objects.push((number, object));
            Self::fits(names.len(), objects.len())?;
        }
        if names.is_empty() {
            return Err("it is not a list of objects".to_owned());
        }
        if others > SKIPPED {
            skipped.push(and_more(others - SKIPPED, &skipped));
        }
        let row = |(number, object): &(u64, &Map<String, Value>)| Row {
            number: *number,
            cells: names
                .iter()
                .map(|name| object.get(*name).map_or(Cell::Null, Cell::of))
                .collect(),
        };
        let rows: Vec<Row> = objects.iter().map(row).collect();
        let names = names.into_iter().cloned().collect();
        Ok(Self::of_rows(names, rows, skipped, Vec::new()))
    }

    /// Rows whose cells are what they are: each column gets the kind that all its cells have.
    pub(crate) fn of_rows(names: Vec<String>, mut rows: Vec<Row>, skipped: Vec<Skipped>, notes: Vec<String>) -> Self {
        let kinds: Vec<ColumnKind> = (0..names.len()).map(|index| settle(&mut rows, index)).collect();
        let columns = distinct(names)
            .into_iter()
            .zip(kinds)
            .map(|(name, kind)| Column { name, kind })
            .collect();
        Self {
            columns,
            rows,
            skipped,
            notes,
            held: None,
        }
    }

    /// Whether a table of this size can be held; every row has all columns, whatever the file says of them.
    pub(crate) fn fits(columns: usize, rows: usize) -> Result<(), String> {
        if columns > COLUMNS {
            return Err(format!("it has more than {COLUMNS} columns"));
        }
        if columns.saturating_mul(rows) > CELLS {
            return Err(format!("it has more than {CELLS} cells; split it into smaller files"));
        }
        Ok(())
    }

    fn from_json_text(text: &str) -> Result<Self, String> {
        // A value in memory takes many times what a short one takes in a file; each begins with one of these.
        let values = text.bytes().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count();
        if values > CELLS {
            return Err(format!(
                "it holds more than {CELLS} values; split it into smaller files"
            ));
        }
        let value = serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        Self::from_json(&value)
    }

    /// The place of the column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }
}

impl Cell {
    /// The cell that holds this value; what has parts is kept as JSON text.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Boolean(*flag),
            Value::String(words) => Self::Text(words.clone()),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Self::integer(integer),
                (None, Some(float)) if !number.is_u64() => Self::Number(float),
                _ => Self::Text(number.to_string()),
            },
            Value::Array(_) | Value::Object(_) => Self::Text(value.to_string()),
        }
    }

    /// The cell that these words are on their own, whatever the rest of their column holds.
    pub fn read(words: &str) -> Self {
        typed(words.to_owned(), infer(std::iter::once(words.trim())))
    }

    /// A whole number, as text where it could not be told from its neighbours.
    pub fn integer(integer: i64) -> Self {
        if (-EXACT..=EXACT).contains(&integer) {
            Self::Integer(integer)
        } else {
            Self::Text(integer.to_string())
        }
    }

    /// As JSON; a number without a fraction is a whole number there, as it is in the journal.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Integer(integer) => Value::from(*integer),
            Self::Number(number) if number.fract() == 0.0 && number.abs() <= EXACT as f64 => {
                Value::from(*number as i64)
            }
            Self::Number(number) => Value::from(*number),
            Self::Boolean(flag) => Value::from(*flag),
            Self::Text(words) => Value::from(words.clone()),
        }
    }

    /// As words; nothing for null.
    pub fn to_text(&self) -> String {
        match self {
            Self::Null => String::new(),
            Self::Integer(integer) => integer.to_string(),
            Self::Number(number) if *number == 0.0 => "0".to_owned(),
            Self::Number(number) => number.to_string(),
            Self::Boolean(flag) => flag.to_string(),
            Self::Text(words) => words.clone(),
        }
    }

    /// As a number, when it is one.
    pub fn to_number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Number(number) => Some(*number),
            Self::Null | Self::Boolean(_) | Self::Text(_) => None,
        }
    }
}

/// Names as they are, empty ones named by place, repeated ones numbered.
pub(crate) fn distinct(names: Vec<String>) -> Vec<String> {
    let mut taken = std::collections::HashSet::new();
    let name = |(index, name): (usize, String)| {
        let base = if name.trim().is_empty() {
            format!("column_{}", index + 1)
        } else {
            name.trim().to_owned()
        };
        let mut name = base.clone();
        let mut number = 2;
        while !taken.insert(name.to_lowercase()) {
            name = format!("{base}_{number}");
            number += 1;
        }
        name
    };
    names.into_iter().enumerate().map(name).collect()
}

fn infer<'text>(values: impl Iterator<Item = &'text str> + Clone) -> ColumnKind {
    let mut values = values.filter(|value| !value.is_empty()).peekable();
    if values.peek().is_none() {
        return ColumnKind::Text;
    }
    if values.clone().all(|value| integer(value).is_some()) {
        return ColumnKind::Integer;
    }
    if values.all(|value| number(value).is_some()) {
        ColumnKind::Number
    } else {
        ColumnKind::Text
    }
}

fn typed(field: String, kind: ColumnKind) -> Cell {
    let trimmed = field.trim();
    if trimmed.is_empty() {
        return Cell::Null;
    }
    let read = match kind {
        ColumnKind::Integer => integer(trimmed).map(Cell::Integer),
        ColumnKind::Number => number(trimmed).map(Cell::Number),
        ColumnKind::Boolean | ColumnKind::Text => None,
    };
    read.unwrap_or(Cell::Text(field))
}

fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits == "0" || !digits.starts_with('0'));
    if plain {
        text.parse().ok().filter(|integer| (-EXACT..=EXACT).contains(integer))
    } else {
        None
    }
}

/// A number as spreadsheets and programs write it, and nothing that only resembles one.
fn number(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = unsigned
        .split_once(['e', 'E'])
        .map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let whole_fits = digits(whole) && (whole == "0" || !whole.starts_with('0'));
    // `12e4` is more likely a name than a number.
    let exponent_fits = exponent.is_none_or(|exponent| {
        (fraction.is_some() || exponent.starts_with(['-', '+'])) && digits(exponent.trim_start_matches(['-', '+']))
    });
    let fits = whole_fits && fraction.is_none_or(digits) && exponent_fits;
    // A whole number that is too long to be exact is an id.
    if !fits || (fraction.is_none() && exponent.is_none() && integer(text).is_none()) {
        return None;
    }
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Gives the cells of a column one kind.
fn settle(rows: &mut [Row], index: usize) -> ColumnKind {
    let cells = || {
        rows.iter()
            .map(|row| &row.cells[index])
            .filter(|cell| **cell != Cell::Null)
    };
    let kind = if cells().next().is_none() {
        ColumnKind::Text
    } else if cells().all(|cell| matches!(cell, Cell::Integer(_))) {
        ColumnKind::Integer
    } else if cells().all(|cell| cell.to_number().is_some()) {
        ColumnKind::Number
    } else if cells().all(|cell| matches!(cell, Cell::Boolean(_))) {
        ColumnKind::Boolean
    } else {
        ColumnKind::Text
    };
    for cell in rows.iter_mut().map(|row| &mut row.cells[index]) {
        let same = match (kind, &*cell) {
            (_, Cell::Null) => continue,
            (ColumnKind::Number, cell) => cell.to_number().map(Cell::Number),
            (ColumnKind::Text, cell) => Some(Cell::Text(cell.to_text())),
            (ColumnKind::Integer | ColumnKind::Boolean, _) => None,
        };
        if let Some(same) = same {
            *cell = same;
        }
    }
    kind
}

#[cfg(test)]
mod tests;
