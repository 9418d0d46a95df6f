//! Office files, PDF and images, as words and as tables (tools page, "Permissions": a parser of strangers' files is never
//! inside the app). The port is given bytes and returns what is in them, or says in words why it cannot.
//!
//! Deliberately not here: which file; whoever has the bytes was allowed to read them.

use std::fmt;

use async_trait::async_trait;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest file that is opened as a document, in bytes.
pub const LARGEST: u64 = 50 * 1024 * 1024;

/// Whether these bytes begin like a document that only this port can read: a PDF, an archive (as .xlsx and .docx are),
/// an older office file. What a file is called does not count. Images are not among them: they have no words.
pub fn is_document(bytes: &[u8]) -> bool {
    let pdf = bytes.get(..1024).unwrap_or(bytes);
    bytes.starts_with(b"PK\x03\x04")
        || bytes.starts_with(b"PK\x05\x06")
        || bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
        || pdf.windows(5).any(|five| five == b"%PDF-") && !pdf.starts_with(b"<")
}

/// What a file is, found by opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// A workbook of Excel since 2007, also with macros.
    Xlsx,
    /// A text of Word since 2007, also with macros.
    Docx,
    /// A presentation of PowerPoint since 2007. It is recognised and not read.
    Pptx,
    /// A document for printing.
    Pdf,
    /// An archive that is none of the above.
    Zip,
    /// An image.
    Png,
    /// An image.
    Jpeg,
    /// An image.
    Gif,
    /// An image.
    Webp,
    /// An image.
    Bmp,
}

impl Format {
    /// Every format, in the order in which they are offered.
    pub const ALL: [Self; 10] = [
        Self::Pdf,
        Self::Xlsx,
        Self::Docx,
        Self::Pptx,
        Self::Png,
        Self::Jpeg,
        Self::Gif,
        Self::Webp,
        Self::Bmp,
        Self::Zip,
    ];

    /// The name by which a task asks for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Docx => "docx",
            Self::Pptx => "pptx",
            Self::Pdf => "pdf",
            Self::Zip => "zip",
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Bmp => "bmp",
        }
    }

    /// What it is, for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Xlsx => "an Excel workbook",
            Self::Docx => "a Word document",
            Self::Pptx => "a PowerPoint presentation",
            Self::Pdf => "a PDF",
            Self::Zip => "a ZIP archive",
            Self::Png => "a PNG image",
            Self::Jpeg => "a JPEG image",
            Self::Gif => "a GIF image",
            Self::Webp => "a WebP image",
            Self::Bmp => "a BMP image",
        }
    }
}

/// Reads documents. Every call is bounded in time and memory, whatever the bytes are.
#[async_trait]
pub trait Documents: Send + Sync {
    /// The words of a document.
    async fn text(&self, bytes: Vec<u8>) -> Result<DocumentText, DocumentError>;

    /// The rows of one sheet of a workbook; of the first one that is not hidden when none is named.
    async fn sheet(&self, bytes: Vec<u8>, sheet: Option<&str>) -> Result<Sheet, DocumentError>;

    /// What a file is, how many pages it has and how large it is, found by opening it.
    async fn facts(&self, bytes: Vec<u8>) -> Result<Facts, DocumentError>;

    /// What holds the processes that read documents, in words; of several that were seen the weakest, none before the
    /// first one was.
    fn containment(&self) -> Option<String> {
        None
    }
}

/// The words of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentText {
    /// What it is.
    pub format: Format,
    /// Its pages or sheets; a single one for what has neither.
    pub parts: Vec<Part>,
    /// Whether its end is left out, because it has more words than anybody reads.
    pub truncated: bool,
}

/// A page or a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// What stands above it when it is shown: `Page 2 of 3`, the name of a sheet; none for a single part.
    pub heading: Option<String>,
    /// What must be known to read it right, such as that it is hidden.
    pub notes: Vec<String>,
    /// Its words. Tables are written as Markdown writes them.
    pub text: String,
}

impl DocumentText {
    /// All of it as a person reads it: the parts under their headings, and what must be known of them.
    pub fn shown(&self) -> String {
        let part = |part: &Part| {
            let heading = part.heading.iter().map(|heading| match self.format {
                Format::Pdf => format!("--- {heading} ---"),
                _ => format!("## {heading}"),
            });
            let notes = part.notes.iter().map(|note| format!("({note})"));
            let text = Some(part.text.clone()).filter(|text| !text.is_empty());
            heading.chain(notes).chain(text).collect::<Vec<_>>().join("\n")
        };
        let mut shown: Vec<String> = self.parts.iter().map(part).collect();
        if self.truncated {
            shown.push("(The rest is left out: the document is longer than can be read.)".to_owned());
        }
        shown.join("\n\n")
    }

    /// Only what is written in it, to be counted and searched.
    pub fn words(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().map(|part| part.text.as_str()).collect();
        texts.join("\n")
    }
}

/// One sheet of a workbook.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sheet {
    /// Its name.
    pub name: String,
    /// The names of all sheets, in their order.
    pub sheets: Vec<String>,
    /// The rows that have something in them.
    pub rows: Vec<SheetRow>,
    /// What must be known to read it right, such as hidden rows, and formulas whose results were not saved.
    pub notes: Vec<String>,
}

/// One row of a sheet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SheetRow {
    /// The number that stands beside it, from 1 on.
    pub number: u64,
    /// The column of its first cell, from 0 on.
    pub first: usize,
    /// Its cells from there on.
    pub cells: Vec<SheetCell>,
}

/// A cell exactly as the workbook keeps it. A formula is its last result, an error its sign such as `#DIV/0!`.
#[derive(Debug, Clone, PartialEq)]
pub enum SheetCell {
    /// Nothing.
    Empty,
    /// True or false.
    Boolean(bool),
    /// A number without a fraction.
    Integer(i64),
    /// A number.
    Number(f64),
    /// Words; a date as ISO 8601 writes it.
    Text(String),
}

impl Serialize for SheetCell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Empty => serializer.serialize_unit(),
            Self::Boolean(flag) => serializer.serialize_bool(*flag),
            Self::Integer(integer) => serializer.serialize_i64(*integer),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(words) => serializer.serialize_str(words),
        }
    }
}

impl<'de> Deserialize<'de> for SheetCell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyCell)
    }
}

/// Reads a cell as it comes: a workbook has millions, and trying one kind after the other would read each of them anew.
struct AnyCell;

impl Visitor<'_> for AnyCell {
    type Value = SheetCell;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a cell")
    }

    fn visit_unit<E: de::Error>(self) -> Result<SheetCell, E> {
        Ok(SheetCell::Empty)
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<SheetCell, E> {
        Ok(SheetCell::Boolean(flag))
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<SheetCell, E> {
        Ok(SheetCell::Integer(integer))
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<SheetCell, E> {
        Ok(i64::try_from(integer).map_or(SheetCell::Number(integer as f64), SheetCell::Integer))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<SheetCell, E> {
        Ok(SheetCell::Number(number))
    }

    fn visit_str<E: de::Error>(self, words: &str) -> Result<SheetCell, E> {
        Ok(SheetCell::Text(words.to_owned()))
    }
}

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Facts {
    /// Its format.
    pub format: Format,
    /// How many pages it has, where that is known: of a PDF, and of a Word document that says so.
    pub pages: Option<u64>,
    /// The names of its sheets, for a workbook.
    pub sheets: Vec<String>,
    /// Width and height in pixels, for an image.
    pub size: Option<(u32, u32)>,
}

/// Why a document could not be read. The messages are for people, and continue "... cannot be read: ".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "camelCase")]
pub enum DocumentError {
    /// It is damaged, or something else than its beginning says.
    #[error("it is not a readable {what}: {reason}")]
    NotReadable {
        /// What it should be.
        what: String,
        /// In words.
        reason: String,
    },
    /// It needs a password.
    #[error("it is protected with a password; save it without one, and try again")]
    Encrypted,
    /// Nobody here reads such files.
    #[error("it is {0}")]
    Unsupported(String),
    /// It has no words.
    #[error("it has {pages} pages and no text in them; it may be a scan, which needs text recognition first")]
    NoText {
        /// How many pages there are.
        pages: usize,
    },
    /// The workbook has no such sheet.
    #[error("it has no sheet \"{name}\"; its sheets are {}", .sheets.join(", "))]
    NoSheet {
        /// What was asked for.
        name: String,
        /// What there is.
        sheets: Vec<String>,
    },
    /// Larger than [`LARGEST`].
    #[error("it has {size} bytes; documents of at most {LARGEST} can be read")]
    TooLarge {
        /// Its bytes.
        size: u64,
    },
    /// More cells or words than can be handed over.
    #[error("it has more in it than can be read at once; split it into smaller files")]
    TooMuch,
    /// Stopped.
    #[error("reading it took more than {seconds} seconds and was stopped")]
    TookTooLong {
        /// The limit.
        seconds: u64,
    },
    /// Stopped.
    #[error("reading it needs more than {megabytes} MB of memory and was stopped")]
    NeedsTooMuchMemory {
        /// The limit.
        megabytes: u64,
    },
    /// Nothing here holds a process that reads them, so that none does.
    #[error(
        "documents are read only in a process that can do nothing else, and this system does not hold one: {0}; save it \
        as text or CSV, and try again"
    )]
    NotHeld(String),
    /// The process that reads documents could not do its work.
    #[error("documents cannot be read here: {0}")]
    Unavailable(String),
}

/// Reads nothing, and says so: for worlds without documents.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoDocuments;

impl NoDocuments {
    fn error() -> DocumentError {
        DocumentError::Unavailable("nothing that reads them was set up".to_owned())
    }
}

#[async_trait]
impl Documents for NoDocuments {
    async fn text(&self, _bytes: Vec<u8>) -> Result<DocumentText, DocumentError> {
        Err(Self::error())
    }

    async fn sheet(&self, _bytes: Vec<u8>, _sheet: Option<&str>) -> Result<Sheet, DocumentError> {
        Err(Self::error())
    }

    async fn facts(&self, _bytes: Vec<u8>) -> Result<Facts, DocumentError> {
        Err(Self::error())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_documents_by_how_they_begin() {
        for bytes in [
            &b"%PDF-1.7"[..],
            b"\n\n%PDF-1.4\n",
            b"PK\x03\x04xyz",
            b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1..",
        ] {
            assert!(is_document(bytes), "{bytes:?}");
        }
        for bytes in [&b"id,amount\n1,2\n"[..], b"", b"PK", b"\x89PNG\r\n", b"<p>%PDF-1.7</p>"] {
            assert!(!is_document(bytes), "{bytes:?}");
        }
    }

    #[test]
    fn shows_parts_under_their_headings_and_counts_only_words() {
        let part = |heading: &str, notes: &[&str], text: &str| Part {
            heading: Some(heading.to_owned()),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            text: text.to_owned(),
        };
        let text = DocumentText {
            format: Format::Xlsx,
            parts: vec![part("May", &[], "| a |"), part("Old", &["hidden sheet"], "")],
            truncated: true,
        };
        assert_eq!(
            text.shown(),
            "## May\n| a |\n\n## Old\n(hidden sheet)\n\n(The rest is left out: the document is longer than can be read.)"
        );
        assert_eq!(text.words(), "| a |\n");
    }
}
