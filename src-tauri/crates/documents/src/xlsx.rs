//! Excel workbooks: cells as they are kept, and the sheets as tables to read.
//!
//! Cells are taken one after the other as they come. A sheet is never laid out as a rectangle: one cell in the last
//! corner of an empty sheet would make it one of seventeen thousand million.

mod hidden;

use std::io::Cursor;

use calamine::{DataRef, ExcelDateTime, Reader as _, SheetType, SheetVisible, Xlsx, XlsxError};
use contract::ports::documents::{DocumentError, DocumentText, Format, Part, Sheet, SheetCell, SheetRow};

use crate::package::not_readable;
use crate::tables;

/// More cells are not handed over.
const CELLS: usize = 2_000_000;

/// More words are not handed over, in bytes.
const WORDS: usize = 8 * 1024 * 1024;

type Book<'b> = Xlsx<Cursor<&'b [u8]>>;

/// What was seen in a sheet besides its cells.
#[derive(Debug, Default)]
struct Seen {
    /// Formulas whose results are not in the file.
    unsaved: usize,
    /// Results that are errors.
    errors: usize,
}

/// Why going through a sheet ended before its end.
enum Stopped {
    Failed(DocumentError),
    Enough,
}

fn open(bytes: &[u8]) -> Result<Book<'_>, DocumentError> {
    let book: Book<'_> = Xlsx::new(Cursor::new(bytes)).map_err(|error| in_words(&error))?;
    if book.sheets_metadata().is_empty() {
        return Err(not_readable("Excel workbook", &"it has no sheets"));
    }
    Ok(book)
}

fn in_words(error: &XlsxError) -> DocumentError {
    match error {
        XlsxError::Password => DocumentError::Encrypted,
        other => not_readable("Excel workbook", other),
    }
}

/// The sheets that hold cells, each with whether it is hidden. Sheets that are charts hold none.
fn sheets(book: &Book<'_>) -> Vec<(String, bool)> {
    let holds_cells = |kind: SheetType| kind == SheetType::WorkSheet;
    book.sheets_metadata()
        .iter()
        .filter(|sheet| holds_cells(sheet.typ))
        .map(|sheet| (sheet.name.clone(), sheet.visible != SheetVisible::Visible))
        .collect()
}

/// The names of its sheets; the first one is read to its end, to know that it can be.
pub(crate) fn names(bytes: &[u8]) -> Result<Vec<String>, DocumentError> {
    let mut book = open(bytes)?;
    let names: Vec<String> = sheets(&book).into_iter().map(|(name, _)| name).collect();
    if let Some(first) = names.first() {
        match each_row(&mut book, first, &mut Seen::default(), |_| true) {
            Ok(()) | Err(Stopped::Enough) => {}
            Err(Stopped::Failed(error)) => return Err(error),
        }
    }
    Ok(names)
}

/// The rows of one sheet.
pub(crate) fn sheet(bytes: &[u8], wanted: Option<&str>) -> Result<Sheet, DocumentError> {
    let mut book = open(bytes)?;
    let all = sheets(&book);
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let found = match wanted {
        Some(wanted) => all.iter().find(|(name, _)| name == wanted).or_else(|| {
            all.iter()
                .find(|(name, _)| name.to_lowercase() == wanted.to_lowercase())
        }),
        None => all.iter().find(|(_, hidden)| !hidden).or(all.first()),
    };
    let Some((name, is_hidden)) = found.cloned() else {
        return Err(DocumentError::NoSheet {
            name: wanted.unwrap_or_default().to_owned(),
            sheets: names,
        });
    };
    let (mut rows, mut seen, mut cells) = (Vec::new(), Seen::default(), 0_usize);
    let gone = each_row(&mut book, &name, &mut seen, |row| {
        cells += row.cells.len();
        rows.push(row);
        cells <= CELLS
    });
    match gone {
        Ok(()) => {}
        Err(Stopped::Enough) => return Err(DocumentError::TooMuch),
        Err(Stopped::Failed(error)) => return Err(error),
    }
    let mut notes = notes(bytes, &name, is_hidden, &seen);
    if wanted.is_none() && names.len() > 1 {
        let others: Vec<&str> = names
            .iter()
            .map(String::as_str)
            .filter(|other| *other != name)
            .collect();
        notes.insert(
            0,
            format!("this is the sheet \"{name}\"; there are also {}", others.join(", ")),
        );
    }
    Ok(Sheet {
        name,
        sheets: names,
        rows,
        notes,
    })
}

/// All sheets as tables to read.
pub(crate) fn text(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let mut book = open(bytes)?;
    let (mut parts, mut room, mut truncated) = (Vec::new(), WORDS, false);
    for (name, is_hidden) in sheets(&book) {
        if truncated {
            break;
        }
        let mut seen = Seen::default();
        let mut rows: Vec<SheetRow> = Vec::new();
        let gone = each_row(&mut book, &name, &mut seen, |row| {
            let size: usize = row.cells.iter().map(|cell| words(cell).len() + 3).sum();
            let fits = size < room;
            room = room.saturating_sub(size);
            rows.extend(fits.then_some(row));
            fits
        });
        match gone {
            Ok(()) => {}
            Err(Stopped::Enough) => truncated = true,
            Err(Stopped::Failed(error)) => return Err(error),
        }
        let mut notes = notes(bytes, &name, is_hidden, &seen);
        if rows.is_empty() {
            notes.push("empty sheet".to_owned());
        }
        parts.push(Part {
            heading: Some(name),
            notes,
            text: table(&rows),
        });
    }
    Ok(DocumentText {
        format: Format::Xlsx,
        parts,
        truncated,
    })
}

/// The rows from their first used column to their last, the first row as the header.
fn table(rows: &[SheetRow]) -> String {
    let first = rows.iter().map(|row| row.first).min().unwrap_or_default();
    let last = rows
        .iter()
        .map(|row| row.first + row.cells.len())
        .max()
        .unwrap_or_default();
    // A row far to the right is not a reason to write thousands of empty cells into every other one.
    const WIDEST: usize = 256;
    let columns = (last - first).min(WIDEST);
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let empty = std::iter::repeat_n(String::new(), (row.first - first).min(WIDEST));
            let mut cells: Vec<String> = empty.chain(row.cells.iter().map(words)).collect();
            if cells.len() > columns {
                let rest = cells.split_off(columns.saturating_sub(1));
                cells.push(
                    rest.into_iter()
                        .filter(|cell| !cell.is_empty())
                        .collect::<Vec<_>>()
                        .join(" / "),
                );
            }
            cells
        })
        .collect();
    tables::markdown(columns, rows.iter().map(Vec::as_slice))
}

fn notes(bytes: &[u8], name: &str, is_hidden: bool, seen: &Seen) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(is_hidden.then(|| "this sheet is hidden in the workbook".to_owned()));
    notes.extend(hidden::note(bytes, name));
    let cells = |count: usize| {
        if count == 1 {
            "1 cell".to_owned()
        } else {
            format!("{count} cells")
        }
    };
    notes.extend((seen.unsaved > 0).then(|| {
        format!(
            "{} with a formula and no saved result, empty here; open and save the workbook in a spreadsheet program to have the results",
            cells(seen.unsaved)
        )
    }));
    notes.extend((seen.errors > 0).then(|| format!("{} with an error such as #DIV/0!", cells(seen.errors))));
    notes
}

/// Gives every row that has something in it to `take`, until that says that it is enough.
fn each_row(
    book: &mut Book<'_>,
    name: &str,
    seen: &mut Seen,
    mut take: impl FnMut(SheetRow) -> bool,
) -> Result<(), Stopped> {
    let failed = |error: XlsxError| Stopped::Failed(in_words(&error));
    let mut reader = book.worksheet_cells_reader(name).map_err(failed)?;
    let mut row: Option<SheetRow> = None;
    while let Some(record) = reader.next_cell_with_formula_metadata().map_err(failed)? {
        let cell = cell(&record.value);
        seen.errors += usize::from(matches!(record.value, DataRef::Error(_)));
        if cell == SheetCell::Empty {
            seen.unsaved += usize::from(record.formula.is_some());
            continue;
        }
        let number = u64::from(record.pos.0) + 1;
        let column = record.pos.1 as usize;
        match &mut row {
            Some(row) if row.number == number && column >= row.first + row.cells.len() => {
                row.cells.resize(column - row.first, SheetCell::Empty);
                row.cells.push(cell);
            }
            before => {
                let begun = SheetRow {
                    number,
                    first: column,
                    cells: vec![cell],
                };
                if let Some(done) = before.replace(begun)
                    && !take(done)
                {
                    return Err(Stopped::Enough);
                }
            }
        }
    }
    match row.is_none_or(take) {
        true => Ok(()),
        false => Err(Stopped::Enough),
    }
}

fn cell(value: &DataRef<'_>) -> SheetCell {
    match value {
        DataRef::Empty => SheetCell::Empty,
        DataRef::Bool(flag) => SheetCell::Boolean(*flag),
        DataRef::Int(integer) => SheetCell::Integer(*integer),
        DataRef::Float(number) => self::number(*number),
        DataRef::DateTime(when) => date(when),
        DataRef::String(words) => text_cell(words),
        DataRef::SharedString(words) => text_cell(words),
        DataRef::DateTimeIso(words) | DataRef::DurationIso(words) => text_cell(words),
        DataRef::Error(error) => SheetCell::Text(error.to_string()),
    }
}

fn text_cell(words: &str) -> SheetCell {
    if words.is_empty() {
        return SheetCell::Empty;
    }
    SheetCell::Text(words.to_owned())
}

fn number(number: f64) -> SheetCell {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() <= EXACT {
        return SheetCell::Integer(number as i64);
    }
    if number.is_finite() {
        return SheetCell::Number(number);
    }
    SheetCell::Text(number.to_string())
}

/// A day, a time of day, both, or an amount of time.
fn date(when: &ExcelDateTime) -> SheetCell {
    const LAST_DAY: f64 = 2_958_466.0;
    let value = when.as_f64();
    if when.is_duration() {
        let seconds = (value * 86_400.0).round();
        if seconds.abs() > 1e12 {
            return number(value);
        }
        let (sign, seconds) = (if seconds < 0.0 { "-" } else { "" }, seconds.abs() as u64);
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        return SheetCell::Text(format!("{sign}{hours:02}:{minutes:02}:{rest:02}"));
    }
    if !(0.0..LAST_DAY).contains(&value) {
        return number(value);
    }
    let (year, month, day, hour, minute, second, milli) = when.to_ymd_hms_milli();
    let fraction = if milli == 0 {
        String::new()
    } else {
        format!(".{milli:03}")
    };
    let time = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
    SheetCell::Text(if value < 1.0 {
        time
    } else if value.fract() == 0.0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{time}")
    })
}

fn words(cell: &SheetCell) -> String {
    match cell {
        SheetCell::Empty => String::new(),
        SheetCell::Boolean(flag) => flag.to_string().to_uppercase(),
        SheetCell::Integer(integer) => integer.to_string(),
        SheetCell::Number(number) => number.to_string(),
        SheetCell::Text(words) => words.clone(),
    }
}
