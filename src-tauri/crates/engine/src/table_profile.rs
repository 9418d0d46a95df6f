//! A long table before a judge: what its columns hold, and its first rows, so that "every row has an urgency" can be
//! judged without reading all of it (goal-pipeline page, "Judge": table profiles).
//!
//! Deliberately not here: reading quoted cells with line breaks, and sheets. A table that is none shows as text.

use std::collections::HashSet;

use crate::prompts;

/// More different values than this are not counted.
const MOST_DIFFERENT: usize = 1_000;

struct Column<'t> {
    name: &'t str,
    empty: usize,
    numbers: usize,
    least: f64,
    most: f64,
    different: HashSet<&'t str>,
}

/// A file's text as a judge sees it: whole when it is short, a profile and the first rows when it is a long table,
/// its beginning otherwise.
pub fn shown(path: &str, text: &str, limit: usize) -> String {
    let is_table = path.to_ascii_lowercase().ends_with(".csv");
    if !is_table || text.len() <= limit {
        return prompts::cut(text, limit);
    }
    let profile = prompts::cut(&profile(text), limit / 2);
    let rows = prompts::cut(text, limit.saturating_sub(profile.chars().count()));
    format!("{profile}\n{rows}")
}

fn profile(text: &str) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let Some(header) = lines.next() else {
        return String::new();
    };
    let mut columns: Vec<Column<'_>> = cells(header)
        .map(|name| Column {
            name,
            empty: 0,
            numbers: 0,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
            different: HashSet::new(),
        })
        .collect();
    let mut rows = 0_usize;
    for line in lines {
        rows += 1;
        for (column, cell) in columns.iter_mut().zip(cells(line)) {
            column.take(cell);
        }
    }
    let described: Vec<String> = columns.iter().map(|column| column.describe(rows)).collect();
    format!("[A table of {rows} rows. Columns: {}]", described.join("; "))
}

impl<'t> Column<'t> {
    fn take(&mut self, cell: &'t str) {
        if cell.is_empty() {
            self.empty += 1;
        }
        if let Ok(number) = cell.parse::<f64>() {
            self.numbers += 1;
            self.least = self.least.min(number);
            self.most = self.most.max(number);
        }
        if self.different.len() <= MOST_DIFFERENT {
            self.different.insert(cell);
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

fn cells(line: &str) -> impl Iterator<Item = &str> {
    // A quoted cell may hold the separator; of a line with quotes only the plain ones would be told apart.
    let separator = if line.contains(';') && !line.contains(',') {
        ';'
    } else {
        ','
    };
    line.split(separator).map(|cell| cell.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_table_is_shown_by_what_its_columns_hold() {
        let mut text = "name,amount\n".to_owned();
        for row in 0..1_000 {
            text.push_str(&format!("n{},{}\n", row % 7, row));
        }
        let shown = shown("a.csv", &text, 2_000);
        assert!(
            shown.starts_with(
                "[A table of 1000 rows. Columns: name: 7 different values, 0 empty; amount: 1000 different values, 0 empty, numbers from 0 to 999]"
            ),
            "{shown}"
        );
        assert!(shown.contains("n3,3\n") && shown.len() < 2_100, "{}", shown.len());
    }

    #[test]
    fn a_short_file_is_shown_whole() {
        assert_eq!(shown("a.csv", "name\nx\n", 100), "name\nx\n");
        assert_eq!(shown("a.md", "abcdef", 3), "abc\n[… 3 more characters are not shown]");
    }
}
