//! The elements of a Word document as they come, made to paragraphs. Nothing here calls itself: how deep a document is
//! nested costs memory and no stack.

use std::collections::HashMap;

use quick_xml::events::BytesStart;

use crate::package::attribute;
use crate::tables;

/// What a paragraph is by its style.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A heading of this level.
    Heading(usize),
    /// An item of a list.
    Item,
}

/// Paragraphs and tables, in the making.
pub(super) struct Blocks<'s> {
    styles: &'s HashMap<String, Role>,
    text: String,
    /// The paragraph that is being read.
    paragraph: Paragraph,
    /// Tables that are being read, the innermost last.
    tables: Vec<Vec<Vec<String>>>,
    /// Whether the text that comes is text of the document.
    speaks: bool,
    /// How deep this is in a part that repeats another one for older programs.
    repeated: usize,
    after_list: bool,
    is_word: bool,
}

#[derive(Default)]
struct Paragraph {
    words: String,
    heading: Option<usize>,
    is_list: bool,
}

impl<'s> Blocks<'s> {
    pub(super) fn new(styles: &'s HashMap<String, Role>) -> Self {
        Self {
            styles,
            text: String::new(),
            paragraph: Paragraph::default(),
            tables: Vec::new(),
            speaks: false,
            repeated: 0,
            after_list: false,
            is_word: false,
        }
    }

    /// How much there is so far, in bytes.
    pub(super) fn length(&self) -> usize {
        self.text.len() + self.paragraph.words.len()
    }

    /// Whether any of it was of a Word document.
    pub(super) fn is_word(&self) -> bool {
        self.is_word
    }

    pub(super) fn begin(&mut self, element: &BytesStart<'_>) {
        let name = element.local_name();
        let name = name.as_ref();
        if name == "Fallback" || self.repeated > 0 {
            self.repeated += 1;
            return;
        }
        match name {
            "document" | "footnotes" | "endnotes" => self.is_word = true,
            "p" => self.paragraph = Paragraph::default(),
            "pStyle" => {
                let style = attribute(element, "val").unwrap_or_default();
                match self.styles.get(&style) {
                    Some(Role::Heading(level)) => self.paragraph.heading = Some(*level),
                    Some(Role::Item) => self.paragraph.is_list = true,
                    None => {}
                }
            }
            "numPr" => self.paragraph.is_list = true,
            "t" => self.speaks = true,
            "tab" => self.paragraph.words.push('\t'),
            "br" | "cr" => self.paragraph.words.push('\n'),
            "noBreakHyphen" => self.paragraph.words.push('-'),
            "tbl" => self.tables.push(Vec::new()),
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    table.push(Vec::new());
                }
            }
            "tc" => {
                if let Some(row) = self.tables.last_mut().and_then(|table| table.last_mut()) {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    pub(super) fn end(&mut self, name: &str) {
        if self.repeated > 0 {
            self.repeated -= 1;
            return;
        }
        match name {
            "t" => self.speaks = false,
            "p" => self.end_paragraph(),
            "tbl" => self.end_table(),
            _ => {}
        }
    }

    pub(super) fn say(&mut self, words: &str) {
        if self.speaks && self.repeated == 0 {
            self.paragraph.words.push_str(words);
        }
    }

    fn end_paragraph(&mut self) {
        let Paragraph {
            words,
            heading,
            is_list,
        } = std::mem::take(&mut self.paragraph);
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        if let Some(cell) = self.cell() {
            if !cell.is_empty() {
                cell.push('\n');
            }
            cell.push_str(words);
            return;
        }
        let block = match heading {
            Some(level) => format!("{} {words}", "#".repeat(level.clamp(1, 6))),
            None if is_list => format!("- {words}"),
            None => words.to_owned(),
        };
        self.push(&block, is_list && heading.is_none());
    }

    /// A table in a table is a line of its cell.
    fn end_table(&mut self) {
        let Some(rows) = self.tables.pop() else {
            return;
        };
        let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
        if columns == 0 {
            return;
        }
        if let Some(cell) = self.cell() {
            let lines: Vec<String> = rows.iter().map(|row| row.join(" / ")).collect();
            cell.push_str(&lines.join("\n"));
            return;
        }
        let table = tables::markdown(columns, rows.iter().map(Vec::as_slice));
        self.push(&table, false);
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.tables.last_mut()?.last_mut()?.last_mut()
    }

    fn push(&mut self, block: &str, is_list: bool) {
        if !self.text.is_empty() {
            self.text
                .push_str(if is_list && self.after_list { "\n" } else { "\n\n" });
        }
        self.after_list = is_list;
        self.text.push_str(block);
    }

    /// All of it.
    pub(super) fn finish(mut self) -> String {
        while !self.tables.is_empty() {
            self.end_table();
        }
        self.text
    }
}
