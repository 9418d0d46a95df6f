//! `path.to[0].value`: names and positions. The id of a step that is written with hyphens is found camel-cased too, and
//! the other way round, because the id `web-researcher` is the key `webResearcher` (flows page, "Key"). In data, another
//! spelling is another name.

use std::fmt;

use contract::flow::camel_case;
use serde_json::Value;

use super::place::SyntaxError;
use super::scope::Scope;

/// A path that was read and found right; it has at least one segment, and the first is a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    segments: Vec<Segment>,
}

/// One part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// The value under a name, or, written in digits, the item at a position.
    Name {
        /// As it was written.
        name: String,
        /// The other spellings of an id, in the order in which they are tried.
        others: Vec<String>,
    },
    /// The item at a position, from 0.
    Index(usize),
}

/// `webResearcher` as `web-researcher`, the other way round.
pub fn kebab_case(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for character in key.chars() {
        if character.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
            out.push(character.to_ascii_lowercase());
        } else {
            out.push(character);
        }
    }
    out
}

impl Segment {
    fn named(name: &str) -> Self {
        let mut others = vec![camel_case(name), kebab_case(name)];
        others.retain(|other| other != name);
        Self::Name {
            name: name.to_owned(),
            others,
        }
    }

    fn of<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        match (self, value) {
            (Self::Index(index), Value::Array(items)) => items.get(*index),
            (Self::Name { name, .. }, Value::Array(items)) => items.get(name.parse::<usize>().ok()?),
            (Self::Name { name, .. }, Value::Object(map)) => map.get(name),
            _ => None,
        }
    }

    /// The same where the names are ids of steps.
    fn by_id<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        let other = || match (self, value) {
            (Self::Name { others, .. }, Value::Object(map)) => others.iter().find_map(|other| map.get(other)),
            _ => None,
        };
        self.of(value).or_else(other)
    }
}

/// Whether a name in a path may contain this character.
pub(crate) fn is_name_character(character: char) -> bool {
    !character.is_whitespace() && !character.is_control() && !"{}[]().,;'\"`\\=!<>&|#".contains(character)
}

impl Path {
    /// Reads `text`, which begins at the byte `at` of `source`.
    pub(crate) fn parse_at(source: &str, text: &str, at: usize) -> Result<Self, SyntaxError> {
        let wrong = |offset: usize, message: String| SyntaxError::new(source, at + offset, message);
        let mut segments = Vec::new();
        let mut rest = text;
        loop {
            let here = text.len() - rest.len();
            if let (Some(inside), false) = (rest.strip_prefix('['), segments.is_empty()) {
                let (digits, after) = inside
                    .split_once(']')
                    .ok_or_else(|| wrong(here, format!("\"{text}\" opens a [ that nothing closes")))?;
                let index = digits.trim().parse().map_err(|_| {
                    wrong(
                        here,
                        format!("[{digits}] in \"{text}\" is no position: write a number from 0"),
                    )
                })?;
                segments.push(Segment::Index(index));
                rest = after;
            } else {
                let name = match rest.strip_prefix('.') {
                    Some(after) if !segments.is_empty() => after,
                    _ if segments.is_empty() => rest,
                    _ => return Err(not_a_path(text, rest, wrong(here, String::new()))),
                };
                let end = name
                    .find(|character| !is_name_character(character))
                    .unwrap_or(name.len());
                if end == 0 {
                    return Err(not_a_path(text, name, wrong(text.len() - name.len(), String::new())));
                }
                segments.push(Segment::named(&name[..end]));
                rest = &name[end..];
            }
            if rest.is_empty() {
                return Ok(Self { segments });
            }
        }
    }

    /// Reads a path that stands alone.
    ///
    /// # Errors
    /// What is no path, with its place.
    pub fn parse(text: &str) -> Result<Self, SyntaxError> {
        Self::parse_at(text, text, 0)
    }

    /// The first name, as it was written.
    pub fn root(&self) -> &str {
        match self.segments.first() {
            Some(Segment::Name { name, .. }) => name,
            Some(Segment::Index(_)) | None => "",
        }
    }

    /// Every spelling of the first name, where it is the id of a step.
    pub fn root_spellings(&self) -> impl Iterator<Item = &str> {
        let (name, others) = match self.segments.first() {
            Some(Segment::Name { name, others }) => (Some(name), others.as_slice()),
            Some(Segment::Index(_)) | None => (None, [].as_slice()),
        };
        name.into_iter().chain(others).map(String::as_str)
    }

    /// Its parts; the first is a name.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// What is there, if anything is. Null under a name is something.
    pub fn find<'s>(&self, scope: &'s dyn Scope) -> Option<&'s Value> {
        let (root, mut value) = self.find_root(scope)?;
        let mut are_ids = scope.has_ids_below(root);
        for segment in self.segments.iter().skip(1) {
            value = match std::mem::take(&mut are_ids) {
                true => segment.by_id(value)?,
                false => segment.of(value)?,
            };
        }
        Some(value)
    }

    /// What the first name leads to, with the spelling under which it is there.
    pub(crate) fn find_root<'s>(&self, scope: &'s dyn Scope) -> Option<(&str, &'s Value)> {
        let by_id = || {
            let mut others = self.root_spellings().skip(1);
            others.find_map(|other| Some((other, scope.by_id(other)?)))
        };
        let as_written = scope.root(self.root()).map(|value| (self.root(), value));
        as_written.or_else(by_id)
    }
}

fn not_a_path(text: &str, rest: &str, mut error: SyntaxError) -> SyntaxError {
    error.message = match rest.chars().next() {
        None if text.is_empty() => "there is no name between the braces".to_owned(),
        None => format!("\"{text}\" ends where a name should follow"),
        Some(character) => format!("\"{text}\" is no reference: \"{character}\" cannot stand there"),
    };
    error
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Name { name, .. } if number == 0 => formatter.write_str(name)?,
                Segment::Name { name, .. } => write!(formatter, ".{name}")?,
                Segment::Index(index) => write!(formatter, "[{index}]")?,
            }
        }
        Ok(())
    }
}
