//! Office files, PDF and images of strangers, read in a process that can do nothing else (tools page, "Permissions").
//!
//! The app starts its own program once more with a word that only it says ([`serve_if_asked`], the first line of every
//! `main`). That process is given the bytes of one file and returns what is in them. It can open no file, no connection
//! and no other program, and has [`MEMORY`] and [`SECONDS`]: whatever a parser is led to do, it ends there.
//!
//! Read in this order: `order` (what app and process say to each other), [`reader`] (the app's side), `helper` (the other
//! side), on Linux `shut_in` (what it gives up), `format` (what a file is), and one file for each of them: `xlsx`,
//! `docx`, `pdf`, `images`; `package` opens the archives that office files are, `tables` writes rows as text.
//!
//! Deliberately not here: which file is read, and what its rows mean as a table.

mod docx;
mod format;
mod helper;
mod images;
mod order;
mod package;
mod pdf;
pub mod reader;
mod tables;
mod xlsx;

#[cfg(target_os = "linux")]
mod shut_in;

use std::process::ExitCode;

pub use reader::{Limits, Reader};

/// What reading one document may take of memory, in MB of 1,048,576 bytes (quality page, R10).
pub const MEMORY: u64 = 256;

/// What it may take of time, in seconds (quality page, R10).
pub const SECONDS: u64 = 5;

/// The word that makes a program of ours the reader of a document.
const WORD: &str = "--read-a-document";

/// Reads one document when this process was started for that, and says how it ends; none in every other process. It must
/// be among the first things that a program does: no other thread may run.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let asked = words.next().is_some_and(|word| word == WORD) && words.next().is_none();
    asked.then(helper::serve)
}
