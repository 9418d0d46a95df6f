//! Office files and PDF among the files: their words where words are asked for, their sheets where tables are. Reading
//! them is the port's (`contract::ports::documents`); here is where its answers meet the folder.
//!
//! A sheet of a workbook is named behind its path, as in `expenses.xlsx#May`. Without a name the first sheet counts.

use contract::ports::documents::{self, DocumentError, Sheet, SheetCell, SheetRow};
use contract::ports::files::{Files, FilesError};

use crate::table::{Cell, Row, Table};
use crate::text::{self, TextError};

/// Why a file has no words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// It could not be read.
    #[error(transparent)]
    File(#[from] FilesError),
    /// Its bytes are no text.
    #[error("\"{path}\" cannot be read: {error}")]
    NotText {
        /// Which file.
        path: String,
        /// Why.
        error: TextError,
    },
    /// It is a document that could not be read.
    #[error("\"{path}\" cannot be read: {error}")]
    Document {
        /// Which file.
        path: String,
        /// Why.
        error: DocumentError,
    },
}

/// What a person would see of a file's words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Words {
    /// The file is a text.
    Text(String),
    /// What a document says: everything with headings and remarks, and only what is written in it.
    Document {
        /// To be read.
        shown: String,
        /// To be counted and searched.
        words: String,
        /// What held the process that read it, in words.
        held: Option<String>,
    },
}

impl Words {
    /// What is written in the file, to be counted and searched.
    pub fn written(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Document { words, .. } => words,
        }
    }
}

/// The words of a file of at most `limit` bytes, whether it is a text or a document.
///
/// # Errors
/// When it is neither, or cannot be read.
pub async fn words(files: &dyn Files, path: &str, limit: u64) -> Result<Words, ReadError> {
    let bytes = files.read(path, limit).await?;
    if !documents::is_document(&bytes) {
        let text = text::guess(&bytes).map_err(|error| ReadError::NotText {
            path: path.to_owned(),
            error,
        })?;
        return Ok(Words::Text(text));
    }
    let documents = files.documents();
    let read = documents.text(bytes).await;
    let text = read.map_err(|error| ReadError::Document {
        path: path.to_owned(),
        error,
    })?;
    Ok(Words::Document {
        shown: text.shown(),
        words: text.words(),
        held: documents.containment(),
    })
}

/// A path, and the sheet that is named behind it.
pub fn source(source: &str) -> (&str, Option<&str>) {
    let is_workbook = |path: &str| {
        let path = path.to_ascii_lowercase();
        path.ends_with(".xlsx") || path.ends_with(".xlsm")
    };
    match source.split_once('#') {
        Some((path, sheet)) if is_workbook(path) && !sheet.is_empty() => (path, Some(sheet)),
        _ => (source, None),
    }
}

/// How many rows of a sheet are looked at for its header.
const LOOKED_AT: usize = 20;

impl Table {
    /// A sheet as a table. Its header is the first row with more than one cell, since people write titles above their
    /// tables; what stands above it is left out, and said. Rows without anything are no rows.
    pub fn from_sheet(sheet: Sheet) -> Result<Self, String> {
        let mut notes = sheet.notes;
        let wide = |row: &SheetRow| filled(row) > 1;
        let above = sheet.rows.iter().take(LOOKED_AT).position(wide).unwrap_or(0);
        let mut rows = sheet.rows.into_iter();
        let titles: Vec<SheetRow> = rows.by_ref().take(above).collect();
        notes.extend(titles.iter().map(|title| {
            let words: Vec<String> = title.cells.iter().map(|cell| cell_of(cell.clone()).to_text()).collect();
            format!(
                "row {} stands above the table and was left out: {}",
                title.number,
                words.join(" ").trim()
            )
        }));
        let header = rows
            .next()
            .ok_or_else(|| format!("its sheet \"{}\" is empty", sheet.name))?;
        let body: Vec<SheetRow> = rows.collect();
        let all = || std::iter::once(&header).chain(&body);
        let first = all().map(|row| row.first).min().unwrap_or_default();
        let end = all().map(|row| row.first + row.cells.len()).max().unwrap_or_default();
        let columns = end.saturating_sub(first);
        Self::fits(columns, body.len())?;
        let names = cells(header, first, columns).iter().map(Cell::to_text).collect();
        let rows = body
            .into_iter()
            .map(|row| Row {
                number: row.number,
                cells: cells(row, first, columns),
            })
            .collect();
        Ok(Self::of_rows(names, rows, Vec::new(), notes))
    }
}

fn filled(row: &SheetRow) -> usize {
    row.cells.iter().filter(|cell| **cell != SheetCell::Empty).count()
}

fn cells(row: SheetRow, first: usize, columns: usize) -> Vec<Cell> {
    let before = std::iter::repeat_n(Cell::Null, row.first.saturating_sub(first));
    let mut cells: Vec<Cell> = before.chain(row.cells.into_iter().map(cell_of)).collect();
    cells.resize(columns, Cell::Null);
    cells
}

fn cell_of(cell: SheetCell) -> Cell {
    match cell {
        SheetCell::Empty => Cell::Null,
        SheetCell::Boolean(flag) => Cell::Boolean(flag),
        SheetCell::Integer(integer) => Cell::integer(integer),
        SheetCell::Number(number) => Cell::Number(number),
        SheetCell::Text(words) if words.trim().is_empty() => Cell::Null,
        SheetCell::Text(words) => Cell::Text(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    fn described(columns: &[Column]) -> Vec<String> {
        columns
            .iter()
            .map(|column| format!("{} {:?}", column.name, column.kind))
            .collect()
    }

    fn row(number: u64, first: usize, cells: Vec<SheetCell>) -> SheetRow {
        SheetRow { number, first, cells }
    }

    fn text(words: &str) -> SheetCell {
        SheetCell::Text(words.to_owned())
    }

    fn sheet(rows: Vec<SheetRow>) -> Sheet {
        Sheet {
            name: "May".to_owned(),
            sheets: vec!["May".to_owned()],
            rows,
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_title_above_a_table_is_not_its_header() {
        let rows = vec![
            row(1, 1, vec![text("Expenses 2026")]),
            row(3, 1, vec![text("id"), text("amount"), text("paid")]),
            row(
                4,
                1,
                vec![SheetCell::Integer(1), SheetCell::Number(12.5), SheetCell::Boolean(true)],
            ),
            row(6, 2, vec![SheetCell::Integer(3)]),
        ];
        let table = Table::from_sheet(sheet(rows)).unwrap();
        assert_eq!(
            described(&table.columns),
            ["id Integer", "amount Number", "paid Boolean"]
        );
        let cells: Vec<_> = table.rows.iter().map(|row| (row.number, row.cells.clone())).collect();
        let expected = [
            (4, vec![Cell::Integer(1), Cell::Number(12.5), Cell::Boolean(true)]),
            (6, vec![Cell::Null, Cell::Number(3.0), Cell::Null]),
        ];
        assert_eq!(cells, expected);
        assert_eq!(
            table.notes,
            ["row 1 stands above the table and was left out: Expenses 2026"]
        );
    }

    #[test]
    fn a_single_column_and_an_empty_sheet_are_what_they_are() {
        let rows = vec![row(1, 0, vec![text("name")]), row(2, 0, vec![text("Ada")])];
        let table = Table::from_sheet(sheet(rows)).unwrap();
        assert_eq!((table.columns.len(), table.rows.len()), (1, 1));
        assert_eq!(
            Table::from_sheet(sheet(Vec::new())),
            Err("its sheet \"May\" is empty".to_owned())
        );
    }

    #[test]
    fn a_sheet_is_named_behind_its_workbook_and_nothing_else() {
        assert_eq!(source("a/b.xlsx#May"), ("a/b.xlsx", Some("May")));
        assert_eq!(source("B.XLSM#1#2"), ("B.XLSM", Some("1#2")));
        for path in ["a.csv#1", "a#b.xlsx", "a.xlsx#", "a.xlsx"] {
            assert_eq!(source(path), (path, None));
        }
    }
}
