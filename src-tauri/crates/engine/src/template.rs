//! `{{ path.to[0].value }}` in texts and in mappings (flows page, "Templates and conditions").
//!
//! A [`Template`] is read once, when a flow is loaded, and says where it is wrong; it is then rendered any number of
//! times against a [`Scope`], in time linear in what it prints. Null, and what is not there, prints as nothing; a text as
//! it is; false and 0 as themselves; lists and objects as compact JSON. What was put in is never looked at again.
//! `\{{` and `\}}` stand for two braces. Text alone may have `{{#if path}}…{{/if}}`, with `== literal` or `!= literal`.
//!
//! Deliberately not here: the arguments of a plan's steps, where only declared names are references (`references`), the
//! prompts of the app itself (`prompts`), and expressions of any kind.

mod blocks;
mod mapping;
mod path;
mod place;
mod scope;
mod values;

use contract::step::{StepError, code};
use serde_json::Value;

pub use self::mapping::{Mapping, MappingError};
pub(crate) use self::path::is_name_character;
pub use self::path::{Path, Segment, kebab_case};
pub use self::place::{Place, SyntaxError};
pub use self::scope::{LISTS_OF_STEPS, Scope};
pub use self::values::{as_number, literal, order, same, truthy};
pub(crate) use self::values::{bare, quoted};

/// The most that one text or one mapping may become, in bytes: a short template could otherwise ask for a large value a
/// thousand times.
pub const LARGEST: usize = 64 * 1024 * 1024;

/// A text that was read and found right.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

/// What a template does next. Blocks are jumps, so that no depth of nesting needs a deep stack.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    /// Prints these words.
    Text(String),
    /// Prints what is there.
    Value(Reference),
    /// Goes on after the part with this number unless the test holds.
    If { test: Test, end: usize },
}

/// A path, and where in the text its braces begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// What it leads to.
    pub path: Path,
    /// The byte of the first brace.
    pub at: usize,
}

/// The test of a block.
#[derive(Debug, Clone, PartialEq)]
struct Test {
    reference: Reference,
    /// Whether it must be the same as the literal, or must not; without one, whether it is truthy.
    literal: Option<(bool, Value)>,
}

impl Test {
    fn holds(&self, scope: &dyn Scope) -> bool {
        let value = self.reference.path.find(scope).unwrap_or(&Value::Null);
        match &self.literal {
            None => truthy(value),
            Some((equal, literal)) => same(value, literal) == *equal,
        }
    }
}

impl Template {
    /// Reads a text, which may have blocks.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place: braces or blocks without a partner, what is no path, and what
    /// templates do not have (`else`, `each`, …).
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        blocks::parse(source, true)
    }

    /// Reads a value of a mapping, which has no blocks.
    ///
    /// # Errors
    /// As [`Template::parse`], and a block.
    pub fn parse_value(source: &str) -> Result<Self, SyntaxError> {
        blocks::parse(source, false)
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The path, when the text is one reference and nothing else.
    pub fn lone(&self) -> Option<&Path> {
        match self.parts.as_slice() {
            [Part::Value(reference)] => Some(&reference.path),
            _ => None,
        }
    }

    /// Everything it refers to, in order, with repetitions.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Value(reference) => Some(reference),
            Part::If { test, .. } => Some(&test.reference),
        })
    }

    /// The words between the references.
    fn plain_text(&self) -> String {
        let words = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Value(_) | Part::If { .. } => "",
        });
        words.collect()
    }

    /// The text with everything put in.
    ///
    /// # Errors
    /// `reference_unresolved`, when it would be larger than [`LARGEST`].
    pub fn render(&self, scope: &dyn Scope) -> Result<String, StepError> {
        let mut out = String::with_capacity(self.source.len());
        let mut next = 0;
        while let Some(part) = self.parts.get(next) {
            next += 1;
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value(reference) => print(reference.path.find(scope), &mut out),
                Part::If { test, end } if !test.holds(scope) => next = *end,
                Part::If { .. } => {}
            }
            if out.len() > LARGEST {
                return Err(too_large());
            }
        }
        Ok(out)
    }

    /// As [`Template::render`], but one lone reference keeps its type, and is null when nothing is there.
    ///
    /// # Errors
    /// As [`Template::render`].
    pub fn value(&self, scope: &dyn Scope) -> Result<Value, StepError> {
        match self.lone() {
            Some(path) => Ok(path.find(scope).cloned().unwrap_or(Value::Null)),
            None => self.render(scope).map(Value::String),
        }
    }
}

/// Prints a value the way templates do.
fn print(value: Option<&Value>, out: &mut String) {
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => out.push_str(text),
        Some(other) => out.push_str(&values::compact(other)),
    }
}

/// A value as words, the way templates print it.
pub(crate) fn printed(value: &Value) -> String {
    let mut out = String::new();
    print(Some(value), &mut out);
    out
}

fn too_large() -> StepError {
    StepError::new(
        code::REFERENCE_UNRESOLVED,
        format!(
            "with everything put in it would be larger than {} MB: refer to a part of the value, or to it less often",
            LARGEST / 1024 / 1024
        ),
    )
}

#[cfg(test)]
mod tests;
