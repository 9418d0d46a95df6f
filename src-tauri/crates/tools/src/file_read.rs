//! `file_read`: the text of a file, whole or page by page.

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::documents::{self, LARGEST};
use contract::ports::files::{FileKind, FilesError};
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use encoding_rs::{Encoding, UTF_8};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use workspace::document::{self, Words};
use workspace::{schema, text};

use crate::input;

/// A longer file is read in pages of this size, in bytes.
const PAGE: u64 = 2 * 1024 * 1024;

/// So much of a file says whether it is a document, in bytes.
const BEGINNING: u64 = 1024;

pub(crate) struct FileRead;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The file, relative to the working folder.
    path: String,
    /// The encoding of its text, such as utf-8 or windows-1252.
    #[serde(default = "utf_8")]
    encoding: String,
    /// The first byte of a page. Only for files that are read in pages.
    offset: Option<u64>,
    /// The size of a page in bytes, at most 2097152. Only for files that are read in pages.
    #[schemars(range(min = 1, max = 2097152))]
    limit: Option<u64>,
}

fn utf_8() -> String {
    "utf-8".to_owned()
}

#[async_trait]
impl Tool for FileRead {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "file_read".to_owned(),
            description:
                "Reads a text file, an Excel workbook (.xlsx), a Word document (.docx) or a PDF and returns its text: \
                sheets as tables, headings and page breaks marked. A text above 2 MB, or one asked for with offset or \
                limit, is returned as a page: { text, offset, nextOffset, totalBytes }; nextOffset is null at the end."
                    .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        input::reads(args, "path")
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let input: Input = input::read(&args)?;
        let encoding = text::encoding(&input.encoding).map_err(|error| ToolError::new(error.to_string()))?;
        let files = context.files.as_ref();
        let size = match files.stat(&input.path).await? {
            Some((FileKind::File, size)) => size,
            Some((FileKind::Folder | FileKind::Other, _)) => {
                return Err(FilesError::WrongKind {
                    path: input.path,
                    expected: "file",
                }
                .into());
            }
            None => return Err(FilesError::NotFound(input.path).into()),
        };
        if documents::is_document(&files.read_range(&input.path, 0, BEGINNING).await?) {
            let (text, held) = words_of(&input, context).await?;
            return Ok(ToolOutput {
                logs: held.iter().map(|by| input::read_apart(&input.path, by)).collect(),
                ..ToolOutput::value(in_pages(&input, text))
            });
        }
        if size <= PAGE && input.offset.is_none() && input.limit.is_none() {
            let bytes = files.read(&input.path, PAGE).await?;
            return Ok(ToolOutput::value(Value::from(decode(&input.path, &bytes, encoding)?)));
        }
        page(&input, encoding, size, context).await.map(ToolOutput::value)
    }
}

/// What an office file or a PDF says, whatever the file is called, and what held the process that read it.
async fn words_of(input: &Input, context: &ToolContext) -> Result<(String, Option<String>), ToolError> {
    let words = document::words(context.files.as_ref(), &input.path, LARGEST).await;
    match words.map_err(|error| ToolError::new(error.to_string()))? {
        Words::Document { shown, held, .. } => Ok((shown, held)),
        Words::Text(text) => Ok((text, None)),
    }
}

/// The text of a document, or the page of it that was asked for. Its bytes are those of its text.
fn in_pages(input: &Input, text: String) -> Value {
    let size = text.len();
    if size as u64 <= PAGE && input.offset.is_none() && input.limit.is_none() {
        return Value::from(text);
    }
    let place = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX).min(size);
    let start = text.ceil_char_boundary(place(input.offset.unwrap_or(0)));
    let limit = input.limit.unwrap_or(PAGE).min(PAGE);
    let end = text.ceil_char_boundary(place((start as u64).saturating_add(limit)));
    json!({
        "text": &text[start..end],
        "offset": start,
        "nextOffset": (end < size).then_some(end),
        "totalBytes": size,
    })
}

async fn page(
    input: &Input,
    encoding: &'static Encoding,
    size: u64,
    context: &ToolContext,
) -> Result<Value, ToolError> {
    if encoding != UTF_8 && !encoding.is_single_byte() {
        let message = format!(
            "\"{}\" has {size} bytes and cannot be read in pages as {}",
            input.path,
            encoding.name()
        );
        return Err(ToolError::new(message));
    }
    let offset = input.offset.unwrap_or(0);
    let limit = input.limit.unwrap_or(PAGE).min(PAGE);
    // Three more bytes hold the rest of any character that begins inside the page.
    let bytes = context.files.read_range(&input.path, offset, limit + 3).await?;
    let end = usize::try_from(limit).unwrap_or(usize::MAX).min(bytes.len());
    let (start, end) = if encoding == UTF_8 {
        (whole(&bytes, 0), whole(&bytes, end))
    } else {
        (0, end)
    };
    let next = offset + end as u64;
    Ok(json!({
        "text": decode(&input.path, &bytes[start.min(end)..end], encoding)?,
        "offset": offset + start.min(end) as u64,
        "nextOffset": (next < size).then_some(next),
        "totalBytes": size,
    }))
}

/// The first place from here on where a character begins.
fn whole(bytes: &[u8], from: usize) -> usize {
    let inside = bytes[from..]
        .iter()
        .take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000)
        .count();
    from + inside.min(3)
}

fn decode(path: &str, bytes: &[u8], encoding: &'static Encoding) -> Result<String, ToolError> {
    text::decode(bytes, encoding).map_err(|error| ToolError::new(format!("\"{path}\" cannot be read: {error}")))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use contract::ports::documents::{DocumentError, DocumentText, Documents, Facts, Format, Part, Sheet};

    use super::*;
    use crate::test_place::place;

    #[tokio::test]
    async fn returns_the_text() {
        let place = place(&[("notes/a.txt", "Zoë\n")]);
        assert_eq!(
            place.run(&FileRead, json!({"path": "./notes/a.txt"})).await,
            Ok(json!("Zoë\n"))
        );
    }

    #[tokio::test]
    async fn reads_pages_without_cutting_a_character() {
        let place = place(&[("a.txt", "aëbë")]);
        let page = place
            .run(&FileRead, json!({"path": "a.txt", "limit": 2}))
            .await
            .unwrap();
        assert_eq!(
            page,
            json!({"text": "aë", "offset": 0, "nextOffset": 3, "totalBytes": 6})
        );
        let page = place
            .run(&FileRead, json!({"path": "a.txt", "offset": 3, "limit": 9}))
            .await
            .unwrap();
        assert_eq!(
            page,
            json!({"text": "bë", "offset": 3, "nextOffset": null, "totalBytes": 6})
        );
        let page = place
            .run(&FileRead, json!({"path": "a.txt", "offset": 99}))
            .await
            .unwrap();
        assert_eq!(
            page,
            json!({"text": "", "offset": 99, "nextOffset": null, "totalBytes": 6})
        );
    }

    #[tokio::test]
    async fn a_large_file_comes_as_its_first_page() {
        let place = place(&[("big.txt", &"0123456789\n".repeat(250_000))]);
        let page = place.run(&FileRead, json!({"path": "big.txt"})).await.unwrap();
        assert_eq!(
            (&page["nextOffset"], &page["totalBytes"]),
            (&json!(PAGE), &json!(2_750_000))
        );
    }

    #[tokio::test]
    async fn says_why_there_is_no_text() {
        let place = place(&[("a.bin", "a\0b"), ("d/x", "")]);
        let failed = async |args| place.run(&FileRead, args).await.unwrap_err().message;
        assert_eq!(
            failed(json!({"path": "a.bin"})).await,
            "\"a.bin\" cannot be read: it is not a text file"
        );
        assert_eq!(failed(json!({"path": "d"})).await, "\"d\" is not a file");
        assert!(failed(json!({"path": "b"})).await.contains("there is no file"));
        assert!(
            failed(json!({"path": "../b"}))
                .await
                .contains("outside the working folder")
        );
        assert!(
            failed(json!({"path": "a.bin", "encoding": "klingon"}))
                .await
                .contains("not the name of an encoding")
        );
    }

    /// A document that says the same whatever it is; what real ones say, the tests of `documents` look at.
    struct Said;

    #[async_trait]
    impl Documents for Said {
        async fn text(&self, _bytes: Vec<u8>) -> Result<DocumentText, DocumentError> {
            let part = |page: u8| Part {
                heading: Some(format!("Page {page} of 2")),
                notes: Vec::new(),
                text: "Zoë".to_owned(),
            };
            Ok(DocumentText {
                format: Format::Pdf,
                parts: vec![part(1), part(2)],
                truncated: false,
            })
        }

        async fn sheet(&self, _bytes: Vec<u8>, _sheet: Option<&str>) -> Result<Sheet, DocumentError> {
            Err(DocumentError::TooMuch)
        }

        async fn facts(&self, _bytes: Vec<u8>) -> Result<Facts, DocumentError> {
            Err(DocumentError::TooMuch)
        }

        fn containment(&self) -> Option<String> {
            Some("landlock 7, a filter".to_owned())
        }
    }

    #[tokio::test]
    async fn reads_a_document_by_how_it_begins_and_in_pages() {
        let mut place = place(&[("report.txt", "%PDF-1.7")]);
        let failed = place.run(&FileRead, json!({"path": "report.txt"})).await.unwrap_err();
        assert!(
            failed.message.contains("cannot be read: documents cannot be read here"),
            "{}",
            failed.message
        );
        let folder = workspace::Folder::open(place.folder.path()).unwrap();
        place.context.files = Arc::new(folder.with_documents(Arc::new(Said)));
        let whole = "--- Page 1 of 2 ---\nZoë\n\n--- Page 2 of 2 ---\nZoë";
        assert_eq!(
            place.run(&FileRead, json!({"path": "report.txt"})).await,
            Ok(json!(whole))
        );
        let page = place.run(&FileRead, json!({"path": "report.txt", "limit": 23})).await;
        let expected = json!({
            "text": "--- Page 1 of 2 ---\nZoë", "offset": 0, "nextOffset": 24, "totalBytes": whole.len(),
        });
        assert_eq!(page, Ok(expected));
        let rest = place
            .run(&FileRead, json!({"path": "report.txt", "offset": 46}))
            .await
            .unwrap();
        assert_eq!((&rest["text"], &rest["nextOffset"]), (&json!("Zoë"), &Value::Null));
        let output = FileRead.execute(json!({"path": "report.txt"}), &place.context).await;
        let logged = input::read_apart("report.txt", "landlock 7, a filter");
        assert_eq!(output.unwrap().logs, [logged]);
    }

    #[tokio::test]
    async fn reads_another_encoding_when_told() {
        let place = place(&[]);
        std::fs::write(place.folder.path().join("old.txt"), b"Caf\xE9").unwrap();
        assert!(place.run(&FileRead, json!({"path": "old.txt"})).await.is_err());
        let read = place
            .run(&FileRead, json!({"path": "old.txt", "encoding": "windows-1252"}))
            .await;
        assert_eq!(read, Ok(json!("Café")));
    }
}
