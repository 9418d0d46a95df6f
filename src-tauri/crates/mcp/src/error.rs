//! Why a server cannot be talked to, in words for a person and for a model.

use contract::ports::tool::ToolError;

/// Why there is no answer of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum McpError {
    /// Nobody added a server of this name, or it was removed.
    #[error("there is no MCP server \"{0}\" any more")]
    Unknown(String),
    /// What belongs to it cannot be read.
    #[error("the MCP server \"{server}\" cannot be started: {reason}")]
    NotReady {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// It did not begin to talk.
    #[error("the MCP server \"{server}\" did not start: {reason}")]
    NotStarted {
        /// The server.
        server: String,
        /// Why, with the last thing that it said about itself.
        reason: String,
    },
    /// It wants a sign-in.
    #[error(
        "the MCP server \"{0}\" wants a sign-in that it was not given: a header with a token is missing, or not good any \
         more"
    )]
    SignIn(String),
    /// Its tools were never approved.
    #[error("nobody approved the tools of the MCP server \"{0}\" yet: connect it in Settings, under MCP servers")]
    NotApproved(String),
    /// It offers something else than what was approved.
    #[error(
        "the MCP server \"{0}\" offers other tools than those you approved, so it was not called: look at what changed in \
         Settings, under MCP servers, and approve it again"
    )]
    Changed(String),
    /// The run began with another definition of the tool than the one that is approved now.
    #[error(
        "\"{tool}\" of the MCP server \"{server}\" is not the tool that this run began with, so it was not called: start \
         the task again"
    )]
    NotOfThisRun {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
    /// It ended in the middle.
    #[error("the MCP server \"{server}\" ended before it answered{reason}")]
    Ended {
        /// The server.
        server: String,
        /// How, behind a separator; empty when nobody knows.
        reason: String,
    },
    /// It took too long. What it was asked to do may have been done.
    #[error("the MCP server \"{server}\" did not answer within {seconds} s; whether it did its work is not known")]
    TimedOut {
        /// The server.
        server: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It says something without an end, or an answer that is longer than any.
    #[error(
        "the MCP server \"{0}\" was ended: it said more than 16 MB without an end of line, and a message of a server is \
        one line"
    )]
    TooLong(String),
    /// Nobody waits for it any more.
    #[error("starting the MCP server \"{0}\" was cancelled")]
    Left(String),
    /// It answered that it failed.
    #[error("{0}")]
    Failed(String),
}

impl From<McpError> for ToolError {
    fn from(error: McpError) -> Self {
        Self::new(error.to_string())
    }
}
