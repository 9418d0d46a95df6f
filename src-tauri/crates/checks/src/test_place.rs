//! A working folder with one file, `it`, for tests of checks.

use std::sync::Arc;

use async_trait::async_trait;
use contract::ports::check::{Check, CheckTarget};
use contract::ports::documents::{
    DocumentError, DocumentText, Documents, Facts, Format, Part, Sheet, SheetCell, SheetRow,
};
use contract::ports::files::Files;
use serde_json::Value;
use workspace::Folder;

/// Runs a check on a file with this text, beside other files, and on an answer of the same text when
/// it needs no file; both must agree. Returns whether it passed, and the evidence.
pub(crate) async fn run_beside(check: &dyn Check, args: Value, text: &str, others: &[(&str, &str)]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in others.iter().chain(&[("it", text)]) {
        std::fs::write(folder.path().join(path), text).unwrap();
    }
    let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
    assert_eq!(check.problems(&args), Vec::<String>::new());
    let found = check.run(&args, &CheckTarget::file("it"), &files).await;
    if !check.info().needs_file {
        let answered = check.run(&args, &CheckTarget::answer(text), &files).await;
        assert_eq!(answered, found);
    }
    (found.pass, found.evidence)
}

/// The same without other files.
pub(crate) async fn run(check: &dyn Check, args: Value, text: &str) -> (bool, String) {
    run_beside(check, args, text, &[]).await
}

/// The evidence of a check on a file that is not there.
pub(crate) async fn run_on_nothing(check: &dyn Check, args: Value) -> String {
    let folder = tempfile::tempdir().unwrap();
    let files: Arc<dyn Files> = Arc::new(Folder::open(folder.path()).unwrap());
    let found = check.run(&args, &CheckTarget::file("it"), &files).await;
    assert!(!found.pass);
    found.evidence
}

/// It passes with this evidence.
pub(crate) async fn passes(check: &dyn Check, args: Value, text: &str, evidence: &str) {
    assert_eq!(run(check, args, text).await, (true, evidence.to_owned()));
}

/// It fails with this evidence.
pub(crate) async fn fails(check: &dyn Check, args: Value, text: &str, evidence: &str) {
    assert_eq!(run(check, args, text).await, (false, evidence.to_owned()));
}

/// Documents that are what their first bytes say; what real ones say, the tests of `documents` look at.
struct Said;

#[async_trait]
impl Documents for Said {
    async fn text(&self, bytes: Vec<u8>) -> Result<DocumentText, DocumentError> {
        let format = self.facts(bytes).await?.format;
        let part = |heading: &str, text: &str| Part {
            heading: Some(heading.to_owned()),
            notes: Vec::new(),
            text: text.to_owned(),
        };
        Ok(DocumentText {
            format,
            parts: vec![part("Page 1 of 2", "Travel rose"), part("Page 2 of 2", "by a lot")],
            truncated: false,
        })
    }

    async fn sheet(&self, _bytes: Vec<u8>, sheet: Option<&str>) -> Result<Sheet, DocumentError> {
        let sheets = vec!["May".to_owned(), "June".to_owned()];
        let name = sheet.unwrap_or("May").to_owned();
        if !sheets.contains(&name) {
            return Err(DocumentError::NoSheet { name, sheets });
        }
        let text = |words: &str| SheetCell::Text(words.to_owned());
        let row = |number: u64, cells: Vec<SheetCell>| SheetRow {
            number,
            first: 0,
            cells,
        };
        let mut rows = vec![
            row(1, vec![text("id"), text("amount")]),
            row(2, vec![SheetCell::Integer(1), SheetCell::Number(12.5)]),
        ];
        if name == "June" {
            rows.push(row(3, vec![SheetCell::Integer(1), SheetCell::Empty]));
        }
        Ok(Sheet {
            name,
            sheets,
            rows,
            notes: Vec::new(),
        })
    }

    async fn facts(&self, bytes: Vec<u8>) -> Result<Facts, DocumentError> {
        let (format, pages, size) = match bytes.get(..4) {
            Some(b"%PDF") => (Format::Pdf, Some(3), None),
            Some(b"PK\x03\x04") => (Format::Xlsx, None, None),
            Some(b"\x89PNG") => (Format::Png, None, Some((40, 30))),
            _ => {
                return Err(DocumentError::NotReadable {
                    what: "document".to_owned(),
                    reason: "it is none".to_owned(),
                });
            }
        };
        Ok(Facts {
            format,
            pages,
            sheets: Vec::new(),
            size,
        })
    }
}

/// Runs a check on a file that is a document by its first bytes.
pub(crate) async fn run_on_document(check: &dyn Check, args: Value, bytes: &[u8]) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("it"), bytes).unwrap();
    let opened = Folder::open(folder.path()).unwrap().with_documents(Arc::new(Said));
    let files: Arc<dyn Files> = Arc::new(opened);
    assert_eq!(check.problems(&args), Vec::<String>::new());
    let found = check.run(&args, &CheckTarget::file("it"), &files).await;
    (found.pass, found.evidence)
}
