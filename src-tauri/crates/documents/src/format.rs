//! What a file is. Its beginning says what to try; whether it is that, opening it says.

use std::io::{Read, sink};

use contract::ports::documents::{DocumentError, Facts, Format};

use crate::package::{self, Package, not_readable};
use crate::{docx, images, pdf, xlsx};

/// The part of an office file that lists its kinds of contents.
const CONTENTS: &str = "[Content_Types].xml";

/// What it seems to be, cheaply.
pub(crate) fn of(bytes: &[u8]) -> Result<Format, DocumentError> {
    if bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        return Err(older(bytes));
    }
    if bytes.starts_with(b"PK") {
        return packaged(&mut package::open(bytes, "office file or ZIP archive")?);
    }
    if let Some(format) = images::format(bytes) {
        return Ok(format);
    }
    if bytes
        .get(..1024)
        .unwrap_or(bytes)
        .windows(5)
        .any(|five| five == b"%PDF-")
    {
        return Ok(Format::Pdf);
    }
    Err(not_readable(
        "document",
        &"it begins like no kind of file that can be opened here",
    ))
}

/// A file of the container that Office used before 2007, and still uses around what is encrypted.
fn older(bytes: &[u8]) -> DocumentError {
    let name: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
    if bytes.windows(name.len()).any(|window| window == name) {
        return DocumentError::Encrypted;
    }
    DocumentError::Unsupported(
        "an office file of the older kind (.xls, .doc, .ppt); save it as .xlsx or .docx, and try again".to_owned(),
    )
}

/// Office files are archives with a list of what is in them.
fn packaged(package: &mut Package<'_>) -> Result<Format, DocumentError> {
    const LONGEST: u64 = 4 * 1024 * 1024;
    let names = package::names(package);
    let has = |part: &str| names.iter().any(|name| name == part);
    if has("mimetype") && has("META-INF/manifest.xml") {
        return Err(DocumentError::Unsupported(
            "an OpenDocument file; save it as .xlsx or .docx, and try again".to_owned(),
        ));
    }
    let Ok(part) = package.by_name(CONTENTS) else {
        return Ok(Format::Zip);
    };
    let mut contents = String::new();
    let read = part.take(LONGEST).read_to_string(&mut contents);
    read.map_err(|error| not_readable("office file", &error))?;
    let kinds = [
        ("spreadsheetml.sheet.main+xml", Format::Xlsx),
        ("spreadsheetml.template.main+xml", Format::Xlsx),
        ("ms-excel.sheet.macroEnabled.main+xml", Format::Xlsx),
        ("wordprocessingml.document.main+xml", Format::Docx),
        ("wordprocessingml.template.main+xml", Format::Docx),
        ("ms-word.document.macroEnabled.main+xml", Format::Docx),
        ("presentationml.presentation.main+xml", Format::Pptx),
        ("presentationml.slideshow.main+xml", Format::Pptx),
        ("ms-powerpoint.presentation.macroEnabled.main+xml", Format::Pptx),
    ];
    let kind = kinds.iter().find(|(kind, _)| contents.contains(kind));
    Ok(kind.map_or(Format::Zip, |(_, format)| *format))
}

/// What it is, found by opening it.
pub(crate) fn facts(bytes: &[u8]) -> Result<Facts, DocumentError> {
    let format = of(bytes)?;
    let mut facts = Facts {
        format,
        pages: None,
        sheets: Vec::new(),
        size: None,
    };
    match format {
        Format::Xlsx => facts.sheets = xlsx::names(bytes)?,
        Format::Docx => facts.pages = docx::pages(bytes)?,
        Format::Pdf => facts.pages = Some(pdf::pages(bytes)?),
        Format::Zip | Format::Pptx => whole(bytes)?,
        Format::Png | Format::Jpeg | Format::Gif | Format::Webp | Format::Bmp => {
            facts.size = Some(images::size(bytes, format)?);
        }
    }
    Ok(facts)
}

/// Every part of an archive is there as its list says.
fn whole(bytes: &[u8]) -> Result<(), DocumentError> {
    let mut package = package::open(bytes, "ZIP archive")?;
    for index in 0..package.len() {
        let mut part = package
            .by_index(index)
            .map_err(|error| not_readable("ZIP archive", &error))?;
        std::io::copy(&mut part, &mut sink()).map_err(|error| not_readable("ZIP archive", &error))?;
    }
    Ok(())
}
