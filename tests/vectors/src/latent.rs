//! The groups of latent's pipeline agent.

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[];
