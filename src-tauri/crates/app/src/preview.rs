//! What a window shows of a file: the beginning of its text, and what kind of thing it is; an image as a whole.
//!
//! An image is handed over as its bytes, which the page draws without asking for anything: it has no way to a file. Only
//! what the documents' own process could open as one is, and not one that is too large to draw.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::AppError;
use contract::ports::documents::{self, Documents, Format, LARGEST};
use contract::ports::files::{FileKind, Files};
use workspace::document::{self, Words};
use workspace::sql::Answer;
use workspace::table::Table;
use workspace::{Folder, render, text};

use crate::commands::files::{FilePreview, Image, PreviewKind};
use crate::error::{ToAppError, sentence};

/// How much of a file a window shows.
const SHOWN: u64 = 512 * 1024;
/// The largest image that is shown, in bytes and in pixels: one of few bytes can have very many of them.
const LARGEST_IMAGE: u64 = 6 * 1024 * 1024;
const MOST_PIXELS: u64 = 40_000_000;

/// A file in a folder, and never one outside it.
pub(crate) async fn of_file(folder: &Folder, path: &str) -> Result<FilePreview, AppError> {
    let size = match folder.stat(path).await.map_err(ToAppError::to_app_error)? {
        Some((FileKind::File, size)) => size,
        Some((FileKind::Folder | FileKind::Other, _)) => return Ok(binary(0)),
        None => return Ok(missing()),
    };
    let bytes = folder
        .read_range(path, 0, SHOWN)
        .await
        .map_err(ToAppError::to_app_error)?;
    if documents::is_document(&bytes) {
        return Ok(of_document(folder, path, size).await);
    }
    let preview = of_bytes(path, bytes, size);
    if preview.kind != PreviewKind::Binary || size > LARGEST_IMAGE {
        return Ok(preview);
    }
    let whole = folder
        .read(path, LARGEST_IMAGE)
        .await
        .map_err(ToAppError::to_app_error)?;
    Ok(of_image(&*folder.documents(), whole).await.unwrap_or(preview))
}

/// An image, if these bytes are one that can be drawn.
pub(crate) async fn of_image(documents: &dyn Documents, bytes: Vec<u8>) -> Option<FilePreview> {
    let size = bytes.len() as u64;
    if size > LARGEST_IMAGE {
        return None;
    }
    let facts = documents.facts(bytes.clone()).await.ok()?;
    let (width, height) = facts.size?;
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return None;
    }
    Some(FilePreview {
        kind: PreviewKind::Image,
        text: None,
        image: Some(Image {
            media_type: media_type(facts.format)?.to_owned(),
            base64: STANDARD.encode(&bytes),
            width,
            height,
        }),
        truncated: false,
        size,
    })
}

/// What the page draws as an image; nothing that could run or ask for something is among them.
fn media_type(format: Format) -> Option<&'static str> {
    match format {
        Format::Png => Some("image/png"),
        Format::Jpeg => Some("image/jpeg"),
        Format::Gif => Some("image/gif"),
        Format::Webp => Some("image/webp"),
        Format::Bmp => Some("image/bmp"),
        Format::Xlsx | Format::Docx | Format::Pptx | Format::Pdf | Format::Zip => None,
    }
}

/// What an office file or a PDF says: a workbook with a single sheet as a table, everything else as text. One that
/// cannot be read says why.
async fn of_document(folder: &Folder, path: &str, size: u64) -> FilePreview {
    let (kind, text) = match document::words(folder, path, LARGEST).await {
        Ok(Words::Document { shown, .. }) => match single_sheet(folder, path).await {
            Some(table) => (PreviewKind::Csv, table),
            None => (PreviewKind::Text, shown),
        },
        Ok(Words::Text(text)) => (PreviewKind::Text, text),
        Err(error) => (PreviewKind::Text, sentence(&error.to_string())),
    };
    let end = text.floor_char_boundary(SHOWN as usize);
    FilePreview {
        kind,
        truncated: end < text.len(),
        text: Some(text[..end].to_owned()),
        image: None,
        size,
    }
}

/// The only sheet of a workbook, with nothing to remark about it.
async fn single_sheet(folder: &Folder, path: &str) -> Option<String> {
    let bytes = folder.read(path, LARGEST).await.ok()?;
    let sheet = folder.documents().sheet(bytes, None).await.ok()?;
    if sheet.sheets.len() != 1 {
        return None;
    }
    let table = Table::from_sheet(sheet).ok().filter(|table| table.notes.is_empty())?;
    let answer = Answer {
        columns: table.columns.into_iter().map(|column| column.name).collect(),
        rows: table.rows.into_iter().map(|row| row.cells).collect(),
    };
    Some(render::csv(&answer))
}

/// Bytes that once were a file, or its beginning.
pub(crate) fn of_bytes(path: &str, mut bytes: Vec<u8>, size: u64) -> FilePreview {
    let truncated = size > SHOWN;
    bytes.truncate(SHOWN as usize);
    if truncated {
        bytes.truncate(whole_characters(&bytes));
    }
    match text::guess(&bytes) {
        Ok(text) => FilePreview {
            kind: kind(path),
            text: Some(text),
            image: None,
            truncated,
            size,
        },
        Err(_) => binary(size),
    }
}

/// There is no such file.
pub(crate) fn missing() -> FilePreview {
    FilePreview {
        kind: PreviewKind::Missing,
        text: None,
        image: None,
        truncated: false,
        size: 0,
    }
}

fn binary(size: u64) -> FilePreview {
    FilePreview {
        kind: PreviewKind::Binary,
        text: None,
        image: None,
        truncated: false,
        size,
    }
}

fn kind(path: &str) -> PreviewKind {
    let extension = Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => PreviewKind::Csv,
        "json" => PreviewKind::Json,
        _ => PreviewKind::Text,
    }
}

/// Where the last whole UTF-8 character ends, when the text was cut in the middle of one.
fn whole_characters(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use contract::ports::documents::{DocumentError, DocumentText, Facts, Sheet};

    use super::*;

    fn check(path: &str, bytes: &[u8], kind: PreviewKind) {
        assert_eq!(of_bytes(path, bytes.to_vec(), bytes.len() as u64).kind, kind);
    }

    #[test]
    fn tells_kinds_by_name_and_content() {
        check("report.md", b"# June", PreviewKind::Text);
        check("sub/FLAGGED.CSV", b"id,amount\n1,2\n", PreviewKind::Csv);
        check("data.json", b"{}", PreviewKind::Json);
        check("picture.csv", b"\x89PNG\0\0", PreviewKind::Binary);
    }

    #[test]
    fn shows_the_beginning_of_a_long_text_without_half_a_character() {
        let text = "é".repeat(SHOWN as usize);
        let size = text.len() as u64;
        let mut bytes = text.into_bytes();
        bytes.insert(0, b'x');
        let preview = of_bytes("long.txt", bytes, size + 1);
        assert!(preview.truncated);
        assert_eq!(preview.text.unwrap().len() as u64, SHOWN - 1);
    }

    #[tokio::test]
    async fn shows_nothing_outside_the_folder() {
        let outer = tempfile::tempdir().unwrap();
        std::fs::write(outer.path().join("secret.txt"), "secret").unwrap();
        let inner = outer.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let folder = Folder::open(&inner).unwrap();
        for path in ["../secret.txt", outer.path().join("secret.txt").to_str().unwrap()] {
            assert_eq!(of_file(&folder, path).await.unwrap_err().code, "file_outside");
        }
        assert_eq!(of_file(&folder, "none.txt").await.unwrap(), missing());
    }

    /// Says of everything that it is an image of this size.
    struct Says(Format, (u32, u32));

    #[async_trait::async_trait]
    impl Documents for Says {
        async fn text(&self, _: Vec<u8>) -> Result<DocumentText, DocumentError> {
            Err(DocumentError::TooMuch)
        }

        async fn sheet(&self, _: Vec<u8>, _: Option<&str>) -> Result<Sheet, DocumentError> {
            Err(DocumentError::TooMuch)
        }

        async fn facts(&self, _: Vec<u8>) -> Result<Facts, DocumentError> {
            Ok(Facts {
                format: self.0,
                pages: None,
                sheets: Vec::new(),
                size: Some(self.1),
            })
        }
    }

    #[tokio::test]
    async fn an_image_is_its_own_bytes_and_their_real_kind() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("chart.txt"), b"\x89PNG\0\0").unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let folder = folder.with_documents(Arc::new(Says(Format::Jpeg, (640, 480))));
        let preview = of_file(&folder, "chart.txt").await.unwrap();
        let image = preview.image.unwrap();
        assert_eq!(
            (preview.kind, preview.size, preview.text),
            (PreviewKind::Image, 6, None)
        );
        assert_eq!(
            (image.media_type.as_str(), image.width, image.height),
            ("image/jpeg", 640, 480)
        );
        assert_eq!(STANDARD.decode(image.base64).unwrap(), b"\x89PNG\0\0");
    }

    #[tokio::test]
    async fn what_is_too_large_to_draw_is_not_handed_over() {
        let bytes = b"\x89PNG\0\0".to_vec();
        assert_eq!(
            of_image(&Says(Format::Png, (60_000, 60_000)), bytes.clone()).await,
            None
        );
        assert_eq!(of_image(&Says(Format::Zip, (1, 1)), bytes).await, None);
        let large = vec![0; LARGEST_IMAGE as usize + 1];
        assert_eq!(of_image(&Says(Format::Png, (1, 1)), large).await, None);
    }

    #[tokio::test]
    async fn a_drawing_that_is_text_stays_text() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("x.svg"), "<svg onload='alert(1)'/>").unwrap();
        let folder = Folder::open(place.path()).unwrap();
        let folder = folder.with_documents(Arc::new(Says(Format::Png, (1, 1))));
        assert_eq!(of_file(&folder, "x.svg").await.unwrap().kind, PreviewKind::Text);
    }
}
