//! `log_observe`: a line in the run's log.

use async_trait::async_trait;
use contract::access::Access;
use contract::event::LogLine;
use contract::ports::tool::{Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use workspace::schema;

use crate::input;

pub(crate) struct LogObserve;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The words for the log.
    message: String,
    /// How much they matter.
    #[serde(default)]
    level: Level,
}

#[derive(Deserialize, Serialize, JsonSchema, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Level {
    Debug,
    #[default]
    Info,
    Warn,
    Error,
}

impl Level {
    fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

#[async_trait]
impl Tool for LogObserve {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "log_observe".to_owned(),
            description: "Writes an observation to the run's log, for the person. Returns { observation, level }."
                .to_owned(),
            parameters: schema::of::<Input>(),
            has_effects: false,
        }
    }

    fn access(&self, _args: &Value) -> Vec<Access> {
        Vec::new()
    }

    async fn execute(&self, args: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { message, level } = input::read(&args)?;
        let output = ToolOutput::value(json!({"observation": message, "level": level}));
        Ok(ToolOutput {
            logs: vec![LogLine {
                level: level.name().to_owned(),
                message,
            }],
            ..output
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_place::place;

    #[tokio::test]
    async fn writes_one_line() {
        let output = LogObserve
            .execute(json!({"message": "3 files"}), &place(&[]).context)
            .await
            .unwrap();
        assert_eq!(output.value, json!({"observation": "3 files", "level": "info"}));
        assert_eq!(
            output.logs,
            [LogLine {
                level: "info".to_owned(),
                message: "3 files".to_owned()
            }]
        );
    }
}
