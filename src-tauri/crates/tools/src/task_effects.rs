//! What the tools that carry out a task's own effects are given.

use contract::ports::tool::ToolError;
use contract::task_effect::TaskEffect;
use serde::Deserialize;
use serde_json::{Value, json};

/// An effect to carry out, and what it is told.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Carried {
    pub(crate) effect: TaskEffect,
    #[serde(default)]
    pub(crate) input: String,
}

impl Carried {
    pub(crate) fn read(args: &Value) -> Result<Self, ToolError> {
        Self::deserialize(args).map_err(|error| ToolError::new(format!("the effect cannot be read: {error}")))
    }
}

/// No model is shown this: the engine makes the arguments.
pub(crate) fn schema() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["effect"],
        "properties": {
            "effect": { "type": "object", "description": "What a person allowed." },
            "input": { "type": "string", "description": "What it is told.", "default": "" },
        },
    })
}
