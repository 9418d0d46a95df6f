//! Flows: reading, checking, writing and running them (flows page).
//!
//! [`reading`] reads a file's object in either dialect, [`manifest`] the one of agntz, [`validate`] holds the rules
//! between the parts, [`input`] says what a flow and its steps are given, [`from_plan`] makes a flow of a plan that
//! passed, [`running`] carries a flow out.

use std::collections::HashMap;

use contract::flow::camel_case;

use crate::template::kebab_case;

pub mod from_plan;
pub mod input;
pub mod manifest;
pub mod reading;
pub mod running;
pub mod validate;

pub use running::{FlowOutcome, Outputs, agntz_code, events, run, session};

/// Where each step is by its key, in any spelling; who has exactly this key comes before who has it in another spelling.
pub(crate) fn by_spelling(keys: &[String]) -> HashMap<String, usize> {
    let mut places = HashMap::with_capacity(keys.len());
    for (place, key) in keys.iter().enumerate() {
        places.entry(key.clone()).or_insert(place);
    }
    for (place, key) in keys.iter().enumerate() {
        for spelling in [camel_case(key), kebab_case(key)] {
            places.entry(spelling).or_insert(place);
        }
    }
    places
}

/// A path one level down, such as `steps[0].agent`; `part` may be empty.
pub(crate) fn join(path: &str, part: &str) -> String {
    match (path.is_empty(), part.is_empty()) {
        (true, _) => part.to_owned(),
        (_, true) => path.to_owned(),
        (false, false) => format!("{path}.{part}"),
    }
}
