//! A tool of an MCP server, as a person approved it: what planning knows of it, and what is held against the server
//! before it is called (tools page, "MCP tools").

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;

use crate::access::Access;
use crate::hash::Hash;

/// A definition with its address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct ServerTool {
    /// The name for planners and models: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// The server's name here.
    pub server: String,
    /// The tool, as the server calls it.
    pub tool: String,
    /// What the server says that it does.
    pub description: String,
    /// JSON Schema of its arguments, as the server gave it.
    pub parameters: Value,
    /// Whether the server says that it changes nothing. A word of a stranger: it is shown, and decides nothing.
    #[serde(default, skip_serializing_if = "is_false")]
    #[ts(as = "Option<bool>", optional)]
    pub says_read_only: bool,
    /// The address of the tool, its description and its parameters.
    pub hash: Hash,
}

impl ServerTool {
    /// The address of a definition. One that has no canonical form is addressed as it is written.
    pub fn hash_of(tool: &str, description: &str, parameters: &Value) -> Hash {
        let definition = json!({ "name": tool, "description": description, "parameters": parameters });
        Hash::of_value(&definition).unwrap_or_else(|_| Hash::of_bytes(definition.to_string().as_bytes()))
    }

    /// What a call of it touches, whatever its arguments.
    pub fn access(&self) -> Access {
        Access::Server {
            server: self.server.clone(),
            tool: self.tool.clone(),
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
