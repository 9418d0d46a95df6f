//! Files for tests, made as the programs of the world make them, and a reader for them.

#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{Cursor, Write};
use std::path::PathBuf;

use documents::{Limits, Reader};
use zip::write::SimpleFileOptions;

/// A reader whose processes are this crate's own program.
pub(crate) fn reader() -> Reader {
    Reader::new(PathBuf::from(env!("CARGO_BIN_EXE_documents_helper")))
}

/// The same with other limits.
pub(crate) fn limited(megabytes: u64, seconds: u64) -> Reader {
    reader().with_limits(Limits { megabytes, seconds })
}

/// An archive of these parts.
pub(crate) fn package(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        archive.start_file(*name, SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

pub(crate) const XLSX_TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/></Types>"#;
pub(crate) const XLSX_RELS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
pub(crate) const WORKBOOK: &str = r#"<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="May" sheetId="1" r:id="rId1"/></sheets></workbook>"#;
pub(crate) const WORKBOOK_RELS: &str = r#"<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>"#;
pub(crate) const DOCX_TYPES: &str = r#"<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"#;

/// What stands around the rows of a sheet.
pub(crate) fn sheet(rows: &str) -> String {
    format!(
        r#"<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>"#
    )
}

/// A workbook with this as its only sheet, and these parts besides.
pub(crate) fn workbook(sheet: &str, others: &[(&str, &[u8])]) -> Vec<u8> {
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", XLSX_TYPES.as_bytes()),
        ("_rels/.rels", XLSX_RELS.as_bytes()),
        ("xl/workbook.xml", WORKBOOK.as_bytes()),
        ("xl/_rels/workbook.xml.rels", WORKBOOK_RELS.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
    ];
    parts.extend(others);
    package(&parts)
}

/// A Word document with this body, and these parts besides.
pub(crate) fn word(body: &str, others: &[(&str, &[u8])]) -> Vec<u8> {
    let document = format!(
        r#"<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{body}</w:body></w:document>"#
    );
    let mut parts: Vec<(&str, &[u8])> = vec![
        ("[Content_Types].xml", DOCX_TYPES.as_bytes()),
        ("word/document.xml", document.as_bytes()),
    ];
    parts.extend(others);
    package(&parts)
}

/// A PDF of these objects, numbered from 1 on; the first is its root.
pub(crate) fn pdf(objects: &[String]) -> Vec<u8> {
    let bytes: Vec<Vec<u8>> = objects.iter().map(|object| object.clone().into_bytes()).collect();
    pdf_of(&bytes)
}

/// The same of bytes.
pub(crate) fn pdf_of(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for place in places {
        file.extend(format!("{place:010} 00000 n \n").bytes());
    }
    let size = objects.len() + 1;
    file.extend(format!("trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

/// A stream of a PDF.
pub(crate) fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut object = format!("<< {entries} /Length {} >>\nstream\n", content.len()).into_bytes();
    object.extend(content);
    object.extend(b"\nendstream");
    object
}

/// A PDF with a page for each of these lines.
pub(crate) fn pages(lines: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..lines.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
    let mut objects = vec![
        b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), lines.len()).into_bytes(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_vec(),
    ];
    for (page, line) in lines.iter().enumerate() {
        let content = 5 + 2 * page;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            )
            .into_bytes(),
        );
        let text = match line.is_empty() {
            true => String::new(),
            false => format!("BT /F1 12 Tf 72 700 Td ({line}) Tj ET"),
        };
        objects.push(stream("", text.as_bytes()));
    }
    pdf_of(&objects)
}
