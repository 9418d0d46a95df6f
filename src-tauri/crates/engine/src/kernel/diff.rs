//! What changed between two values, entry by entry (kernel page, "Artifacts, snapshot, replay,
//! recompute, diff"): compare, print, apply.
//!
//! Lists are compared by place here; [`super::keyed`] compares them by the ids of their items.
//! Everything here costs as much as the values are long.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use contract::hash::canonical;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::audit::present;

/// One part of the way into a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PathPart {
    /// An item of a list, counted from 0.
    Index(usize),
    /// A field of an object.
    Key(String),
}

/// The way into a value; empty for the value itself.
pub type Path = Vec<PathPart>;

/// A path in words: `a.b[0]`, or `(root)`.
pub fn path_text(path: &[PathPart]) -> String {
    if path.is_empty() {
        return "(root)".to_owned();
    }
    let mut text = String::new();
    for part in path {
        match part {
            PathPart::Index(index) => text.push_str(&format!("[{index}]")),
            PathPart::Key(key) if text.is_empty() => text.push_str(key),
            PathPart::Key(key) => {
                text.push('.');
                text.push_str(key);
            }
        }
    }
    text
}

/// One change. Null is a value; what is absent was not there before, or is not any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DiffEntry {
    /// Where.
    pub path: Path,
    /// What was there.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub before: Option<Value>,
    /// What is there now.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub after: Option<Value>,
}

/// All changes between two values, fields in the order of their names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Diff {
    /// The changes.
    pub entries: Vec<DiffEntry>,
}

impl Diff {
    /// What changed from `before` to `after`.
    pub fn between(before: &Value, after: &Value) -> Self {
        Self::of(Some(before), Some(after))
    }

    /// As [`Diff::between`], for values that may be absent.
    pub fn of(before: Option<&Value>, after: Option<&Value>) -> Self {
        let mut diff = Self::default();
        compare(before, after, &mut Vec::new(), &mut diff.entries);
        diff
    }

    /// Whether nothing changed.
    pub fn is_equal(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value after these changes; `base` stays as it is.
    ///
    /// # Errors
    /// A path that does not lead where the entry says.
    pub fn apply(&self, base: &Value) -> Result<Value, WrongPath> {
        if let Some(whole) = self.entries.iter().find(|entry| entry.path.is_empty()) {
            return Ok(whole.after.clone().unwrap_or_default());
        }
        let mut value = base.clone();
        let mut removed: BTreeMap<Reverse<usize>, BTreeMap<&[PathPart], Vec<&PathPart>>> = BTreeMap::new();
        for entry in &self.entries {
            let Some((last, parent)) = entry.path.split_last() else {
                continue;
            };
            match &entry.after {
                Some(after) => put(walk(&mut value, parent)?, last, after.clone(), &entry.path)?,
                // Removed at the end, the deepest first: until then every path means what it meant.
                None => {
                    let places = removed.entry(Reverse(parent.len())).or_default();
                    places.entry(parent).or_default().push(last);
                }
            }
        }
        for (parent, places) in removed.into_values().flatten() {
            remove(walk(&mut value, parent)?, parent, places)?;
        }
        Ok(value)
    }
}

/// The changes as people read them, one line each.
impl fmt::Display for Diff {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_equal() {
            return formatter.write_str("(no changes)");
        }
        for (index, entry) in self.entries.iter().enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            let path = path_text(&entry.path);
            match (&entry.before, &entry.after) {
                (None, after) => write!(formatter, "+ {path}: {}", text_of(after.as_ref()))?,
                (before, None) => write!(formatter, "- {path}: {}", text_of(before.as_ref()))?,
                (Some(before), Some(after)) => {
                    write!(
                        formatter,
                        "  {path}: {} → {}",
                        text_of(Some(before)),
                        text_of(Some(after))
                    )?;
                }
            }
        }
        Ok(())
    }
}

fn text_of(value: Option<&Value>) -> String {
    match value {
        None => "(undefined)".to_owned(),
        // One that has no canonical form is still shown.
        Some(value) => canonical(value).unwrap_or_else(|_| value.to_string()),
    }
}

/// A change that cannot be made, because its path leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WrongPath {
    /// The way ends before its end.
    #[error("cannot traverse path at \"{at}\": expected object, got {got}")]
    NotThere {
        /// Where it ends.
        at: String,
        /// What is there.
        got: &'static str,
    },
    /// A list is entered with a name.
    #[error("array index must be number, got string \"{key}\" at \"{at}\"")]
    NotAnIndex {
        /// The list.
        at: String,
        /// The name.
        key: String,
    },
    /// An object is entered with a number.
    #[error("object key must be string, got number {index} at \"{at}\"")]
    NotAKey {
        /// The object.
        at: String,
        /// The number.
        index: usize,
    },
    /// There is no such item or field to remove, or an item would leave a gap.
    #[error("there is nothing at \"{at}\" to change")]
    Nothing {
        /// Where.
        at: String,
    },
}

/// Whether two plain values are one: numbers by their value, so that 1 is 1.0.
fn is_same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Number(before), Value::Number(after)) => {
            before == after
                || (before.is_f64() || after.is_f64())
                    && before
                        .as_f64()
                        .zip(after.as_f64())
                        .is_some_and(|(left, right)| left == right)
        }
        _ => before == after,
    }
}

fn compare(before: Option<&Value>, after: Option<&Value>, path: &mut Path, entries: &mut Vec<DiffEntry>) {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => compare_objects(before, after, path, entries),
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            for index in 0..before.len().max(after.len()) {
                path.push(PathPart::Index(index));
                compare(before.get(index), after.get(index), path, entries);
                path.pop();
            }
        }
        (Some(before), Some(after)) if is_same(before, after) => {}
        (None, None) => {}
        (before, after) => entries.push(DiffEntry {
            path: path.clone(),
            before: before.cloned(),
            after: after.cloned(),
        }),
    }
}

fn compare_objects(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    path: &mut Path,
    entries: &mut Vec<DiffEntry>,
) {
    let mut keys: Vec<&String> = before
        .keys()
        .chain(after.keys().filter(|key| !before.contains_key(*key)))
        .collect();
    keys.sort_unstable();
    for key in keys {
        path.push(PathPart::Key(key.clone()));
        compare(before.get(key), after.get(key), path, entries);
        path.pop();
    }
}

/// Follows a path to what it leads to.
fn walk<'v>(value: &'v mut Value, path: &[PathPart]) -> Result<&'v mut Value, WrongPath> {
    let mut here = value;
    for (depth, part) in path.iter().enumerate() {
        let got = kind(here);
        let next = match (here, part) {
            (Value::Object(map), PathPart::Key(key)) => map.get_mut(key),
            (Value::Array(items), PathPart::Index(index)) => items.get_mut(*index),
            (Value::Array(_), PathPart::Key(key)) => {
                return Err(WrongPath::NotAnIndex {
                    at: path_text(&path[..depth]),
                    key: key.clone(),
                });
            }
            (Value::Object(_), PathPart::Index(index)) => {
                return Err(WrongPath::NotAKey {
                    at: path_text(&path[..depth]),
                    index: *index,
                });
            }
            _ => {
                return Err(WrongPath::NotThere {
                    at: path_text(&path[..depth]),
                    got,
                });
            }
        };
        here = next.ok_or_else(|| WrongPath::NotThere {
            at: path_text(&path[..=depth]),
            got: "undefined",
        })?;
    }
    Ok(here)
}

fn put(parent: &mut Value, last: &PathPart, after: Value, path: &[PathPart]) -> Result<(), WrongPath> {
    let got = kind(parent);
    let above = || path_text(&path[..path.len() - 1]);
    match (parent, last) {
        (Value::Object(map), PathPart::Key(key)) => {
            map.insert(key.clone(), after);
            Ok(())
        }
        (Value::Array(items), PathPart::Index(index)) if *index < items.len() => {
            items[*index] = after;
            Ok(())
        }
        (Value::Array(items), PathPart::Index(index)) if *index == items.len() => {
            items.push(after);
            Ok(())
        }
        (Value::Array(_), PathPart::Index(_)) => Err(WrongPath::Nothing { at: path_text(path) }),
        (Value::Array(_), PathPart::Key(key)) => Err(WrongPath::NotAnIndex {
            at: above(),
            key: key.clone(),
        }),
        (Value::Object(_), PathPart::Index(index)) => Err(WrongPath::NotAKey {
            at: above(),
            index: *index,
        }),
        _ => Err(WrongPath::NotThere { at: above(), got }),
    }
}

/// Removes fields or items of one parent, all in one pass: the highest index first, as it were.
fn remove(parent: &mut Value, above: &[PathPart], places: Vec<&PathPart>) -> Result<(), WrongPath> {
    let at = |part: &PathPart| path_text(&[above, std::slice::from_ref(part)].concat());
    let got = kind(parent);
    match parent {
        Value::Object(map) => {
            let mut gone = std::collections::HashSet::with_capacity(places.len());
            for part in places {
                match part {
                    PathPart::Key(key) if map.contains_key(key) => gone.insert(key.as_str()),
                    PathPart::Key(_) => return Err(WrongPath::Nothing { at: at(part) }),
                    PathPart::Index(index) => {
                        return Err(WrongPath::NotAKey {
                            at: path_text(above),
                            index: *index,
                        });
                    }
                };
            }
            map.retain(|key, _| !gone.contains(key.as_str()));
            Ok(())
        }
        Value::Array(items) => {
            let mut gone = vec![false; items.len()];
            for part in places {
                match part {
                    PathPart::Index(index) if *index < items.len() => gone[*index] = true,
                    PathPart::Index(_) => return Err(WrongPath::Nothing { at: at(part) }),
                    PathPart::Key(key) => {
                        return Err(WrongPath::NotAnIndex {
                            at: path_text(above),
                            key: key.clone(),
                        });
                    }
                }
            }
            let mut gone = gone.into_iter();
            items.retain(|_| gone.next() != Some(true));
            Ok(())
        }
        _ => Err(WrongPath::NotThere {
            at: path_text(above),
            got,
        }),
    }
}

/// What a value is, in the words of JSON Schema.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use contract::hash::Hash;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(before: Value, after: Value, expected: Value) {
        assert_eq!(json!(Diff::between(&before, &after)), expected);
    }

    fn check_text(before: Value, after: Value, expected: &str) {
        assert_eq!(Diff::between(&before, &after).to_string(), expected);
    }

    fn check_wrong(base: Value, entry: Value, words: &str) {
        let diff: Diff = serde_json::from_value(json!([entry])).unwrap();
        let error = diff.apply(&base).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn fields_are_sorted_and_absent_is_not_null() {
        check(
            json!({"b": 1, "a": null}),
            json!({"c": null}),
            json!([{"path": ["a"], "before": null}, {"path": ["b"], "before": 1}, {"path": ["c"], "after": null}]),
        );
    }

    #[test]
    fn another_type_replaces_the_whole_value() {
        check(
            json!({"a": [1]}),
            json!({"a": {"0": 1}}),
            json!([{"path": ["a"], "before": [1], "after": {"0": 1}}]),
        );
        check(json!([1]), json!([1.0]), json!([]));
        check(json!(1), json!("1"), json!([{"path": [], "before": 1, "after": "1"}]));
    }

    #[test]
    fn is_printed_one_line_a_change() {
        check_text(json!({}), json!({}), "(no changes)");
        check_text(json!(1), json!(2), "  (root): 1 → 2");
        check_text(
            json!({"a": [{"n": 1}], "b": "x"}),
            json!({"a": [{"n": null}], "c": {"z": 1, "a": "ü"}}),
            "  a[0].n: 1 → null\n- b: \"x\"\n+ c: {\"a\":\"ü\",\"z\":1}",
        );
    }

    #[test]
    fn a_path_that_leads_elsewhere_is_an_error() {
        let base = json!({"a": ["x", "y"], "n": 1});
        check_wrong(
            base.clone(),
            json!({"path": ["a", "1"], "before": "y"}),
            "array index must be number",
        );
        check_wrong(
            base.clone(),
            json!({"path": ["a", 2], "before": "y"}),
            "nothing at \"a[2]\"",
        );
        check_wrong(
            base.clone(),
            json!({"path": ["a", 3], "after": 1}),
            "nothing at \"a[3]\"",
        );
        check_wrong(
            base.clone(),
            json!({"path": ["n", "x"], "after": 1}),
            "at \"n\": expected object, got number",
        );
        check_wrong(base.clone(), json!({"path": ["z", "x"], "after": 1}), "got undefined");
        check_wrong(base, json!({"path": ["z"], "before": 1}), "nothing at \"z\"");
    }

    #[test]
    fn a_hundred_thousand_removals_cost_one_pass() {
        let long = json!((0..100_000).collect::<Vec<_>>());
        let entries = (0..100_000).filter(|index| index % 2 == 0).map(|index| DiffEntry {
            path: vec![PathPart::Index(index)],
            before: Some(json!(index)),
            after: None,
        });
        let diff = Diff {
            entries: entries.collect(),
        };
        let left = diff.apply(&long).unwrap();
        assert_eq!(
            left,
            json!((0..100_000).filter(|index| index % 2 == 1).collect::<Vec<_>>())
        );
        assert_eq!(Diff::between(&long, &json!([])).apply(&long), Ok(json!([])));
    }

    #[test]
    fn the_deepest_json_that_can_be_read_is_compared() {
        let deep = |core: &str| -> Value {
            let text = format!("{}{core}{}", "[".repeat(120), "]".repeat(120));
            serde_json::from_str(&text).unwrap()
        };
        let diff = Diff::between(&deep("1"), &deep("2"));
        assert_eq!(diff.entries[0].path.len(), 120);
        assert_eq!(diff.apply(&deep("1")), Ok(deep("2")));
    }

    /// Any JSON, small.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-3_i64..3).prop_map(Value::from),
            "[ab]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[abc]", inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// The same value with the fields of all objects in the other order.
    fn reversed(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(reversed).collect(),
            Value::Object(map) => {
                let fields = map.iter().rev().map(|(key, value)| (key.clone(), reversed(value)));
                Value::Object(fields.collect())
            }
            plain => plain.clone(),
        }
    }

    proptest! {
        #[test]
        fn applying_a_diff_makes_the_target_of_the_base(base in any_json(), target in any_json()) {
            let before = base.clone();
            let diff = Diff::between(&base, &target);
            prop_assert_eq!(diff.apply(&base), Ok(target.clone()));
            prop_assert_eq!(&base, &before);
            prop_assert_eq!(diff.is_equal(), base == target);
        }

        #[test]
        fn a_hash_does_not_depend_on_the_order_of_keys(value in any_json()) {
            prop_assert_eq!(Hash::of_value(&value), Hash::of_value(&reversed(&value)));
        }

        #[test]
        fn a_diff_is_read_as_it_was_written(base in any_json(), target in any_json()) {
            let diff = Diff::between(&base, &target);
            prop_assert_eq!(serde_json::from_value::<Diff>(json!(diff)).unwrap(), diff);
        }
    }
}
