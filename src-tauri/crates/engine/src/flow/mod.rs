//! Flows: reading, checking, writing and running them (flows page).
//!
//! [`reading`] reads a file's object in either dialect, [`manifest`] the one of agntz, [`validate`] holds the rules
//! between the parts, [`input`] says what a flow and its steps are given, [`from_plan`] makes a flow of a plan that
//! passed, [`running`] carries a flow out.

pub mod from_plan;
pub mod input;
pub mod manifest;
pub mod reading;
pub mod running;
pub mod validate;

pub use running::{FlowOutcome, agntz_code, events, run, session};

/// A path one level down, such as `steps[0].agent`; `part` may be empty.
pub(crate) fn join(path: &str, part: &str) -> String {
    match (path.is_empty(), part.is_empty()) {
        (true, _) => part.to_owned(),
        (_, true) => path.to_owned(),
        (false, false) => format!("{path}.{part}"),
    }
}
