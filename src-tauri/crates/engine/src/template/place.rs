//! Where in a text something is wrong.

use std::fmt;

/// A place in a text, as a person counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
}

impl Place {
    /// The place of a byte. One that lies inside a character, or past the end, counts as the next there is.
    pub fn of(source: &str, at: usize) -> Self {
        let before = source.get(..at).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            1 => write!(formatter, "at character {}", self.column),
            line => write!(formatter, "in line {line} at character {}", self.column),
        }
    }
}

/// A template or a condition that breaks its grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}, {place}")]
pub struct SyntaxError {
    /// What is wrong and what would be right, in words, without the place.
    pub message: String,
    /// The byte where it begins.
    pub at: usize,
    /// The same for a person.
    pub place: Place,
}

impl SyntaxError {
    /// Something that is wrong at a byte of the text.
    pub fn new(source: &str, at: usize, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            at,
            place: Place::of(source, at),
        }
    }
}
