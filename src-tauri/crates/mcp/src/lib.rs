//! MCP servers as tools: programs and addresses of others that a person added, whose tools steps can use.
//!
//! A server is started when a step first calls a tool of it, or a person looks at it, and ends with the last run, when a
//! person says so, and with the app. Planning starts nothing: it knows the definitions that a person approved. A server
//! that then offers others is not called.
//!
//! Read in this order: [`config`] (what a server is, without its secrets), [`paste`] (the `mcpServers` JSON that other
//! programs use) with `hidden` (secrets where they are shown), [`definition`] (tools as they are approved, and what differs), [`servers`] (which are at work, and
//! calling them) with `connection` (one talk) and `result` (what a call returned), [`log`] (what a server says about
//! itself), [`tool`] (each of their tools as one of ours), [`error`].
//!
//! What a server says is data of a stranger wherever it stands: names and descriptions are shown and never obeyed, hints
//! lower nothing, results are bounded. Deliberately not here: whether a call may happen (the engine), where servers and
//! their secrets are kept (the app), starting programs and asking addresses (`sandbox` and `web`).

pub mod config;
mod connection;
pub mod definition;
pub mod error;
mod hidden;
mod lines;
pub mod log;
pub mod paste;
mod result;
pub mod servers;
pub mod tool;

pub use config::{Launch, ServerConfig};
pub use definition::ToolChange;
pub use error::McpError;
pub use servers::{Book, Look, Server, Servers, Standing};
pub use tool::McpTool;
