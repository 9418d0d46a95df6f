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
//! Deliberately not here: whether a command may run. That is decided before.

mod environment;
pub mod order;
mod plain;
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
mod system_calls;

use std::process::ExitCode;

pub use runner::Sandbox;

/// The word that makes a program of ours a keeper.
const KEEPER: &str = "--keep-a-command";

/// Is the keeper of a command when this process was started as one, and says how it ends; none in every other process.
/// It must be the first thing that a program does: nothing may be open and no thread may run.
pub fn serve_if_asked() -> Option<ExitCode> {
    let mut words = std::env::args_os().skip(1);
    let asked = words.next().is_some_and(|word| word == KEEPER) && words.next().is_none();
    asked.then(serve)
}

#[cfg(target_os = "linux")]
fn serve() -> ExitCode {
    keeper::serve()
}

#[cfg(not(target_os = "linux"))]
fn serve() -> ExitCode {
    ExitCode::FAILURE
}
