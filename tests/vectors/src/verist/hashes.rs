//! Canonical JSON and its addresses.

use contract::hash::{Hash, canonical};
use serde_json::Value;

use crate::case::{Case, Outcome};
use crate::expect::equal;
use crate::prose::{self, Row};

/// A value has this canonical text and this address.
pub(super) fn hashing(case: &Case) -> Result<Outcome, String> {
    let value = case.need("value")?;
    if let Some(expected) = case.get("canonical") {
        equal(
            "canonical",
            expected,
            &Value::from(canonical(value).map_err(|error| error.to_string())?),
        )?;
    }
    equal("hash", case.need("expect")?, &Value::from(hash(value)?))?;
    Ok(Outcome::Passed)
}

/// Two values have one address, or two.
pub(super) fn relations(case: &Case) -> Result<Outcome, String> {
    let equal_hashes = hash(case.need("a")?)? == hash(case.need("b")?)?;
    equal("equal", case.need("equal")?, &Value::from(equal_hashes))?;
    Ok(Outcome::Passed)
}

/// What JSON cannot write down: absence.
pub(super) fn notes(case: &Case) -> Result<Outcome, String> {
    const ROWS: &[Row] = &[
        (&["array"], "an_absent_item_of_a_list_is_null"),
        (&["integer-looking"], "keys_that_look_like_numbers_are_sorted_as_text"),
        (&["lexicographic"], "keys_that_look_like_numbers_are_sorted_as_text"),
        (&["top-level"], "an_absent_value_is_null"),
        (&["dropped"], "an_absent_field_is_not_there"),
        (&["number"], "prints_numbers_as_ecmascript_does"),
        (&["sort"], "sorts_keys_at_every_depth"),
    ];
    prose::stated(case, ROWS)
}

fn hash(value: &Value) -> Result<String, String> {
    Ok(Hash::of_value(value).map_err(|error| error.to_string())?.0)
}
