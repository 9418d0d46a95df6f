//! PDF: the words of each page. What is only painted, as in a scan, is not read, and that is said.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use contract::ports::documents::{DocumentError, DocumentText, Format, Part};
use pdf_extract::{
    ConvertToFmt, Document, Error, MediaBox, OutputDev, OutputError, PlainTextOutput, Transform, output_doc,
    output_doc_page,
};

use crate::package::not_readable;

/// More words are not handed over, in bytes.
const MOST: usize = 8 * 1024 * 1024;

/// Pages that are tried one by one after one of them could not be read: each costs a look at all of them.
const ONE_BY_ONE: usize = 1_000;

/// How many pages there are.
pub(crate) fn pages(bytes: &[u8]) -> Result<u64, DocumentError> {
    let count = open(bytes)?.page_iter().count();
    match count {
        0 => Err(not_readable("PDF", &"it has no pages")),
        pages => Ok(pages as u64),
    }
}

fn open(bytes: &[u8]) -> Result<Document, DocumentError> {
    let mut document = Document::load_mem(bytes).map_err(|error| in_words(&error))?;
    // Many are encrypted only so that they cannot be printed: an empty password opens them.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(DocumentError::Encrypted);
    }
    Ok(document)
}

fn in_words(error: &Error) -> DocumentError {
    match error {
        Error::Decryption(_) | Error::InvalidPassword => DocumentError::Encrypted,
        other => not_readable("PDF", other),
    }
}

/// The words, page by page.
pub(crate) fn text(bytes: &[u8]) -> Result<DocumentText, DocumentError> {
    let document = open(bytes)?;
    let count = document.page_iter().count();
    if count == 0 {
        return Err(not_readable("PDF", &"it has no pages"));
    }
    let pages = read(&document, count);
    let unread = |page: &Page| !page.read;
    if pages.iter().all(unread) {
        return Err(not_readable("PDF", &"none of its pages can be read"));
    }
    if !pages.iter().any(unread) && pages.iter().all(|page| page.text.trim().is_empty()) {
        return Err(DocumentError::NoText { pages: count });
    }
    let mut room = MOST;
    let mut parts = Vec::new();
    for (number, page) in (1..).zip(pages) {
        let text = tidy(&page.text);
        if text.len() > room {
            break;
        }
        room -= text.len();
        parts.push(Part {
            heading: (count > 1).then(|| format!("Page {number} of {count}")),
            notes: (!page.read)
                .then(|| "this page can be read only in part, or not at all".to_owned())
                .into_iter()
                .collect(),
            text,
        });
    }
    Ok(DocumentText {
        format: Format::Pdf,
        truncated: parts.len() < count,
        parts,
    })
}

/// Lines without the space around them, and never more than one empty line.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
    lines.join("\n").trim().to_owned()
}

#[derive(Default)]
struct Page {
    text: String,
    /// Whether it was read to its end.
    read: bool,
}

/// A page that cannot be read does not take the others with it.
fn read(document: &Document, count: usize) -> Vec<Page> {
    let pages: Rc<RefCell<Vec<Page>>> = Rc::default();
    let whole = catch_unwind(AssertUnwindSafe(|| output_doc(document, &mut ByPage::into(&pages))));
    let mut next = pages.borrow().len();
    if !matches!(whole, Ok(Ok(()))) {
        while next < count && next < ONE_BY_ONE {
            let number = u32::try_from(next + 1).unwrap_or(u32::MAX);
            let single: Rc<RefCell<Vec<Page>>> = Rc::default();
            let _ = catch_unwind(AssertUnwindSafe(|| {
                output_doc_page(document, &mut ByPage::into(&single), number)
            }));
            pages.borrow_mut().push(single.take().pop().unwrap_or_default());
            next += 1;
        }
    }
    let mut pages = pages.take();
    pages.resize_with(count, Page::default);
    pages
}

/// Text goes to the page that was begun last.
struct ByPage {
    pages: Rc<RefCell<Vec<Page>>>,
    plain: PlainTextOutput<Pen>,
}

/// Writes to the last page.
struct Pen(Rc<RefCell<Vec<Page>>>);

impl std::fmt::Write for Pen {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let mut pages = self.0.borrow_mut();
        if let Some(page) = pages.last_mut() {
            if page.text.len() > MOST {
                return Err(std::fmt::Error);
            }
            page.text.push_str(text);
        }
        Ok(())
    }
}

impl ConvertToFmt for Pen {
    type Writer = Self;

    fn convert(self) -> Self {
        self
    }
}

impl ByPage {
    fn into(pages: &Rc<RefCell<Vec<Page>>>) -> Self {
        Self {
            pages: Rc::clone(pages),
            plain: PlainTextOutput::new(Pen(Rc::clone(pages))),
        }
    }
}

impl OutputDev for ByPage {
    fn begin_page(
        &mut self,
        number: u32,
        size: &MediaBox,
        art: Option<(f64, f64, f64, f64)>,
    ) -> Result<(), OutputError> {
        self.pages.borrow_mut().push(Page::default());
        self.plain.begin_page(number, size, art)
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        if let Some(page) = self.pages.borrow_mut().last_mut() {
            page.read = true;
        }
        self.plain.end_page()
    }

    fn output_character(
        &mut self,
        place: &Transform,
        width: f64,
        spacing: f64,
        size: f64,
        character: &str,
    ) -> Result<(), OutputError> {
        self.plain.output_character(place, width, spacing, size, character)
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.plain.begin_word()
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        self.plain.end_word()
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        self.plain.end_line()
    }
}
