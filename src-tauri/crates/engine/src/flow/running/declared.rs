//! What a step or flow is given, and the private state that comes of it (agntz).

use contract::flow::Dialect;
use serde_json::{Map, Value};

use crate::flow::input::{InputSchema, USER_QUERY, initial_state};

/// What something is given.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Given {
    /// Values by name, because it says what it reads.
    Explicit(Map<String, Value>),
    /// The value before it, because it says nothing.
    Upstream(Value),
}

impl Given {
    /// The same as one value.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Explicit(map) => Value::Object(map),
            Self::Upstream(value) => value,
        }
    }
}

/// The state that something begins with: its declared keys only (value, else default, else null); the
/// one value it is given, when it declares nothing.
pub(super) fn begin(declared: Option<&InputSchema>, dialect: Dialect, given: Given) -> Map<String, Value> {
    let Some(declared) = declared else {
        return match (given, dialect) {
            (Given::Explicit(map), Dialect::Flow | Dialect::Plan) => map,
            // A manifest's child without a schema has one name; who gives exactly that one means its value.
            (Given::Explicit(map), Dialect::Manifest) if map.len() == 1 && map.contains_key(USER_QUERY) => map,
            (given, _) => Map::from_iter([(USER_QUERY.to_owned(), given.into_value())]),
        };
    };
    let values = match given {
        Given::Explicit(map) => Value::Object(map),
        Given::Upstream(value) => value,
    };
    initial_state(Some(declared), &values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, input: Value, expected: Value) {
        let declared = (!schema.is_null()).then(|| InputSchema::read(&schema).unwrap());
        let begun = begin(declared.as_ref(), Dialect::Manifest, Given::Upstream(input));
        assert_eq!(Value::Object(begun), expected);
    }

    #[test]
    fn who_declares_nothing_is_given_one_value() {
        check(Value::Null, json!("hello"), json!({ "userQuery": "hello" }));
        check(Value::Null, json!({ "a": 1 }), json!({ "userQuery": { "a": 1 } }));
    }

    #[test]
    fn who_declares_keys_sees_these_and_no_others() {
        let short = json!({ "query": "string", "extra": "string", "tone": { "type": "string", "default": "kind" } });
        check(
            short,
            json!({ "query": "test", "other": 1 }),
            json!({ "query": "test", "extra": null, "tone": "kind" }),
        );
        let schema = json!({ "type": "object", "properties": { "a": { "type": "string", "default": "d" } } });
        check(schema, json!("text"), json!({ "a": "d" }));
    }

    #[test]
    fn an_explicit_null_beats_the_default() {
        check(
            json!({ "a": { "type": "string", "default": "d" } }),
            json!({ "a": null }),
            json!({ "a": null }),
        );
    }

    #[test]
    fn names_that_are_given_to_a_flow_of_our_own_are_its_names() {
        let given = Given::Explicit(Map::from_iter([("a".to_owned(), json!(1))]));
        let begun = begin(None, Dialect::Flow, given);
        assert_eq!(Value::Object(begun), json!({ "a": 1 }));
    }
}
