//! Where the words of a search were found in a run: a piece of text to show, with what to mark in it.
//!
//! The text is data of a person, a model or a file, and plain: marks are places in it and never part of it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::ids::RunId;

/// Which words of a run something was found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum FoundIn {
    /// What it is called.
    Title,
    /// What its task wants.
    Goal,
    /// What its judge said, or what went wrong.
    Feedback,
}

/// The piece of text of a run that says best why it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Which run.
    pub run_id: RunId,
    /// What the text is a piece of.
    pub place: FoundIn,
    /// The piece in one line; an ellipsis where something was left out.
    pub text: String,
    /// What to mark in it, in order and apart from each other.
    pub marks: Vec<Marked>,
}

/// Part of a text, counted as JavaScript counts a string's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Marked {
    /// Where it begins.
    pub from: u32,
    /// Where it has ended.
    pub to: u32,
}
