//! What the victim is made of: a model and a person who say always the same, tools that are logged, a journal that
//! says what it was told, and works to do.

pub(crate) mod journal;
pub(crate) mod log;
pub(crate) mod model;
pub(crate) mod person;
pub(crate) mod tools;
pub(crate) mod works;

use std::process::Command;

/// SIGKILL: no destructor runs, nothing is flushed.
pub(crate) fn kill_myself() -> ! {
    let _ = Command::new("kill")
        .args(["-9", &std::process::id().to_string()])
        .status();
    std::process::abort()
}
