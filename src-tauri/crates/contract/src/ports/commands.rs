//! Commands of strangers, run where they can do no harm (tools page, "Permissions").
//!
//! Whether a command may run is decided before it comes here; this port enforces what it may touch.

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// How well a command is held to what it may touch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Containment {
    /// The kernel's Landlock rules and a filter of system calls.
    Landlock {
        /// The version of its rules that were applied; older ones know fewer of them.
        abi: u8,
    },
    /// Bubblewrap: a view of the files of its own.
    Bubblewrap,
    /// Nothing holds it: it may do whatever the person may. Such a command always asks.
    None,
}

impl Containment {
    /// In a few words, for results and logs.
    pub fn words(self) -> String {
        match self {
            Self::Landlock { abi } => format!("landlock {abi}"),
            Self::Bubblewrap => "bubblewrap".to_owned(),
            Self::None => "none".to_owned(),
        }
    }
}

/// A command, and what it may touch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRequest {
    /// The command line, for the system's shell.
    pub command: String,
    /// The folder in which it starts; absolute.
    pub folder: String,
    /// What it reads on its standard input; nothing when empty.
    pub input: String,
    /// How long it may take; then everything that it started is ended.
    pub timeout: Duration,
    /// What it may read besides the system's programs; absolute, without links.
    pub read: Vec<String>,
    /// What it may read and change; absolute, without links.
    pub write: Vec<String>,
    /// Whether it may use the network: all of it or none.
    pub network: bool,
    /// Whether a person allowed exactly this command although nothing may hold it.
    pub uncontained: bool,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandOutput {
    /// What it wrote for others to read; of more than 1 MB the beginning and the end.
    pub stdout: String,
    /// What it wrote about itself; likewise.
    pub stderr: String,
    /// What it returned; 128 and the signal's number when one ended it.
    pub exit_code: i32,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// What held it.
    pub containment: Containment,
}

/// Why a command did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// Nothing holds commands on this system, and nobody allowed it to run all the same.
    #[error("nothing holds commands to what they may touch on this system, so a person has to allow each one")]
    Uncontained,
    /// It could not be started.
    #[error("the command could not be started: {0}")]
    NotStarted(String),
    /// What looked after it ended before it did.
    #[error("what looked after the command ended without a word; whether the command did its work is not known")]
    Lost,
}

/// Runs commands. Dropping a future ends everything that its command started.
#[async_trait]
pub trait Commands: Send + Sync {
    /// What would hold a command.
    async fn containment(&self) -> Containment;

    /// Runs a command to its end, with no secret in its environment and nothing to read but its input.
    async fn run(&self, request: CommandRequest) -> Result<CommandOutput, CommandError>;
}

/// Runs nothing: for places that have no commands.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoCommands;

#[async_trait]
impl Commands for NoCommands {
    async fn containment(&self) -> Containment {
        Containment::None
    }

    async fn run(&self, _request: CommandRequest) -> Result<CommandOutput, CommandError> {
        Err(CommandError::NotStarted("there are no commands here".to_owned()))
    }
}
