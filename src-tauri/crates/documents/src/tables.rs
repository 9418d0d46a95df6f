//! Rows as text: tables as Markdown writes them.

/// A table with its first row as the header; every row is given as many cells as there are columns.
pub(crate) fn markdown<'r>(columns: usize, rows: impl IntoIterator<Item = &'r [String]>) -> String {
    let mut text = String::new();
    for (number, row) in rows.into_iter().enumerate() {
        line(&mut text, columns, row.iter().map(String::as_str));
        if number == 0 {
            line(&mut text, columns, std::iter::repeat_n("---", columns));
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn line<'c>(text: &mut String, columns: usize, cells: impl Iterator<Item = &'c str>) {
    let missing = std::iter::repeat("");
    text.push('|');
    for cell in cells.chain(missing).take(columns) {
        text.push(' ');
        escape(text, cell);
        text.push_str(" |");
    }
    text.push('\n');
}

fn escape(text: &mut String, cell: &str) {
    let mut characters = cell.trim().chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '|' => text.push_str("\\|"),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\n' | '\r' => text.push_str("<br>"),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_a_table_that_stays_one() {
        let row = |cells: &[&str]| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>();
        let rows = [row(&["a", "b|c"]), row(&["1\r\n2"])];
        let text = markdown(2, rows.iter().map(Vec::as_slice));
        assert_eq!(text, "| a | b\\|c |\n| --- | --- |\n| 1<br>2 |  |");
    }
}
