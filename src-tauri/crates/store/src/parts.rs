//! Large texts inside of content. A question holds the answer before it, an answer's record holds its words, and a
//! step's output is those words again: each such text is content of its own, kept once, and what it stood in is kept as
//! a frame around it.
//!
//! A frame is literal bytes and addresses in turn, literal bytes first and last; each literal is preceded by its length
//! (eight bytes, the lowest first). Frames are never inside of frames.

use std::ops::Range;

use crate::content::Digest32;

/// Texts of this many bytes, with their quotation marks, are kept on their own.
const LARGE: usize = 1024;
/// How many texts are taken out of one value at most: each is a row to find again.
const MOST: usize = 256;

/// A piece of a frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Bytes as they are.
    Literal(&'a [u8]),
    /// The text under this address.
    Text(Digest32),
}

/// Where the large texts of a JSON object or list stand, with their quotation marks; none in anything else.
pub(crate) fn texts(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if bytes.len() <= LARGE || !matches!(bytes.first(), Some(b'{' | b'[')) {
        return found;
    }
    let (mut begin, mut is_escaped) = (None, false);
    for (at, byte) in bytes.iter().enumerate() {
        match (byte, begin) {
            _ if is_escaped => is_escaped = false,
            (b'\\', Some(_)) => is_escaped = true,
            (b'"', None) => begin = Some(at),
            (b'"', Some(from)) => {
                begin = None;
                if at + 1 - from >= LARGE && found.len() < MOST {
                    found.push(from..at + 1);
                }
            }
            _ => {}
        }
    }
    found
}

/// The frame around these texts, which have these addresses.
pub(crate) fn frame(bytes: &[u8], texts: &[Range<usize>], digests: &[Digest32]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut literal = |bytes: &[u8], digest: Option<&Digest32>| {
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend(bytes);
        out.extend(digest.into_iter().flatten());
    };
    let mut at = 0;
    for (text, digest) in texts.iter().zip(digests) {
        literal(&bytes[at..text.start], Some(digest));
        at = text.end;
    }
    literal(&bytes[at..], None);
    out
}

/// The pieces of a frame, in order; none when it is damaged.
pub(crate) fn pieces(mut frame: &[u8]) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    loop {
        let (length, rest) = frame.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (literal, rest) = rest.split_at_checked(length)?;
        pieces.push(Piece::Literal(literal));
        if rest.is_empty() {
            return Some(pieces);
        }
        let (digest, rest) = rest.split_first_chunk::<32>()?;
        pieces.push(Piece::Text(*digest));
        frame = rest;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(bytes: &str) -> Vec<&str> {
        texts(bytes.as_bytes()).into_iter().map(|range| &bytes[range]).collect()
    }

    #[test]
    fn finds_the_large_texts_and_no_others() {
        let large = format!("a \"quoted\" word \\ and {}", "x".repeat(LARGE));
        let value = json!({ "small": "words", "large": large, "list": [1, large] }).to_string();
        let token = json!(large).to_string();
        assert_eq!(found(&value), [token.as_str(), token.as_str()]);
        assert_eq!(found(&token), [""; 0], "a text alone is content already");
        assert_eq!(found(&format!("{{{}", "x".repeat(5_000))), [""; 0]);
        let many = json!(vec!["x".repeat(LARGE); MOST + 10]).to_string();
        assert_eq!(found(&many).len(), MOST);
    }

    #[test]
    fn a_frame_comes_apart_into_what_it_was_made_of() {
        let bytes = b"[\"one\",\"two\"]";
        let framed = frame(bytes, &[1..6, 7..12], &[[1; 32], [2; 32]]);
        let expected = [
            Piece::Literal(b"["),
            Piece::Text([1; 32]),
            Piece::Literal(b","),
            Piece::Text([2; 32]),
            Piece::Literal(b"]"),
        ];
        assert_eq!(pieces(&framed).unwrap(), expected);
        for end in 0..framed.len() {
            let cut = pieces(&framed[..end]);
            assert!(cut.is_none_or(|pieces| pieces.len() < expected.len()), "{end}");
        }
    }
}
