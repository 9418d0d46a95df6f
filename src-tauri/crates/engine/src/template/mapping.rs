//! Values with templates in them: what a step is given, what a flow gives back.

use contract::step::StepError;
use serde_json::{Map, Value};

use super::path::Path;
use super::place::SyntaxError;
use super::scope::Scope;
use super::{LARGEST, Reference, Template, too_large};

/// A value that was read and found right, at any depth.
#[derive(Debug, Clone, PartialEq)]
pub enum Mapping {
    /// The same in every scope.
    Plain(Value),
    /// A text with references; one that is a single reference keeps its type.
    Template(Template),
    /// A list with references somewhere in it.
    List(Vec<Mapping>),
    /// An object with references somewhere in it.
    Object(Vec<(String, Mapping)>),
}

/// A text in a mapping that breaks the grammar.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {error}")]
pub struct MappingError {
    /// The way to it, such as `sources.web[0]`; empty for the mapping itself.
    pub path: String,
    /// What is wrong, with the place in the text.
    pub error: SyntaxError,
}

impl Mapping {
    /// Reads a value. Keys are never templates.
    ///
    /// # Errors
    /// Every text that is wrong, with the way to it.
    pub fn parse(value: &Value) -> Result<Self, Vec<MappingError>> {
        let mut errors = Vec::new();
        let mapping = read(value, &mut String::new(), &mut errors);
        if errors.is_empty() { Ok(mapping) } else { Err(errors) }
    }

    /// The value with everything put in.
    ///
    /// # Errors
    /// `reference_unresolved`, when it would be larger than [`LARGEST`].
    pub fn value(&self, scope: &dyn Scope) -> Result<Value, StepError> {
        fill(self, scope, &mut { LARGEST })
    }

    /// Everything it refers to, in order, with repetitions, each with the way to its text.
    pub fn references(&self) -> Vec<(String, &Reference)> {
        let mut found = Vec::new();
        collect(self, &mut String::new(), &mut found);
        found
    }

    /// The path, when the whole is one reference and nothing else.
    pub fn lone(&self) -> Option<&Path> {
        match self {
            Self::Template(template) => template.lone(),
            Self::Plain(_) | Self::List(_) | Self::Object(_) => None,
        }
    }
}

fn read(value: &Value, path: &mut String, errors: &mut Vec<MappingError>) -> Mapping {
    match value {
        Value::String(text) => match Template::parse_value(text) {
            Ok(template) if template.references().next().is_some() => Mapping::Template(template),
            // Without references it is always the same text, with `\{{` undone.
            Ok(template) => Mapping::Plain(Value::String(template.plain_text())),
            Err(error) => {
                errors.push(MappingError {
                    path: path.clone(),
                    error,
                });
                Mapping::Plain(Value::Null)
            }
        },
        Value::Array(items) => {
            let items = items.iter().enumerate();
            let items: Vec<Mapping> = items
                .map(|(index, item)| below(path, &format!("[{index}]"), |path| read(item, path, errors)))
                .collect();
            match items.iter().all(is_plain) {
                true => Mapping::Plain(items.into_iter().filter_map(plain).collect()),
                false => Mapping::List(items),
            }
        }
        Value::Object(map) => {
            let entries: Vec<(String, Mapping)> = map
                .iter()
                .map(|(key, value)| (key.clone(), below(path, key, |path| read(value, path, errors))))
                .collect();
            match entries.iter().all(|(_, entry)| is_plain(entry)) {
                true => {
                    let entries = entries
                        .into_iter()
                        .filter_map(|(key, entry)| Some((key, plain(entry)?)));
                    Mapping::Plain(Value::Object(entries.collect()))
                }
                false => Mapping::Object(entries),
            }
        }
        plain => Mapping::Plain(plain.clone()),
    }
}

fn is_plain(mapping: &Mapping) -> bool {
    matches!(mapping, Mapping::Plain(_))
}

fn plain(mapping: Mapping) -> Option<Value> {
    match mapping {
        Mapping::Plain(value) => Some(value),
        Mapping::Template(_) | Mapping::List(_) | Mapping::Object(_) => None,
    }
}

/// Does something one level down, with the path of that level.
fn below<R>(path: &mut String, part: &str, then: impl FnOnce(&mut String) -> R) -> R {
    let before = path.len();
    if !path.is_empty() && !part.starts_with('[') {
        path.push('.');
    }
    path.push_str(part);
    let result = then(path);
    path.truncate(before);
    result
}

fn fill(mapping: &Mapping, scope: &dyn Scope, left: &mut usize) -> Result<Value, StepError> {
    Ok(match mapping {
        Mapping::Plain(value) => value.clone(),
        Mapping::Template(template) => {
            // Measured before it is copied.
            if let Some(found) = template.lone().and_then(|path| path.find(scope)) {
                *left = left.checked_sub(weight(found)).ok_or_else(too_large)?;
            }
            let value = template.value(scope)?;
            if template.lone().is_none() {
                *left = left.checked_sub(weight(&value)).ok_or_else(too_large)?;
            }
            value
        }
        Mapping::List(items) => {
            let items = items.iter().map(|item| fill(item, scope, left));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Mapping::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, entry)| Ok((key.clone(), fill(entry, scope, left)?)));
            Value::Object(entries.collect::<Result<Map<_, _>, StepError>>()?)
        }
    })
}

/// About how much room a value takes.
fn weight(value: &Value) -> usize {
    const PART: usize = 16;
    PART + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(map) => map.iter().map(|(key, value)| key.len() + weight(value)).sum(),
    }
}

fn collect<'m>(mapping: &'m Mapping, path: &mut String, found: &mut Vec<(String, &'m Reference)>) {
    match mapping {
        Mapping::Plain(_) => {}
        Mapping::Template(template) => {
            found.extend(template.references().map(|reference| (path.clone(), reference)));
        }
        Mapping::List(items) => {
            for (index, item) in items.iter().enumerate() {
                below(path, &format!("[{index}]"), |path| collect(item, path, found));
            }
        }
        Mapping::Object(entries) => {
            for (key, entry) in entries {
                below(path, key, |path| collect(entry, path, found));
            }
        }
    }
}
