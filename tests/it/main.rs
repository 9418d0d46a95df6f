//! The whole app without Tauri, and what must stay true of the tree it is built from.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arrows;
mod cargo;
mod licences;
mod runs;
mod task_files;
mod window_calls;
