//! The groups of agntz.

mod language;
mod pipeline;
mod validation;

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[
    ("templates", language::templates),
    ("truthiness", language::truthiness),
    ("conditions", language::conditions),
    ("rejected_conditions", language::conditions),
    ("input_mapping", language::input_mapping),
    ("output_mapping", language::output_mapping),
    ("initial_state", language::state),
    ("state_keys", language::state_keys),
    ("validation", validation::validation),
    ("pipelines", pipeline::pipelines),
];
