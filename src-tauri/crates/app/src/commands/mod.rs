//! What the window can ask for: one file per noun, each with its requests, replies and functions.
//!
//! A function reads the request, calls the room that knows, and returns the reply; decisions live in
//! the rooms. A new command is a function here and a line in the table of [`crate::ipc`].

pub mod about;
pub mod drafts;
pub mod files;
pub mod grants;
pub mod keys;
pub mod models;
pub mod runs;
pub mod sample;
pub mod search;
pub mod servers;
pub mod settings;
pub mod tasks;
pub mod undo;
