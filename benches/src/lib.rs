//! Figures, each beside the floor in the same run: what the same work costs with nothing but a runtime, an HTTP client
//! and SQLite. Ratios and counts decide; a machine's absolute times are no evidence.
//!
//! Read in this order: [`server`] (the model that is asked), [`engines`] (who asks it, each in a process of its own),
//! [`figures`] (median and spread), [`speed`], [`resume`], [`characters`], [`history`] and `commands` (what is measured), [`report`].
//!
//! The floor itself is `bin/floor.rs`: tokio, reqwest and SQLite, an event row and an artifact row for every step, one
//! commit for all that wait, `synchronous = FULL`.

#![allow(clippy::print_stdout)]

pub mod characters;
#[cfg(target_os = "linux")]
pub mod commands;
pub mod engines;
pub mod figures;
pub mod history;
pub mod report;
pub mod resume;
pub mod server;
pub mod speed;

/// What stops a measurement, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

impl Failed {
    /// An error with what was being done.
    pub fn at(what: &str, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}
