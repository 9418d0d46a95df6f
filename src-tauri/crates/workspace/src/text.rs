//! Bytes that are words: encodings, and what is no text at all.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// Why bytes are not text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Nobody knows this encoding.
    #[error("\"{0}\" is not the name of an encoding; write utf-8, windows-1252 or utf-16le, for example")]
    UnknownEncoding(String),
    /// It looks like an image, an archive, a program.
    #[error("it is not a text file")]
    Binary,
    /// Some bytes mean nothing in this encoding.
    #[error("it is not {0} text; try another encoding, such as windows-1252")]
    Malformed(&'static str),
}

/// The encoding of this name.
pub fn encoding(label: &str) -> Result<&'static Encoding, TextError> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| TextError::UnknownEncoding(label.to_owned()))
}

/// The text in this encoding; a byte order mark knows better.
pub fn decode(bytes: &[u8], encoding: &'static Encoding) -> Result<String, TextError> {
    let (text, used, malformed) = encoding.decode(bytes);
    if text.contains('\0') {
        return Err(TextError::Binary);
    }
    if malformed {
        return Err(TextError::Malformed(used.name()));
    }
    Ok(text.into_owned())
}

/// The text in whatever encoding it seems to be: as its mark says, else UTF-8, else what Windows
/// programs write in western languages.
pub fn guess(bytes: &[u8]) -> Result<String, TextError> {
    match decode(bytes, UTF_8) {
        Err(TextError::Malformed(_)) => decode(bytes, WINDOWS_1252),
        decided => decided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expected: Result<&str, TextError>) {
        assert_eq!(guess(bytes), expected.map(str::to_owned));
    }

    #[test]
    fn reads_utf_8_with_and_without_a_mark() {
        check("Zoë".as_bytes(), Ok("Zoë"));
        check(b"\xEF\xBB\xBFZo\xC3\xAB", Ok("Zoë"));
    }

    #[test]
    fn reads_utf_16_by_its_mark() {
        check(b"\xFF\xFEZ\0o\0", Ok("Zo"));
    }

    #[test]
    fn falls_back_to_windows_1252() {
        check(b"Caf\xE9", Ok("Café"));
    }

    #[test]
    fn knows_what_is_no_text() {
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Err(TextError::Binary));
    }

    #[test]
    fn names_an_encoding_that_does_not_fit() {
        assert_eq!(decode(b"Caf\xE9", UTF_8), Err(TextError::Malformed("UTF-8")));
        assert!(encoding("utf-99").is_err());
    }
}
