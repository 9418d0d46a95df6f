//! Small things that tests of the engine share.

use std::sync::Arc;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use serde_json::{Value, json};

struct Echo;

#[async_trait]
impl Tool for Echo {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "echo".to_owned(),
            description: "returns its text".to_owned(),
            parameters: json!({
                "type": "object", "required": ["text"], "additionalProperties": false,
                "properties": { "text": { "type": "string" }, "count": { "type": "integer", "default": 1 } },
            }),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::value(args["text"].clone()))
    }
}

/// A tool that returns its text.
pub(crate) fn echo() -> Arc<dyn Tool> {
    Arc::new(Echo)
}
