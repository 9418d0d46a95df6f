//! The archives that office files are: opened once, read part by part, never unpacked.

use std::io::{BufReader, Cursor, Read};

use contract::ports::documents::DocumentError;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use zip::ZipArchive;
use zip::read::ZipFile;
use zip::result::ZipError;

/// An archive in memory.
pub(crate) type Package<'b> = ZipArchive<Cursor<&'b [u8]>>;

/// A part of it that is XML, read piece by piece.
pub(crate) type Xml<'p, 'b> = Reader<BufReader<ZipFile<'p, Cursor<&'b [u8]>>>>;

/// What a damaged file is called in an error.
pub(crate) fn not_readable(what: &str, reason: &dyn std::fmt::Display) -> DocumentError {
    const LONGEST: usize = 200;
    DocumentError::NotReadable {
        what: what.to_owned(),
        reason: reason.to_string().chars().take(LONGEST).collect(),
    }
}

/// Opens an archive. Its list of contents is looked at, and nothing else.
pub(crate) fn open<'b>(bytes: &'b [u8], what: &str) -> Result<Package<'b>, DocumentError> {
    ZipArchive::new(Cursor::new(bytes)).map_err(|error| in_words(what, &error))
}

fn in_words(what: &str, error: &ZipError) -> DocumentError {
    match error {
        ZipError::UnsupportedArchive(reason) if *reason == ZipError::PASSWORD_REQUIRED => DocumentError::Encrypted,
        ZipError::InvalidPassword => DocumentError::Encrypted,
        other => not_readable(what, other),
    }
}

/// A part of it, or none where there is no such part.
pub(crate) fn part<'p, 'b>(
    package: &'p mut Package<'b>,
    name: &str,
    what: &str,
) -> Result<Option<Xml<'p, 'b>>, DocumentError> {
    match package.by_name(name) {
        Ok(file) => Ok(Some(xml(file))),
        Err(ZipError::FileNotFound) => Ok(None),
        Err(error) => Err(in_words(what, &error)),
    }
}

fn xml<R: Read>(source: R) -> Reader<BufReader<R>> {
    let mut reader = Reader::from_reader(BufReader::new(source));
    // `<a/>` is `<a></a>`.
    reader.config_mut().expand_empty_elements = true;
    reader
}

/// The next piece of a part. A declaration of entities is refused: office files have none, and it is how a few bytes are
/// made to mean gigabytes.
pub(crate) fn next<'e, R: std::io::BufRead>(
    xml: &mut Reader<R>,
    buffer: &'e mut Vec<u8>,
    what: &str,
) -> Result<Event<'e>, DocumentError> {
    buffer.clear();
    match xml.read_event_into(buffer) {
        Ok(Event::DocType(_)) => Err(not_readable(
            what,
            &"it declares entities, which such files do not have",
        )),
        Ok(event) => Ok(event),
        Err(error) => Err(not_readable(what, &error)),
    }
}

/// The value of an attribute, whatever the prefix of its name is.
pub(crate) fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = element
        .attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.local_name().as_ref() == name)?;
    value(&found)
}

/// What an attribute says.
pub(crate) fn value(attribute: &Attribute<'_>) -> Option<String> {
    let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
    Some(value.into_owned())
}

/// The names of its parts that are text.
pub(crate) fn names(package: &Package<'_>) -> Vec<String> {
    package.file_names().flatten().map(|name| name.into_owned()).collect()
}

/// What a reference such as `&amp;` or `&#233;` stands for.
pub(crate) fn referred(reference: &BytesRef<'_>, what: &str) -> Result<char, DocumentError> {
    let unknown = || not_readable(what, &"it uses an entity that such files do not have");
    if reference.is_char_ref() {
        let character = reference.resolve_char_ref().ok().flatten();
        return character.ok_or_else(unknown);
    }
    match reference.xml10_content().as_ref() {
        "amp" => Ok('&'),
        "lt" => Ok('<'),
        "gt" => Ok('>'),
        "quot" => Ok('"'),
        "apos" => Ok('\''),
        _ => Err(unknown()),
    }
}
