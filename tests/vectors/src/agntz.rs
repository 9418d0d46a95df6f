//! The groups of agntz.

mod pipeline;

use crate::case::Groups;

/// What runs each group.
pub const GROUPS: Groups = &[("pipelines", pipeline::pipelines)];
