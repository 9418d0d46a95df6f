//! Texts that are looked for, and where they are found.

use serde::{Deserialize, Deserializer};

use crate::phrases::quote;

/// A text, or a list of texts.
pub(crate) fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum OneOrMore {
        One(String),
        More(Vec<String>),
    }
    Ok(match OneOrMore::deserialize(deserializer)? {
        OneOrMore::One(text) => vec![text],
        OneOrMore::More(texts) => texts,
    })
}

/// A text as a rule, or a list of them.
pub(crate) fn schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["string", "array"],
        "minLength": 1,
        "minItems": 1,
        "items": { "type": "string", "minLength": 1 }
    })
}

/// A list of texts as a rule, or a single one.
pub(crate) fn list_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({
        "type": ["array", "string"],
        "minLength": 1,
        "minItems": 1,
        "items": { "type": "string", "minLength": 1 }
    })
}

/// The text without the difference between capital and small letters, where that is asked for.
pub(crate) fn fold(text: &str, ignore_case: bool) -> String {
    if ignore_case {
        text.to_lowercase()
    } else {
        text.to_owned()
    }
}

/// A text in which others are looked for.
pub(crate) struct Searched {
    text: String,
    ignore_case: bool,
}

impl Searched {
    /// Folded once, however many texts are looked for.
    pub(crate) fn new(text: String, ignore_case: bool) -> Self {
        Self {
            text: if ignore_case { text.to_lowercase() } else { text },
            ignore_case,
        }
    }

    /// The line of the first place, counted from 1.
    pub(crate) fn line_of(&self, wanted: &str) -> Option<usize> {
        let at = self.text.find(&fold(wanted, self.ignore_case))?;
        self.text.get(..at).map(line_after)
    }

    /// What is there, each with its line, and what is not, each in quotation marks.
    pub(crate) fn find_each(&self, wanted: &[String]) -> (Vec<String>, Vec<String>) {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for text in wanted {
            match self.line_of(text) {
                Some(line) => found.push(format!("{} in line {line}", quote(text))),
                None => missing.push(quote(text)),
            }
        }
        (found, missing)
    }
}

/// The line in which the text goes on after this beginning, counted from 1.
pub(crate) fn line_after(beginning: &str) -> usize {
    beginning.bytes().filter(|byte| *byte == b'\n').count() + 1
}
