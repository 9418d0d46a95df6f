//! The composition root.

pub mod commands;
pub mod event_log;
pub mod ipc;
pub mod typescript;
