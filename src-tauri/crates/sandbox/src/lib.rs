//! Commands of strangers, run where they can do no harm (tools page, "Permissions").
//!
//! The app starts its own program once more with a word that only it says ([`serve_if_asked`], the first line of every
//! `main`). That second process, the *keeper*, has no secrets and nothing open; it shuts one of its threads in and
//! starts the command from there, collects everything that the command leaves behind, and ends all of it when the
//! command ends, when its time is over, or when the app goes away, however that happens.
//!
//! Read in this order: [`mod@order`] (what app and keeper say to each other), [`runner`] (the app's side), `streams`
//! (what a command writes, bounded), `environment` (what it is told), and, on Linux, `keeper` with `kin` (who is to be
//! ended), `landlock` and `system_calls` (how it is shut in) and `bubblewrap` (where Landlock is missing). Other
//! systems have `plain`: the same interface, and nothing that holds a command.
//!
//! A program that is talked to, such as an MCP server, has a keeper too ([`program`], and `program_keeper`): it is not
//! shut in, since a person chose it and it must do what it is for, but it ends with the app and leaves nothing behind.
//!
//! Deliberately not here: whether a command may run. That is decided before.

mod environment;
pub mod order;
mod plain;
pub mod program;
pub mod runner;
mod streams;

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod kin;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod program_keeper;
#[cfg(target_os = "linux")]
mod system_calls;

use std::process::ExitCode;

pub use program::{Program, Talk};
pub use runner::Sandbox;

/// The word that makes a program of ours the keeper of a command.
const KEEPER: &str = "--keep-a-command";
/// The word that makes it the keeper of a program that is talked to for as long as it is needed.
const PROGRAM_KEEPER: &str = "--keep-a-program";

/// Is the keeper of a command when this process was started as one, and says how it ends; none in every other process.
/// It must be the first thing that a program does: nothing may be open and no thread may run.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let word = words.next().filter(|_| std::env::args_os().len() == 2)?;
    if word == KEEPER {
        return Some(serve());
    }
    (word == PROGRAM_KEEPER).then(serve_program)
}

#[cfg(target_os = "linux")]
fn serve() -> ExitCode {
    keeper::serve()
}

#[cfg(target_os = "linux")]
fn serve_program() -> ExitCode {
    program_keeper::serve()
}

#[cfg(not(target_os = "linux"))]
fn serve() -> ExitCode {
    ExitCode::FAILURE
}

#[cfg(not(target_os = "linux"))]
fn serve_program() -> ExitCode {
    ExitCode::FAILURE
}
