//! The groups of Verist.

mod hashes;

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[
    ("hashing", hashes::hashing),
    ("hash_relations", hashes::relations),
    ("hash_notes", hashes::notes),
];
