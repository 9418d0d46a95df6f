//! CSV text split into records, broken ones told apart.
//!
//! Our own reader, because a broken record must cost one line and not the rest of the file: where a
//! quotation mark is never closed, or is followed by more text, that line is reported and reading
//! goes on with the next one. Well-formed text reads as the `csv` crate reads it (tested).

use crate::table::Skipped;

/// One record, with the number that a spreadsheet would show beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) row: u64,
    pub(crate) line: u64,
    pub(crate) fields: Vec<String>,
}

/// All records of a text, and the first of the lines that are none; nothing when there are more than so many `cells`.
pub(crate) fn split(text: &str, delimiter: u8, cells: usize) -> Option<(Vec<Record>, Vec<Skipped>)> {
    let mut reader = Reader {
        text: text.as_bytes(),
        at: 0,
        line: 1,
        delimiter,
        one_line: false,
        most: cells,
    };
    let (mut records, mut broken) = (Vec::new(), Vec::new());
    let (mut row, mut left) = (0, cells);
    // A mark that is never closed is looked for up to the end of the text. In a text full of them that
    // would cost the square of its length, so after a while a field has to end with its line.
    let mut patience = text.len().saturating_mul(8);
    while reader.at < text.len() {
        row += 1;
        let (start, line) = (reader.at, reader.line);
        reader.most = left;
        let read = reader.record();
        if reader.most == 0 {
            return None;
        }
        match read {
            Ok(fields) if fields.iter().all(|field| field.trim().is_empty()) && fields.len() <= 1 => {}
            Ok(fields) => {
                left -= fields.len().min(left);
                records.push(Record { row, line, fields });
            }
            Err(reason) => {
                patience = patience.saturating_sub(reader.at - start);
                reader.one_line |= patience == 0;
                if broken.len() < BROKEN {
                    broken.push(Skipped {
                        line,
                        reason: reason.to_owned(),
                    });
                }
                (reader.at, reader.line) = (start, line);
                reader.skip_line();
            }
        }
    }
    Some((records, broken))
}

/// How many lines that are no records are named.
const BROKEN: usize = 10_000;

/// The delimiter that splits the beginning of this text most evenly.
pub(crate) fn sniff(text: &str) -> u8 {
    const SAMPLE: usize = 64 * 1024;
    const RECORDS: usize = 50;
    let mut end = text.len().min(SAMPLE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    // A sample that stops inside a record would make it look uneven.
    let sample = if end < text.len() {
        text[..end].rsplit_once('\n').map_or(&text[..end], |(whole, _)| whole)
    } else {
        text
    };
    let evenness = |delimiter: u8| {
        let Some((records, _)) = split(sample, delimiter, usize::MAX) else {
            return (0, 0);
        };
        let records = &records[..records.len().min(RECORDS)];
        let width = records.first().map_or(0, |header| header.fields.len());
        let fitting = records.iter().filter(|record| record.fields.len() == width).count();
        if width < 2 {
            (0, 0)
        } else {
            (fitting * 1000 / records.len(), width)
        }
    };
    // Of equals the last counts: the comma.
    b"|\t;,"
        .iter()
        .copied()
        .max_by_key(|delimiter| evenness(*delimiter))
        .unwrap_or(b',')
}

const NEVER_CLOSED: &str = "a quotation mark is never closed";

struct Reader<'text> {
    text: &'text [u8],
    at: usize,
    line: u64,
    delimiter: u8,
    /// Whether a quoted field has to end with its line.
    one_line: bool,
    /// How many fields there may still be.
    most: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn record(&mut self) -> Result<Vec<String>, &'static str> {
        let mut fields = Vec::new();
        loop {
            fields.push(self.field()?);
            self.most = self.most.saturating_sub(1);
            if self.most == 0 {
                return Ok(fields);
            }
            match self.peek() {
                Some(byte) if byte == self.delimiter => self.at += 1,
                _ => {
                    self.line_end();
                    return Ok(fields);
                }
            }
        }
    }

    fn field(&mut self) -> Result<String, &'static str> {
        let spaces = self.text[self.at..].iter().take_while(|byte| **byte == b' ').count();
        if self.text.get(self.at + spaces) == Some(&b'"') {
            self.at += spaces;
            return self.quoted();
        }
        let rest = &self.text[self.at..];
        let length = rest
            .iter()
            .position(|byte| self.ends_field(*byte))
            .unwrap_or(rest.len());
        self.at += length;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn quoted(&mut self) -> Result<String, &'static str> {
        self.at += 1;
        let mut field = Vec::new();
        loop {
            match self.peek() {
                None => return Err(NEVER_CLOSED),
                Some(b'\n' | b'\r') if self.one_line => return Err(NEVER_CLOSED),
                Some(b'"') if self.text.get(self.at + 1) == Some(&b'"') => {
                    field.push(b'"');
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(byte) => {
                    self.line += u64::from(byte == b'\n');
                    field.push(byte);
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        self.at += self.text[self.at..].iter().take_while(|byte| **byte == b' ').count();
        match self.peek() {
            Some(byte) if !self.ends_field(byte) => Err("a quotation mark is in the wrong place, or not closed"),
            _ => Ok(String::from_utf8_lossy(&field).into_owned()),
        }
    }

    fn ends_field(&self, byte: u8) -> bool {
        byte == self.delimiter || byte == b'\n' || byte == b'\r'
    }

    fn skip_line(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'))
            .unwrap_or(rest.len());
        self.line_end();
    }

    fn line_end(&mut self) {
        match (self.peek(), self.text.get(self.at + 1)) {
            (Some(b'\r'), Some(b'\n')) => self.at += 2,
            (Some(b'\r' | b'\n'), _) => self.at += 1,
            _ => return,
        }
        self.line += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> (Vec<Record>, Vec<Skipped>) {
        split(text, b',', usize::MAX).unwrap()
    }

    #[test]
    fn a_text_of_more_cells_than_are_held_is_none() {
        assert!(split("a,b\n1,2\n", b',', 5).is_some());
        assert!(split("a,b\n1,2\n", b',', 4).is_none());
        assert!(split(&",".repeat(100), b',', 50).is_none());
    }

    fn fields(text: &str) -> Vec<Vec<String>> {
        all(text).0.into_iter().map(|record| record.fields).collect()
    }

    fn check(text: &str, expected: &[&[&str]]) {
        assert_eq!(fields(text), expected, "{text:?}");
    }

    #[test]
    fn reads_quoted_commas_marks_and_line_breaks() {
        check(
            "a,\"b, c\",\"say \"\"hi\"\"\"\r\n\"two\nlines\",,x",
            &[&["a", "b, c", "say \"hi\""], &["two\nlines", "", "x"]],
        );
    }

    #[test]
    fn a_text_full_of_stray_marks_costs_its_length_and_not_the_square_of_it() {
        let (records, broken) = all(&"a\",\"b\n".repeat(200_000));
        assert_eq!(
            (records.len(), broken.len()),
            (0, BROKEN),
            "the first of them are named"
        );
        let whole = format!("{}\"two\nlines\",x\n", "\"open,1\n".repeat(3));
        assert_eq!(all(&whole).0.len(), 1, "a few broken lines change nothing");
    }

    #[test]
    fn leaves_out_empty_lines() {
        check("a,b\n\n  \n1,2\n\n", &[&["a", "b"], &["1", "2"]]);
    }

    #[test]
    fn takes_a_mark_inside_a_field_as_it_is() {
        check("5\" disk,x", &[&["5\" disk", "x"]]);
    }

    #[test]
    fn allows_spaces_around_quotation_marks() {
        check("a, \"b, c\" ,d", &[&["a", "b, c", "d"]]);
    }

    #[test]
    fn an_unclosed_mark_costs_one_line() {
        let (records, broken) = all("a,b\n1,\"open\n2,\"x, y\"\n3,z\n");
        let kept: Vec<_> = records
            .iter()
            .map(|record| (record.row, record.line, record.fields.len()))
            .collect();
        assert_eq!(kept, [(1, 1, 2), (3, 3, 2), (4, 4, 2)]);
        assert_eq!(broken.iter().map(|skipped| skipped.line).collect::<Vec<_>>(), [2]);
        let (records, broken) = all("a,b\n1,\"open\n2,z\n");
        assert_eq!((records.len(), broken.len()), (2, 1));
    }

    #[test]
    fn counts_lines_through_fields_with_line_breaks() {
        let (records, _) = all("a\n\"1\n2\"\n3\n");
        assert_eq!((records[2].row, records[2].line), (3, 4));
    }

    #[test]
    fn finds_the_delimiter() {
        assert_eq!(sniff("a;b\n1,5;2\n"), b';');
        assert_eq!(sniff("a\tb\n1\t2\n"), b'\t');
        assert_eq!(sniff("a|b\n1|2\n"), b'|');
        assert_eq!(sniff("a,b\n\"1;2\",2\n"), b',');
        assert_eq!(sniff("one column\nonly"), b',');
    }

    proptest! {
        #[test]
        fn reads_what_is_well_formed_as_everybody_does(rows in prop::collection::vec(prop::collection::vec("[a-z\", \n;é]{0,6}", 3), 1..6)) {
            let mut writer = ::csv::WriterBuilder::new().quote_style(::csv::QuoteStyle::Always).from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
            let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
            prop_assert_eq!(&expected, &rows);
            prop_assert_eq!(fields(&text), expected);
        }

        #[test]
        fn any_text_at_all_ends(text in "[a\", \n\r;]{0,40}") {
            let (records, broken) = all(&text);
            prop_assert!(records.len() + broken.len() <= text.len() + 1);
        }
    }
}
