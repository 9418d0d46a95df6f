//! What the app and the keeper of a command say to each other: one line each way. When the app's end of the line
//! closes, for whatever reason, the command is over.

use contract::ports::commands::Containment;
use serde::{Deserialize, Serialize};

/// Which ways of holding a command are tried. Only tests want fewer than all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ways {
    /// The highest version of Landlock's rules that is used; 0 uses none.
    pub landlock: u8,
    /// Whether bubblewrap is used where Landlock is missing.
    pub bubblewrap: bool,
    /// Whether system calls are filtered. Without it Landlock counts as nothing; tests look what then escapes.
    pub system_calls: bool,
}

impl Default for Ways {
    fn default() -> Self {
        Self {
            landlock: u8::MAX,
            bubblewrap: true,
            system_calls: true,
        }
    }
}

/// A command for the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Order {
    pub(crate) command: String,
    pub(crate) folder: String,
    /// What it reads on its standard input.
    pub(crate) input: String,
    pub(crate) read: Vec<String>,
    pub(crate) write: Vec<String>,
    pub(crate) network: bool,
    pub(crate) uncontained: bool,
    pub(crate) ways: Ways,
}

/// A program to be talked to, for its keeper. What it is told of secrets travels here, and in no list of arguments.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgramOrder {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    pub(crate) folder: String,
}

/// How it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Report {
    /// The command ran and ended.
    Ended {
        /// What held it.
        containment: Containment,
        /// What it returned.
        exit_code: i32,
    },
    /// Nothing would have held it.
    Uncontained,
    /// It could not be started.
    NotStarted {
        /// Why.
        reason: String,
    },
}
