//! What is in documents, as their readers say it: through the process, as the app asks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use contract::ports::documents::{DocumentError, Documents, Facts, Format, LARGEST, SheetCell, SheetRow};
use rust_xlsxwriter::{ExcelDateTime, Format as CellFormat, Formula, Workbook};
use support::{package, pages, pdf, reader, sheet, word, workbook};

fn expenses() -> Vec<u8> {
    let mut book = Workbook::new();
    let day = CellFormat::new().set_num_format("dd/mm/yyyy");
    let money = CellFormat::new().set_num_format("#,##0.00 €");
    let may = book.add_worksheet().set_name("May").unwrap();
    may.write(0, 0, "Expenses 2026").unwrap();
    for (column, name) in (0..).zip(["id", "day", "merchant", "amount", "paid"]) {
        may.write(2, column, name).unwrap();
    }
    let rows = [
        ("Bistro | Nord", 12.1, true),
        ("Café Łódź", 0.2, false),
        ("Taxi", 1234.56, true),
    ];
    for (row, (merchant, amount, paid)) in (3..).zip(rows) {
        may.write(row, 0, row - 2).unwrap();
        let date = ExcelDateTime::from_ymd(2026, 5, u8::try_from(row).unwrap()).unwrap();
        may.write_with_format(row, 1, &date, &day).unwrap();
        may.write(row, 2, merchant).unwrap();
        may.write_with_format(row, 3, amount, &money).unwrap();
        may.write(row, 4, paid).unwrap();
    }
    may.write(6, 3, Formula::new("=SUM(D4:D6)").set_result("1246.86"))
        .unwrap();
    may.set_row_hidden(4).unwrap();
    let old = book.add_worksheet().set_name("Old").unwrap();
    old.write(0, 0, "secret").unwrap();
    old.set_hidden(true);
    book.save_to_buffer().unwrap()
}

async fn text(bytes: Vec<u8>) -> Result<String, DocumentError> {
    reader().text(bytes).await.map(|text| text.shown())
}

#[tokio::test]
async fn a_workbook_is_read_as_tables_with_what_it_hides() {
    let shown = text(expenses()).await.unwrap();
    let expected = "## May\n(1 row is hidden in the workbook and shown here)\n\
        | Expenses 2026 |  |  |  |  |\n| --- | --- | --- | --- | --- |\n| id | day | merchant | amount | paid |\n\
        | 1 | 2026-05-03 | Bistro \\| Nord | 12.1 | TRUE |\n| 2 | 2026-05-04 | Café Łódź | 0.2 | FALSE |\n\
        | 3 | 2026-05-05 | Taxi | 1234.56 | TRUE |\n|  |  |  | 1246.86 |  |\n\n\
        ## Old\n(this sheet is hidden in the workbook)\n| secret |\n| --- |";
    assert_eq!(shown, expected);
}

#[tokio::test]
async fn a_sheet_is_given_cell_by_cell_as_it_is_kept() {
    let found = reader().sheet(expenses(), None).await.unwrap();
    assert_eq!((found.name.as_str(), found.sheets.len()), ("May", 2));
    let row = |number, first, cells: Vec<SheetCell>| SheetRow { number, first, cells };
    let words = |words: &str| SheetCell::Text(words.to_owned());
    assert_eq!(
        found.rows[2],
        row(
            4,
            0,
            vec![
                SheetCell::Integer(1),
                words("2026-05-03"),
                words("Bistro | Nord"),
                SheetCell::Number(12.1),
                SheetCell::Boolean(true)
            ]
        )
    );
    assert_eq!(found.rows[5], row(7, 3, vec![SheetCell::Number(1246.86)]));
    assert_eq!(
        found.notes,
        [
            "this is the sheet \"May\"; there are also Old",
            "1 row is hidden in the workbook and shown here"
        ]
    );
    assert_eq!(reader().sheet(expenses(), Some("old")).await.unwrap().name, "Old");
    let none = reader().sheet(expenses(), Some("June")).await.unwrap_err();
    assert_eq!(none.to_string(), "it has no sheet \"June\"; its sheets are May, Old");
}

#[tokio::test]
async fn formulas_without_results_and_errors_are_told() {
    let rows = r#"<row r="1"><c r="A1"><f>SUM(B1:B9)</f></c><c r="B1" t="e"><v>#DIV/0!</v></c><c r="C1"><v>0.30000000000000004</v></c></row>"#;
    let found = reader().sheet(workbook(&sheet(rows), &[]), None).await.unwrap();
    let words = SheetCell::Text("#DIV/0!".to_owned());
    assert_eq!(
        found.rows[0].cells,
        [words, SheetCell::Number(0.300_000_000_000_000_04)]
    );
    assert!(
        found.notes[0].starts_with("1 cell with a formula and no saved result"),
        "{:?}",
        found.notes
    );
    assert_eq!(found.notes[1], "1 cell with an error such as #DIV/0!");
}

#[tokio::test]
async fn a_cell_in_the_last_corner_costs_nothing() {
    let rows = r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#;
    let found = reader().sheet(workbook(&sheet(rows), &[]), None).await.unwrap();
    let places: Vec<_> = found.rows.iter().map(|row| (row.number, row.first)).collect();
    assert_eq!(places, [(1, 0), (1_048_576, 16_383)]);
    assert!(text(workbook(&sheet(rows), &[])).await.unwrap().len() < 10_000);
}

#[tokio::test]
async fn a_word_document_is_read_with_headings_lists_tables_and_notes() {
    let styles = r#"<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style w:styleId="Liste"><w:name w:val="List Bullet"/></w:style></w:styles>"#;
    let notes = r#"<w:footnotes xmlns:w="w"><w:footnote><w:p><w:r><w:t>See page 3.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let body = r#"<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr><w:r><w:t>Travel &amp; Meals</w:t></w:r></w:p>
        <w:p><w:r><w:t xml:space="preserve">Rose by </w:t></w:r><w:del><w:r><w:delText>10</w:delText></w:r></w:del><w:ins><w:r><w:t>12&#160;%</w:t></w:r></w:ins></w:p>
        <w:p><w:pPr><w:pStyle w:val="Liste"/></w:pPr><w:r><w:t>one</w:t></w:r></w:p><w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>two</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>name</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>sum</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:p><w:r><w:t>Ada</w:t></w:r></w:p><w:p><w:r><w:t>Lovelace</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>"#;
    let bytes = word(
        body,
        &[
            ("word/styles.xml", styles.as_bytes()),
            ("word/footnotes.xml", notes.as_bytes()),
        ],
    );
    let expected = "# Travel & Meals\n\nRose by 12\u{a0}%\n\n- one\n- two\n\n\
        | name | sum |\n| --- | --- |\n| Ada<br>Lovelace |  |\n\nFootnotes:\n\nSee page 3.";
    assert_eq!(text(bytes).await.unwrap(), expected);
}

#[tokio::test]
async fn a_pdf_is_read_page_by_page() {
    let shown = text(pages(&["Invoice 42", "", "Total 1,234.50"])).await.unwrap();
    let expected = "--- Page 1 of 3 ---\nInvoice 42\n\n--- Page 2 of 3 ---\n\n--- Page 3 of 3 ---\nTotal 1,234.50";
    assert_eq!(shown, expected);
    assert_eq!(text(pages(&["Only"])).await.unwrap(), "Only");
    assert_eq!(text(pages(&["", ""])).await, Err(DocumentError::NoText { pages: 2 }));
}

#[tokio::test]
async fn a_page_that_cannot_be_read_does_not_take_the_others_with_it() {
    let good = pages(&["First", "Second", "Third"]);
    let text = String::from_utf8(good).unwrap();
    // The second page's box is gone, without which its reader breaks down.
    let place = text.match_indices("/MediaBox").nth(1).unwrap().0;
    let mut bytes = text.into_bytes();
    bytes[place..place + 9].copy_from_slice(b"/MadiaBox");
    let read = reader().text(bytes).await.unwrap();
    let parts: Vec<_> = read
        .parts
        .iter()
        .map(|part| (part.text.as_str(), part.notes.len()))
        .collect();
    assert_eq!(parts, [("First", 0), ("", 1), ("Third", 0)]);
}

#[tokio::test]
async fn says_what_a_file_is() {
    let facts = async |bytes: Vec<u8>| reader().facts(bytes).await;
    let of = |format| Facts {
        format,
        pages: None,
        sheets: Vec::new(),
        size: None,
    };
    let sheets = vec!["May".to_owned(), "Old".to_owned()];
    assert_eq!(
        facts(expenses()).await,
        Ok(Facts {
            sheets,
            ..of(Format::Xlsx)
        })
    );
    assert_eq!(
        facts(pages(&["a", "b"])).await,
        Ok(Facts {
            pages: Some(2),
            ..of(Format::Pdf)
        })
    );
    let app = b"<Properties><Pages>7</Pages></Properties>";
    let document = word("<w:p/>", &[("docProps/app.xml", app)]);
    assert_eq!(
        facts(document).await,
        Ok(Facts {
            pages: Some(7),
            ..of(Format::Docx)
        })
    );
    assert_eq!(facts(package(&[("a.txt", b"a")])).await, Ok(of(Format::Zip)));
    let mut picture = std::io::Cursor::new(Vec::new());
    image::DynamicImage::new_rgb8(40, 30)
        .write_to(&mut picture, image::ImageFormat::Png)
        .unwrap();
    let picture = picture.into_inner();
    let half = picture[..picture.len() / 2].to_vec();
    assert_eq!(
        facts(picture).await,
        Ok(Facts {
            size: Some((40, 30)),
            ..of(Format::Png)
        })
    );
    assert!(matches!(facts(half).await, Err(DocumentError::NotReadable { .. })));
}

#[tokio::test]
async fn says_why_a_file_cannot_be_read() {
    let said = async |bytes: &[u8]| text(bytes.to_vec()).await.unwrap_err().to_string();
    let pdf_like = said(b"%PDF-1.7\nnothing").await;
    assert!(pdf_like.starts_with("it is not a readable PDF: "), "{pdf_like}");
    let broken = said(b"PK\x03\x04nothing").await;
    assert!(
        broken.starts_with("it is not a readable office file or ZIP archive: "),
        "{broken}"
    );
    let old = said(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 an old workbook").await;
    assert!(old.contains("save it as .xlsx or .docx"), "{old}");
    let mut locked = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    locked.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(text(locked).await, Err(DocumentError::Encrypted));
    let zip = said(&package(&[("a.txt", b"a")])).await;
    assert_eq!(zip, "it is a ZIP archive, which has no text that can be read");
    let empty = said(&pdf(&["<< /Type /Catalog >>".to_owned()])).await;
    assert_eq!(empty, "it is not a readable PDF: it has no pages");
    let large = reader().text(vec![0; usize::try_from(LARGEST).unwrap() + 1]).await;
    assert_eq!(large, Err(DocumentError::TooLarge { size: LARGEST + 1 }));
}

#[tokio::test]
async fn says_when_there_is_no_process() {
    let nobody = documents::Reader::new("/nowhere/tepa".into());
    let failed = nobody.text(pages(&["a"])).await.unwrap_err();
    assert!(matches!(failed, DocumentError::Unavailable(_)), "{failed}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_process_is_held_by_everything_that_this_kernel_has() {
    let held = reader().held().await.unwrap();
    assert!(held.system_calls && held.limits, "{held:?}");
    let reader = reader();
    reader.text(pages(&["a"])).await.unwrap();
    let said = reader.containment().unwrap();
    assert!(
        said.ends_with("a filter of system calls, limits of memory and time"),
        "{said}"
    );
    println!("documents are read under Landlock {}, filter and limits", held.landlock);
}

/// A process that says how it is held, keeps what it is told, and answers.
#[cfg(unix)]
fn saying(place: &std::path::Path, held: &str) -> documents::Reader {
    use std::os::unix::fs::PermissionsExt;
    let program = place.join("says");
    let answer = r#"{"facts":{"format":"pdf","pages":1,"sheets":[],"size":null}}"#;
    let script = format!(
        "#!/bin/sh\nprintf '%s\\n' '{held}'\n/bin/cat > {}/told\nprintf '%s' '{answer}'\n",
        place.display()
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
    documents::Reader::new(program)
}

#[cfg(unix)]
#[tokio::test]
async fn a_process_that_nothing_holds_is_told_nothing_of_a_document() {
    for held in [
        r#"{"landlock":7,"systemCalls":false,"limits":true}"#,
        r#"{"landlock":7,"systemCalls":true,"limits":false}"#,
        r#"{"landlock":0,"systemCalls":false,"limits":false}"#,
    ] {
        let place = tempfile::tempdir().unwrap();
        let reader = saying(place.path(), held);
        let failed = reader.facts(b"a secret of the document".to_vec()).await.unwrap_err();
        assert!(matches!(failed, DocumentError::NotHeld(_)), "{held}: {failed}");
        let told = std::fs::read(place.path().join("told")).unwrap_or_default();
        assert!(told.is_empty() && reader.containment().is_none(), "{held}");
    }
    // The same process that says that it is held is told, and answers.
    let place = tempfile::tempdir().unwrap();
    let reader = saying(place.path(), r#"{"landlock":0,"systemCalls":true,"limits":true}"#);
    assert_eq!(reader.facts(b"a document".to_vec()).await.unwrap().pages, Some(1));
    let expected = "a filter of system calls, limits of memory and time";
    assert_eq!(reader.containment().as_deref(), Some(expected));
}
