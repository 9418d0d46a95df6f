//! The groups of Verist: each by its fields, on the kernel that everything else runs on.

mod diffs;
mod extraction;
mod hashes;
mod recompute;
mod runner;
mod snapshots;
mod steps;
mod stub;

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[
    ("hashing", hashes::hashing),
    ("hash_relations", hashes::relations),
    ("hash_notes", hashes::notes),
    ("step_runs", steps::runs),
    ("extraction", extraction::extraction),
    ("llm_error_mapping", extraction::failures),
    ("commands", runner::commands),
    ("command_normalisation", runner::normalisation),
    ("command_runner", runner::runner),
    ("snapshots", snapshots::snapshots),
    ("replay_load", snapshots::load),
    ("compare_snapshots", snapshots::compare),
    ("recompute", recompute::recompute),
    ("violation_kinds", recompute::violation_kinds),
    ("diffs", diffs::diffs),
    ("diff_text", diffs::text),
    ("apply_diff", diffs::apply),
    ("keyed_diffs", diffs::keyed),
    ("layered_state", diffs::layers),
];
