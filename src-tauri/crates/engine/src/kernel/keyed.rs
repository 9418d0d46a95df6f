//! Lists whose items have ids, compared by id and not by place.
//!
//! Each such list becomes an object from id to item before it is compared; what is stored keeps its
//! lists. A path that leads nowhere, or to something else than a list, is left as it is: outputs are
//! partial.

use contract::hash::canonical;
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::diff::{Diff, WrongPath, kind, path_text};

/// Paths of lists, such as `results.claims`, each with the field that tells its items apart.
pub type KeyBy = IndexMap<String, String>;

/// Why a list has no ids to compare by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Two items have the same.
    #[error("keyBy: duplicate key \"{key}\" in {list}")]
    Duplicate {
        /// The id.
        key: String,
        /// The list.
        list: String,
    },
    /// An item has none.
    #[error("keyBy: element at {list}[{index}] has no field \"{field}\"")]
    Missing {
        /// The list.
        list: String,
        /// The item.
        index: usize,
        /// The field.
        field: String,
    },
    /// An id is neither text nor a number.
    #[error("keyBy: key must be string or number, got {got} in {list}[{index}]")]
    NotScalar {
        /// What it is.
        got: &'static str,
        /// The list.
        list: String,
        /// The item.
        index: usize,
    },
}

/// The value with an object from id to item in place of each list that has ids.
///
/// # Errors
/// A list without ids, or with one twice.
pub fn by_id(value: &Value, key_by: &KeyBy) -> Result<Value, KeyError> {
    let mut value = value.clone();
    for (path, field) in key_by {
        if let Some(list) = list_at(&mut value, path)
            && let Value::Array(items) = list
        {
            *list = Value::Object(items_by_id(std::mem::take(items), field, path)?);
        }
    }
    Ok(value)
}

/// What changed between two values, lists with ids compared by them.
///
/// # Errors
/// A list without ids, or with one twice.
pub fn diff_by_id(before: &Value, after: &Value, key_by: &KeyBy) -> Result<Diff, KeyError> {
    if key_by.is_empty() {
        return Ok(Diff::between(before, after));
    }
    let (mut before, mut after) = (before.clone(), after.clone());
    // A list that became something else, or the other way round, is replaced as a whole.
    let is_list = |value: &mut Value, path: &str| list_at(value, path).map(|list| list.is_array());
    let mut same_kind = |path: &str| match (is_list(&mut before, path), is_list(&mut after, path)) {
        (Some(before), Some(after)) => before == after,
        _ => true,
    };
    let key_by: KeyBy = key_by
        .iter()
        .filter(|(path, _)| same_kind(path))
        .map(|(path, field)| (path.clone(), field.clone()))
        .collect();
    Ok(Diff::between(&by_id(&before, &key_by)?, &by_id(&after, &key_by)?))
}

/// Why a diff by id cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The base has no ids to go by.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A path leads elsewhere.
    #[error(transparent)]
    Path(#[from] WrongPath),
}

/// The value after the changes of [`diff_by_id`]; items stay in their order, new ones come last.
///
/// # Errors
/// The base has no ids, or a path leads elsewhere.
pub fn apply_by_id(base: &Value, diff: &Diff, key_by: &KeyBy) -> Result<Value, ApplyError> {
    // What is replaced as a whole was compared as it stands.
    let whole = |path: &str| {
        let mut entries = diff.entries.iter();
        entries.any(|entry| path_text(&entry.path) == path && entry.before.is_some() && entry.after.is_some())
    };
    let key_by: KeyBy = key_by
        .iter()
        .filter(|(path, _)| !whole(path))
        .map(|(path, field)| (path.clone(), field.clone()))
        .collect();
    let mut value = diff.apply(&by_id(base, &key_by)?)?;
    let mut base = base.clone();
    for path in key_by.keys() {
        // An object that was one before stays one.
        let was_object = list_at(&mut base, path).is_some_and(|before| before.is_object());
        if let Some(list) = list_at(&mut value, path).filter(|_| !was_object)
            && let Value::Object(items) = list
        {
            *list = std::mem::take(items).into_iter().map(|(_, item)| item).collect();
        }
    }
    Ok(value)
}

fn list_at<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    path.split('.')
        .try_fold(value, |here, key| here.as_object_mut()?.get_mut(key))
}

fn items_by_id(items: Vec<Value>, field: &str, list: &str) -> Result<Map<String, Value>, KeyError> {
    let mut by_id = Map::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let Some(id) = item.as_object().and_then(|item| item.get(field)) else {
            return Err(KeyError::Missing {
                list: list.to_owned(),
                index,
                field: field.to_owned(),
            });
        };
        let key = match id {
            Value::String(text) => text.clone(),
            Value::Number(number) => canonical(id).unwrap_or_else(|_| number.to_string()),
            other => {
                return Err(KeyError::NotScalar {
                    got: kind(other),
                    list: list.to_owned(),
                    index,
                });
            }
        };
        if by_id.contains_key(&key) {
            return Err(KeyError::Duplicate {
                key,
                list: list.to_owned(),
            });
        }
        by_id.insert(key, item);
    }
    Ok(by_id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ids() -> KeyBy {
        KeyBy::from([("a.list".to_owned(), "id".to_owned())])
    }

    fn check_error(list: Value, words: &str) {
        let error = by_id(&json!({"a": {"list": list}}), &ids()).unwrap_err().to_string();
        assert_eq!(error, words);
    }

    #[test]
    fn another_order_is_no_change() {
        let before = json!({"a": {"list": [{"id": 1}, {"id": 2}]}});
        let after = json!({"a": {"list": [{"id": 2}, {"id": 1}]}});
        assert_eq!(diff_by_id(&before, &after, &ids()), Ok(Diff::default()));
    }

    #[test]
    fn a_path_that_leads_to_no_list_is_left_alone() {
        for value in [
            json!({}),
            json!({"a": 1}),
            json!({"a": {"list": "x"}}),
            json!([1]),
            json!(null),
        ] {
            assert_eq!(by_id(&value, &ids()), Ok(value.clone()));
        }
    }

    #[test]
    fn a_list_without_ids_is_an_error() {
        check_error(
            json!([{"id": "x"}, {"id": "x"}]),
            "keyBy: duplicate key \"x\" in a.list",
        );
        check_error(
            json!([{"id": "x"}, {}]),
            "keyBy: element at a.list[1] has no field \"id\"",
        );
        check_error(json!(["x"]), "keyBy: element at a.list[0] has no field \"id\"");
        check_error(
            json!([{"id": null}]),
            "keyBy: key must be string or number, got null in a.list[0]",
        );
        check_error(json!([{"id": 1}, {"id": "1"}]), "keyBy: duplicate key \"1\" in a.list");
    }

    #[test]
    fn a_hundred_thousand_items_are_compared_in_one_pass() {
        let list =
            |order: Vec<u32>| json!({"a": {"list": order.iter().map(|id| json!({"id": id})).collect::<Vec<_>>()}});
        let diff = diff_by_id(
            &list((0..100_000).collect()),
            &list((1..100_000).rev().collect()),
            &ids(),
        );
        assert_eq!(diff.unwrap().to_string(), "- a.list.0: {\"id\":0}");
    }

    fn any_list() -> impl Strategy<Value = Value> {
        let items = prop::collection::btree_map(0..6_u8, 0..3_u8, 0..6);
        (items, any::<bool>()).prop_map(|(items, reversed)| {
            let mut list: Vec<Value> = items.iter().map(|(id, n)| json!({"id": id, "n": n})).collect();
            if reversed {
                list.reverse();
            }
            json!({"a": {"list": list}, "b": 1})
        })
    }

    proptest! {
        #[test]
        fn applying_a_diff_by_id_makes_the_target_of_the_base(base in any_list(), target in any_list()) {
            let before = base.clone();
            let diff = diff_by_id(&base, &target, &ids()).unwrap();
            let made = apply_by_id(&base, &diff, &ids()).unwrap();
            prop_assert_eq!(by_id(&made, &ids()), by_id(&target, &ids()));
            prop_assert!(made["a"]["list"].is_array());
            prop_assert_eq!(base, before);
        }
    }
}
