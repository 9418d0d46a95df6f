//! A long table before a judge: what its columns hold, so that "every row has an urgency" can be judged without reading
//! all of it (goal-pipeline page, "Judge": table profiles).
//!
//! Deliberately not here: sheets, and repairing a broken table. Where rows are of different lengths the profile says so.

use std::collections::HashSet;

use csv::{ReaderBuilder, StringRecord};

use crate::prompts;

/// More different values than this are not counted.
const MOST_DIFFERENT: usize = 1_000;

/// What can stand between two cells; of equals the first counts.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

struct Column {
    name: String,
    empty: usize,
    numbers: usize,
    least: f64,
    most: f64,
    different: HashSet<String>,
}

/// The profile of a file that is a table and too long to be shown whole, in at most half of `limit` characters.
pub fn of(path: &str, text: &str, limit: usize) -> Option<String> {
    let is_table = path.to_ascii_lowercase().ends_with(".csv");
    if !is_table || prompts::beginning(text, limit).1 == 0 {
        return None;
    }
    Some(prompts::cut(&profile(text)?, limit / 2))
}

fn profile(text: &str) -> Option<String> {
    let mut records = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator(text))
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    if !records.read_record(&mut record).ok()? {
        return None;
    }
    let mut columns: Vec<Column> = record.iter().map(Column::new).collect();
    let (mut rows, mut uneven) = (0_usize, 0_usize);
    while records.read_record(&mut record).ok()? {
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        rows += 1;
        uneven += usize::from(record.len() != columns.len());
        for (column, cell) in columns.iter_mut().zip(record.iter()) {
            column.take(cell.trim());
        }
    }
    let described: Vec<String> = columns.iter().map(|column| column.describe(rows)).collect();
    let uneven = match uneven {
        0 => String::new(),
        many => format!(" {many} of them have more or fewer cells than there are columns."),
    };
    Some(format!(
        "A table of {rows} rows.{uneven} Columns: {}.",
        described.join("; ")
    ))
}

/// What splits the first line into the most cells.
fn separator(text: &str) -> u8 {
    let cells = |separator: &u8| {
        let mut first = ReaderBuilder::new()
            .has_headers(false)
            .delimiter(*separator)
            .from_reader(text.as_bytes());
        let mut record = StringRecord::new();
        first.read_record(&mut record).map_or(0, |_| record.len())
    };
    // Of equals the last would count.
    SEPARATORS.iter().rev().copied().max_by_key(cells).unwrap_or(b',')
}

impl Column {
    fn new(name: &str) -> Self {
        Self {
            name: name.trim().to_owned(),
            empty: 0,
            numbers: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            different: HashSet::new(),
        }
    }

    fn take(&mut self, cell: &str) {
        if cell.is_empty() {
            self.empty += 1;
        }
        if let Some(number) = cell.parse::<f64>().ok().filter(|number| number.is_finite()) {
            self.numbers += 1;
            self.least = self.least.min(number);
            self.most = self.most.max(number);
        }
        if self.different.len() <= MOST_DIFFERENT && !self.different.contains(cell) {
            self.different.insert(cell.to_owned());
        }
    }

    fn describe(&self, rows: usize) -> String {
        let different = match self.different.len() {
            many if many > MOST_DIFFERENT => format!("more than {MOST_DIFFERENT}"),
            count => count.to_string(),
        };
        let numbers = if self.numbers > 0 && self.numbers + self.empty == rows {
            format!(", numbers from {} to {}", self.least, self.most)
        } else {
            String::new()
        };
        format!(
            "{}: {different} different values, {} empty{numbers}",
            self.name, self.empty
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(header: &str, row: impl Fn(usize) -> String, expected: &str) {
        let rows: Vec<String> = (0..1_000).map(row).collect();
        let text = format!("{header}\n{}\n", rows.join("\n"));
        assert_eq!(of("A.CSV", &text, 2_000).as_deref(), Some(expected));
    }

    #[test]
    fn a_long_table_is_described_by_what_its_columns_hold() {
        check(
            "name,amount",
            |row| format!("n{},{row}", row % 7),
            "A table of 1000 rows. Columns: name: 7 different values, 0 empty; amount: 1000 different values, 0 empty, numbers from 0 to 999.",
        );
    }

    #[test]
    fn a_quoted_cell_is_one_cell() {
        check(
            "name;\"overall; percent\";urgency",
            |row| format!("\"Doe; Jane\n{row}\";{};", row % 2),
            "A table of 1000 rows. Columns: name: 1000 different values, 0 empty; overall; percent: 2 different values, 0 empty, numbers from 0 to 1; urgency: 1 different values, 1000 empty.",
        );
    }

    #[test]
    fn rows_of_another_length_are_counted() {
        check(
            "name,amount",
            |row| if row < 3 { "x".to_owned() } else { "x,1".to_owned() },
            "A table of 1000 rows. 3 of them have more or fewer cells than there are columns. Columns: name: 1 different values, 0 empty; amount: 1 different values, 0 empty.",
        );
    }

    #[test]
    fn what_fits_or_is_no_table_has_no_profile() {
        assert_eq!(of("a.csv", "name\nx\n", 100), None);
        assert_eq!(of("a.md", "name\nx\n", 3), None);
    }
}
