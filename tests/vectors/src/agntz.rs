//! The groups of agntz.

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[];
