//! The groups of latent's pipeline agent.

mod build_errors;
mod calling;
mod defaults;
mod guardrails;
pub mod pipeline;
mod rules;

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[
    ("pipelines", pipeline::pipelines),
    ("defaults", defaults::defaults),
    ("event_rules", rules::event_rules),
    ("calling_conventions", calling::calling_conventions),
    ("guardrails", guardrails::guardrails),
    ("build_errors", build_errors::build_errors),
];
