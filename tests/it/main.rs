//! The whole app without Tauri, and what must stay true of the tree it is built from.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod arrows;
mod bad_input;
mod bounds;
mod cargo;
mod documents;
mod endings;
mod executor;
mod fold;
mod forks;
mod hooks;
mod http;
mod injection;
mod judging;
#[path = "../../src-tauri/crates/providers/tests/wire/kept.rs"]
mod kept;
mod licences;
mod mcp;
mod models;
mod odd_outputs;
mod overlap;
mod permissions;
mod replays;
mod resume;
mod run_state;
mod runs;
mod sample;
mod saved_plans;
mod searching;
mod seeds;
mod task_effects;
mod task_files;
mod task_loop;
mod told;
mod undo;
mod vendors;
mod window_calls;
