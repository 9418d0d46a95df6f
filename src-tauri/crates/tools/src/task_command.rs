//! `task_command`: carries out a command that the task itself brings, as a rule or as a check. No plan can name it: what
//! it runs is what a person allowed by its content.

use std::sync::Arc;

use async_trait::async_trait;
use contract::access::Access;
use contract::ports::commands::Commands;
use contract::ports::tool::{OutsideEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::task_effect::TaskEffect;
use serde_json::{Value, json};

use crate::shell_execute::{CommandLine, run};
use crate::task_effects::{Carried, schema};

pub(crate) struct TaskCommand {
    pub(crate) commands: Arc<dyn Commands>,
}

#[async_trait]
impl Tool for TaskCommand {
    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: "task_command".to_owned(),
            description: "Runs a command that the task brings.".to_owned(),
            parameters: schema(),
            has_effects: true,
        }
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        let carried = Carried::read(args);
        carried
            .map(|carried| Access::TaskEffect { effect: carried.effect })
            .into_iter()
            .collect()
    }

    fn may_be_kept(&self, _args: &Value) -> bool {
        false
    }

    fn outside_effect(&self, args: &Value) -> Option<OutsideEffect> {
        let what = match Carried::read(args).ok()?.effect {
            TaskEffect::Check { run } => run,
            TaskEffect::Command(rule) => rule.run,
            TaskEffect::Webhook(_) => return None,
        };
        let output = json!({
            "stdout": "", "stderr": "", "exitCode": null, "timedOut": false, "containment": "",
            "note": "the app ended while this command ran; a person says that it did its work",
        });
        Some(OutsideEffect { what, output })
    }

    fn ends_itself(&self) -> bool {
        true
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Carried { effect, input } = Carried::read(&args)?;
        let (command, timeout) = match effect {
            TaskEffect::Check { run } => (run, context.limit_ms),
            TaskEffect::Command(rule) => (rule.run, rule.timeout),
            TaskEffect::Webhook(_) => return Err(ToolError::new("a webhook is no command")),
        };
        let line = CommandLine {
            command,
            cwd: ".".to_owned(),
            timeout,
            input,
        };
        run(self.commands.as_ref(), line, context).await
    }
}
