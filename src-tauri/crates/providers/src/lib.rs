//! The model providers, each one file.
//!
//! Read in this order: [`recording`] and [`replay`] (answers that were kept earlier).
//!
//! Deliberately not here: prompts, budgets and anything that knows what a step is.

pub mod recording;
pub mod replay;
