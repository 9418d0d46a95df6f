//! `{{step_1.rows[0].name}}` in a step's arguments: the engine puts the real value there, so that no
//! model has to copy it (goal-pipeline page, "No copying through the model").
//!
//! Only roots that name a declared dependency or input are references; any other `{{…}}` stays as
//! it is, `\{{` escapes, and what was put in is never looked at again.

use std::borrow::Borrow;

use contract::step::{StepError, code};
use indexmap::IndexMap;
use serde_json::Value;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece<'t> {
    Text(&'t str),
    Reference { whole: &'t str, path: &'t str },
}

/// The most that references may put into one step's arguments, in bytes: a plan of one line could
/// otherwise ask for a large result a thousand times.
const LARGEST: usize = 64 * 1024 * 1024;

/// The arguments with every reference replaced. A text that is one lone reference keeps the value's
/// type; inside a text, strings stand as they are and everything else as compact JSON.
///
/// # Errors
/// `reference_unresolved`, naming the path that leads nowhere, or the one that makes it too much.
pub fn substitute<V: Borrow<Value>>(args: &Value, scope: &IndexMap<String, V>) -> Result<Value, StepError> {
    Substitution { scope, left: LARGEST }.value(args)
}

struct Substitution<'s, V> {
    scope: &'s IndexMap<String, V>,
    left: usize,
}

impl<V: Borrow<Value>> Substitution<'_, V> {
    fn value(&mut self, args: &Value) -> Result<Value, StepError> {
        Ok(match args {
            Value::String(text) => self.text(text)?,
            Value::Array(items) => Value::Array(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?),
            Value::Object(map) => {
                let entries = map.iter().map(|(key, value)| Ok((key.clone(), self.value(value)?)));
                Value::Object(entries.collect::<Result<_, StepError>>()?)
            }
            plain => plain.clone(),
        })
    }

    fn text(&mut self, text: &str) -> Result<Value, StepError> {
        let pieces = pieces(text);
        if let [Piece::Reference { path, .. }] = pieces.as_slice()
            && let Some(found) = self.find(path)?
        {
            return Ok(found.clone());
        }
        let mut out = String::with_capacity(text.len());
        for piece in pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Reference { whole, path } => match self.find(path)? {
                    None => out.push_str(whole),
                    Some(Value::String(text)) => out.push_str(text),
                    Some(other) => out.push_str(&other.to_string()),
                },
            }
        }
        Ok(Value::String(out))
    }

    /// The value that a path leads to; none when its root is not in scope.
    fn find(&mut self, path: &str) -> Result<Option<&Value>, StepError> {
        let scope = self.scope;
        let Some((root, rest)) = split_root(path, |name| scope.contains_key(name)) else {
            return Ok(None);
        };
        let found = scope.get(root).and_then(|value| resolve(value.borrow(), rest));
        let found = found.ok_or_else(|| unresolved(path))?;
        self.spend(path, weight(found))?;
        Ok(Some(found))
    }

    fn spend(&mut self, path: &str, bytes: usize) -> Result<(), StepError> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| {
            let message = format!(
                "{{{{{path}}}}} makes the arguments larger than {} MB: refer to a part of the result, or to it less often",
                LARGEST / 1024 / 1024
            );
            StepError::new(code::REFERENCE_UNRESOLVED, message)
        })?;
        Ok(())
    }
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

fn unresolved(path: &str) -> StepError {
    StepError::new(
        code::REFERENCE_UNRESOLVED,
        format!("{{{{{path}}}}} leads nowhere: the result has no such part"),
    )
}

/// The roots of all references in the arguments, as far as `known` accepts them; each once, in order.
pub fn roots_in(args: &Value, known: impl Fn(&str) -> bool) -> Vec<&str> {
    let mut found = Vec::new();
    visit(args, &mut |path| {
        if let Some((root, _)) = split_root(path, &known)
            && !found.contains(&root)
        {
            found.push(root);
        }
    });
    found
}

/// Whether anything in the arguments looks like a reference.
pub fn has_any(args: &Value) -> bool {
    let mut any = false;
    visit(args, &mut |_| any = true);
    any
}

/// The arguments with the root of every reference that `to` knows written as it says, and nothing else
/// changed.
pub fn rename(args: &Value, to: &dyn Fn(&str) -> Option<String>) -> Value {
    match args {
        Value::String(text) => {
            let written = pieces(text).into_iter().map(|piece| match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Reference { whole, path } => match split_root(path, |name| to(name).is_some()) {
                    None => whole.to_owned(),
                    Some((root, rest)) => format!("{{{{{}{rest}}}}}", to(root).unwrap_or_default()),
                },
            });
            Value::String(written.collect())
        }
        Value::Array(items) => items.iter().map(|item| rename(item, to)).collect(),
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.clone(), rename(value, to)))
                .collect(),
        ),
        plain => plain.clone(),
    }
}

/// Shows every path between `{{` and `}}`.
fn visit<'a>(args: &'a Value, look: &mut impl FnMut(&'a str)) {
    match args {
        Value::String(text) => {
            for piece in pieces(text) {
                if let Piece::Reference { path, .. } = piece {
                    look(path);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| visit(item, look)),
        Value::Object(map) => map.values().for_each(|value| visit(value, look)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Whether a value is a text with a reference in it, so that its final type is not known yet.
pub fn has_reference(value: &Value) -> bool {
    value.is_string() && has_any(value)
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{") {
        if let Some(before) = rest[..open].strip_suffix('\\') {
            out.push(Piece::Text(before));
            out.push(Piece::Text("{{"));
            rest = &rest[open + 2..];
            continue;
        }
        let Some(close) = rest[open..].find("}}").map(|close| open + close) else {
            break;
        };
        out.push(Piece::Text(&rest[..open]));
        out.push(Piece::Reference {
            whole: &rest[open..close + 2],
            path: rest[open + 2..close].trim(),
        });
        rest = &rest[close + 2..];
    }
    out.push(Piece::Text(rest));
    out.retain(|piece| *piece != Piece::Text(""));
    out
}

/// The longest known name that the path begins with, and what follows it. Names end where a part
/// begins, so only as many are looked up as the path has parts.
fn split_root(path: &str, known: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let ends = path
        .char_indices()
        .filter(|(_, character)| matches!(character, '.' | '['));
    let ends = ends.map(|(end, _)| end).chain([path.len()]);
    let split = ends.map(|end| path.split_at(end)).filter(|(name, _)| known(name));
    split.last()
}

fn resolve<'v>(mut value: &'v Value, mut path: &str) -> Option<&'v Value> {
    while !path.is_empty() {
        if let Some(rest) = path.strip_prefix('.') {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            value = value.get(&rest[..end])?;
            path = &rest[end..];
        } else {
            let rest = path.strip_prefix('[')?;
            let (index, after) = rest.split_once(']')?;
            value = value.get(index.trim().parse::<usize>().ok()?)?;
            path = after;
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scope() -> IndexMap<String, Value> {
        IndexMap::from([
            (
                "step_1".to_owned(),
                json!({"rows": [{"total": 12.5}], "text": "{{step_2}}"}),
            ),
            ("cycle_1.step_3".to_owned(), json!("kept")),
        ])
    }

    fn check(args: Value, expected: Value) {
        assert_eq!(substitute(&args, &scope()), Ok(expected));
    }

    #[test]
    fn a_lone_reference_keeps_its_type() {
        check(
            json!({"n": "{{ step_1.rows[0].total }}", "r": ["{{step_1.rows}}"]}),
            json!({"n": 12.5, "r": [[{"total": 12.5}]]}),
        );
    }

    #[test]
    fn inside_a_text_values_are_written_out() {
        check(
            json!("Total: {{step_1.rows[0].total}}, {{cycle_1.step_3}} {{step_1.rows}}"),
            json!("Total: 12.5, kept [{\"total\":12.5}]"),
        );
    }

    #[test]
    fn what_is_not_declared_stays_literal_and_what_was_put_in_is_not_expanded() {
        check(
            json!("{{name}} \\{{step_1}} {{step_1.text}} {{step_10}} {{open"),
            json!("{{name}} {{step_1}} {{step_2}} {{step_10}} {{open"),
        );
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named() {
        let Err(error) = substitute(&json!("{{step_1.rows[9].total}}"), &scope()) else {
            panic!("nothing is there")
        };
        assert_eq!(error.code, code::REFERENCE_UNRESOLVED);
        assert!(error.message.contains("step_1.rows[9].total"), "{}", error.message);
    }

    #[test]
    fn a_short_plan_cannot_ask_for_a_huge_text() {
        let large = "x".repeat(LARGEST / 4);
        let scope = IndexMap::from([("a".to_owned(), json!(large))]);
        assert!(substitute(&json!({"content": "{{a}} {{a}} {{a}}"}), &scope).is_ok());
        for args in [
            json!("{{a}} {{a}} {{a}} {{a}}"),
            json!(["{{a}}", "{{a}}", "{{a}}", {"b": "{{a}}"}]),
        ] {
            let Err(error) = substitute(&args, &scope) else {
                panic!("it is too much")
            };
            assert!(error.message.contains("larger than 64 MB"), "{}", error.message);
        }
    }

    #[test]
    fn roots_can_be_called_something_else() {
        let to = |name: &str| (name == "step_1").then(|| "sha256:1".to_owned());
        assert_eq!(
            rename(&json!({"a": "{{ step_1.rows[0] }} {{other}}", "n": [1]}), &to),
            json!({"a": "{{sha256:1.rows[0]}} {{other}}", "n": [1]})
        );
    }

    #[test]
    fn names_the_roots() {
        let args = json!({"a": "{{step_1.x}} {{other}}", "b": ["{{cycle_1.step_3}}", "\\{{step_2}}"]});
        assert_eq!(
            roots_in(&args, |name| ["step_1", "step_2", "cycle_1.step_3"].contains(&name)),
            ["step_1", "cycle_1.step_3"]
        );
    }
}
