//! The doors of the engine: everything it reaches of the world, it reaches through these traits.
//!
//! Futures are cancelled by dropping them; every implementation must be safe to drop at any await.

pub mod check;
pub mod clock;
pub mod commands;
pub mod documents;
pub mod files;
pub mod hook;
pub mod journal;
pub mod people;
pub mod provider;
pub mod search;
pub mod tool;
pub mod undo;
pub mod web;
