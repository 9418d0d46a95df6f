//! A tool of a server as one of ours, so that planning, running and the journal need to know nothing of servers.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::server_tool::ServerTool;
use serde_json::{Map, Value, json};

use crate::definition;
use crate::servers::Servers;

/// How much of its arguments a question shows, in characters.
const SHOWN: usize = 400;

/// A tool of a server.
pub struct McpTool {
    /// What was approved.
    pub definition: ServerTool,
    /// Who calls it.
    pub servers: Arc<Servers>,
}

#[async_trait]
impl Tool for McpTool {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: self.definition.name.clone(),
            description: definition::shown(&self.definition),
            parameters: self.definition.parameters.clone(),
            has_effects: true,
        }
    }

    /// The same whatever the server says of itself: nobody can tell from outside what a call does.
    fn access(&self, _args: &Value) -> Vec<Access> {
        vec![self.definition.access()]
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        let args: String = args.to_string().chars().take(SHOWN).collect();
        let ServerTool { server, tool, .. } = &self.definition;
        Some(OutsideEffect {
            what: format!("\"{tool}\" of the MCP server \"{server}\" with {args}"),
            output: json!({
                "text": "",
                "note": "the app ended while this call was under way; a person says that it did its work",
            }),
        })
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let args = match args {
            Value::Object(args) => args,
            _ => Map::new(),
        };
        let limit = Duration::from_millis(context.limit_ms);
        let value = self.servers.call(&self.definition, args, limit).await?;
        Ok(ToolOutput::value(value))
    }
}
